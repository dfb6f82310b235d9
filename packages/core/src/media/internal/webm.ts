/** Reads dimensions and duration of WEBM files: nested elements, up to the first cluster of samples. */
import * as Effect from "effect/Effect"
import { type FileWindow, type Measures, type Reading, Stopped } from "./fileWindow.ts"

const segment = 0x18538067
const information = 0x1549a966
const timestampScale = 0x2ad7b1
const duration = 0x4489
const tracks = 0x1654ae6b
const track = 0xae
const picture = 0xe0
const pixelWidth = 0xb0
const pixelHeight = 0xba
const cluster = 0x1f43b675

/** Elements whose contents are read; all others are skipped. */
const entered = [segment, information, tracks, track, picture]

/** Reads the headers of a video. */
export const readWebm = <E>(window: FileWindow<E>, found: Measures): Reading<E> =>
  Effect.gen(function*() {
    let nanos = 1_000_000
    let ticks = 0
    for (let at = 0; at < window.size;) {
      const view = yield* window.load(at, Math.min(12, window.size - at))
      const id = numberAt(view, 0)
      const size = numberAt(view, id.bytes)
      const start = at + id.bytes + size.bytes
      // A live recording does not know its size.
      const length = size.isOpen ? window.size - start : size.value
      const end = start + length
      if (id.bytes === 0 || size.bytes === 0) return yield* new Stopped({ why: "broken" })
      if (end > window.size) return yield* new Stopped({ why: "cut" })
      if (id.marked === cluster) break
      at = entered.includes(id.marked) ? start : end
      if (length === 0 || length > 8) continue
      const value = yield* window.load(start, length)
      if (id.marked === timestampScale) nanos = integer(value, length)
      if (id.marked === duration) ticks = length === 4 ? value.getFloat32(0) : length === 8 ? value.getFloat64(0) : 0
      if (id.marked === pixelWidth) found.width ??= integer(value, length)
      if (id.marked === pixelHeight) found.height ??= integer(value, length)
    }
    const millis = Math.round(ticks * nanos / 1_000_000)
    if (millis > 0) found.durationMillis = millis
    if (found.width === undefined) return yield* new Stopped({ why: "unseen" })
  })

/** A number of variable length: its leading zeros give its length in bytes. `bytes` is 0 if the view ends before it does. */
const numberAt = (view: DataView, offset: number) => {
  const first = offset < view.byteLength ? view.getUint8(offset) : 0
  const bytes = Math.clz32(first) - 23
  if (bytes > 8 || offset + bytes > view.byteLength) return { bytes: 0, value: 0, marked: 0, isOpen: false }
  const most = 2 ** (7 * bytes)
  const rest = integer(view, bytes - 1, offset + 1)
  const value = (first % 2 ** (8 - bytes)) * 2 ** (8 * (bytes - 1)) + rest
  return { bytes, value, marked: most + value, isOpen: value >= most - 1 }
}

const integer = (view: DataView, length: number, offset = 0): number => {
  let value = 0
  for (let index = offset; index < offset + length; index++) value = value * 256 + view.getUint8(index)
  return value
}
