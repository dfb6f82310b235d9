/**
 * Reads dimensions and duration of MP4 and QuickTime files: nested boxes, with the headers (`moov`) before or after the samples.
 */
import * as Effect from "effect/Effect"
import { type FileWindow, type Measures, nameAt, type Reading, Stopped } from "./fileWindow.ts"

interface Box {
  readonly name: string
  /** Offset of the contents. */
  readonly start: number
  readonly end: number
}

/** Boxes that must be whole. Damage in any other box after the headers does not matter to players. */
const samples = ["mdat", "moof"]

/** Reads the headers of a video. */
export const readMp4 = <E>(window: FileWindow<E>, found: Measures): Reading<E> =>
  Effect.gen(function*() {
    let hasHeaders = false
    let hasSamples = false
    for (let at = 0; at + 8 <= window.size;) {
      const box = yield* boxAt(window, at, window.size)
      hasSamples ||= samples.includes(box.name)
      if (faultOf(box, window.size) !== undefined && hasHeaders && !samples.includes(box.name)) break
      at = yield* endOf(box, window.size)
      if (box.name === "moov" && !hasHeaders) {
        hasHeaders = true
        yield* readMovie(window, box, found)
      }
      // A fragmented video begins with its headers; every fragment is another box.
      if (hasHeaders && box.name === "moof") break
    }
    if (!hasHeaders || !hasSamples) return yield* new Stopped({ why: "cut" })
  })

/** Page size where only box headers are of interest, in bytes. */
const smallPageBytes = 4096

/** The box at an offset. A size of 0 means that it extends to `end`. */
const boxAt = <E>(window: FileWindow<E>, at: number, end: number): Effect.Effect<Box, E | Stopped> =>
  Effect.gen(function*() {
    const view = yield* window.load(at, 8, smallPageBytes)
    const name = nameAt(view, 4)
    const size = view.getUint32(0)
    if (size === 0) return { name, start: at + 8, end }
    if (size > 1) return { name, start: at + 8, end: at + size }
    const long = (yield* window.load(at, 16)).getBigUint64(8)
    return { name, start: at + 16, end: at + Number(long) }
  })

const faultOf = (box: Box, end: number): Stopped | undefined =>
  box.end < box.start ? new Stopped({ why: "broken" }) : box.end > end ? new Stopped({ why: "cut" }) : undefined

const endOf = (box: Box, end: number): Effect.Effect<number, Stopped> => faultOf(box, end) ?? Effect.succeed(box.end)

/** The first bytes of a box's contents. */
const content = <E>(window: FileWindow<E>, { end, start }: Box, length: number): Effect.Effect<DataView, E | Stopped> =>
  start + length > end ? new Stopped({ why: "broken" }) : window.load(start, length)

type Visitors<E> = Readonly<Record<string, (box: Box) => Reading<E>>>

/** Visits the boxes between `start` and `end` that have a visitor. */
const visit = <E>(window: FileWindow<E>, { end, start }: Box, visitors: Visitors<E>): Reading<E> =>
  Effect.gen(function*() {
    for (let at = start; at + 8 <= end;) {
      const box = yield* boxAt(window, at, end)
      at = yield* endOf(box, end)
      const visitor = visitors[box.name]
      if (visitor !== undefined) yield* visitor(box)
    }
  })

const readMovie = <E>(window: FileWindow<E>, movie: Box, found: Measures): Reading<E> =>
  Effect.gen(function*() {
    let timescale = 0
    let video: Track | undefined
    yield* visit(window, movie, {
      mvhd: (box) =>
        Effect.map(timesOf(window, box), (times) => {
          timescale = times.timescale
          found.durationMillis = millis(times.duration, timescale)
        }),
      // A fragmented video states its duration here, if at all.
      mvex: (box) =>
        visit(window, box, {
          mehd: (header) =>
            Effect.map(content(window, header, 8), (view) => {
              found.durationMillis = millis(view.getUint32(4), timescale) ?? found.durationMillis
            })
        }),
      trak: (box) =>
        Effect.map(readTrack(window, box), (track) => {
          if (track.handler === "vide") video ??= track
        })
    })
    if (video === undefined) return yield* new Stopped({ why: "unseen" })
    found.width = video.width
    found.height = video.height
  })

const millis = (duration: number, timescale: number): number | undefined =>
  duration > 0 && timescale > 0 ? Math.round(1000 * duration / timescale) : undefined

/** Timescale and duration of a movie header. An unknown duration is 0. */
const timesOf = <E>(
  window: FileWindow<E>,
  box: Box
): Effect.Effect<{ readonly timescale: number; readonly duration: number }, E | Stopped> =>
  Effect.gen(function*() {
    const view = yield* content(window, box, 20)
    if (view.getUint8(0) === 1) {
      const long = yield* content(window, box, 32)
      const duration = long.getBigUint64(24)
      return { timescale: long.getUint32(20), duration: duration === 2n ** 64n - 1n ? 0 : Number(duration) }
    }
    const duration = view.getUint32(16)
    return { timescale: view.getUint32(12), duration: duration === 2 ** 32 - 1 ? 0 : duration }
  })

interface Track {
  handler?: string
  width?: number
  height?: number
}

const readTrack = <E>(window: FileWindow<E>, box: Box): Effect.Effect<Track, E | Stopped> => {
  const track: Track = {}
  return Effect.as(
    visit(window, box, {
      tkhd: (header) => readDimensions(window, header, track),
      mdia: (media) =>
        visit(window, media, {
          hdlr: (handler) =>
            Effect.map(content(window, handler, 12), (view) => {
              track.handler = nameAt(view, 8)
            })
        })
    }),
    track
  )
}

/** Reads the dimensions of a track as displayed: its matrix may rotate it. */
const readDimensions = <E>(window: FileWindow<E>, header: Box, track: Track): Reading<E> =>
  Effect.gen(function*() {
    const isLong = (yield* content(window, header, 1)).getUint8(0) === 1
    const matrix = isLong ? 52 : 40
    const view = yield* content(window, header, matrix + 44)
    const [across, down] = [view.getUint32(matrix + 36) >>> 16, view.getUint32(matrix + 40) >>> 16]
    const isRotated = view.getInt32(matrix) === 0 && view.getInt32(matrix + 4) !== 0
    track.width = isRotated ? down : across
    track.height = isRotated ? across : down
  })
