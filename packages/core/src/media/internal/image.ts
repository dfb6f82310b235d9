/**
 * Reads the dimensions of images. Each reader also walks through its file to the end of the picture, to recognise one that is cut
 * off. What it has found by then is kept.
 */
import * as Effect from "effect/Effect"
import { type FileWindow, type Measures, nameAt, Stopped } from "./fileWindow.ts"

type Reads<E, A = void> = Effect.fn.Return<A, E | Stopped>

/** Reads a JPEG: segments, one of which has the dimensions, then scans up to the end marker. */
export const readJpeg = Effect.fnUntraced(function*<E>(window: FileWindow<E>, found: Measures): Reads<E> {
  let at = 2
  while (true) {
    const view = window.view(at, 2) ?? (yield* window.load(at, 2))
    if (view.getUint8(0) !== 0xff) return yield* new Stopped({ why: "broken" })
    const marker = view.getUint8(1)
    if (marker === 0xd9) return found.width === undefined ? yield* new Stopped({ why: "broken" }) : undefined
    if (marker === 0xff) {
      // Fill byte.
      at += 1
    } else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2
    } else {
      const segment = window.view(at, 4) ?? (yield* window.load(at, 4))
      const length = segment.getUint16(2)
      if (length < 2) return yield* new Stopped({ why: "broken" })
      if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
        const frame = window.view(at, 9) ?? (yield* window.load(at, 9))
        found.height = frame.getUint16(5)
        found.width = frame.getUint16(7)
      }
      at += 2 + length
      if (marker === 0xda) at = yield* scan(window, at)
    }
  }
})

/** The offset of the first marker after a scan. */
const scan = Effect.fnUntraced(function*<E>(window: FileWindow<E>, from: number): Reads<E, number> {
  let at = from
  while (true) {
    const view = window.view(at, 2) ?? (yield* window.load(at, 2))
    const last = view.byteLength - 1
    let index = 0
    while (index < last) {
      if (view.getUint8(index) === 0xff) {
        const next = view.getUint8(index + 1)
        if (next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at + index
      }
      index += 1
    }
    at += index
  }
})

/** Reads a PNG: chunks, the first of which has the dimensions. */
export const readPng = Effect.fnUntraced(function*<E>(window: FileWindow<E>, found: Measures): Reads<E> {
  const header = yield* window.load(0, 24)
  if (nameAt(header, 12) !== "IHDR") return yield* new Stopped({ why: "broken" })
  found.width = header.getUint32(16)
  found.height = header.getUint32(20)
  let at = 8
  while (true) {
    const chunk = window.view(at, 12) ?? (yield* window.load(at, 12))
    const name = nameAt(chunk, 4)
    if (name === "IEND") return
    at += 12 + chunk.getUint32(0)
  }
})

/** Reads a GIF: blocks, each in parts of at most 255 bytes. */
export const readGif = Effect.fnUntraced(function*<E>(window: FileWindow<E>, found: Measures): Reads<E> {
  const header = yield* window.load(0, 13)
  found.width = header.getUint16(6, true)
  found.height = header.getUint16(8, true)
  found.frames = 0
  let at = 13 + colours(header.getUint8(10))
  // Viewers show a GIF without its last byte.
  while (at < window.size || found.frames === 0) {
    const block = (window.view(at, 1) ?? (yield* window.load(at, 1))).getUint8(0)
    if (block === 0x2c) {
      const descriptor = window.view(at, 10) ?? (yield* window.load(at, 10))
      at = yield* parts(window, at + 11 + colours(descriptor.getUint8(9)))
      found.frames += 1
    } else if (block === 0x21) {
      at = yield* parts(window, at + 2)
    } else {
      // Anything after the frames is not part of the picture.
      return found.frames === 0 ? yield* new Stopped({ why: "broken" }) : undefined
    }
  }
})

/** The length of a colour table in bytes. */
const colours = (flags: number): number => (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1)

/** The end of a block's parts. */
const parts = Effect.fnUntraced(function*<E>(window: FileWindow<E>, from: number): Reads<E, number> {
  let at = from
  while (true) {
    const view = window.view(at, 1) ?? (yield* window.load(at, 1))
    let index = 0
    while (index < view.byteLength) {
      const length = view.getUint8(index)
      index += 1 + length
      if (length === 0) return at + index
    }
    at += index
  }
})

/** Reads a WEBP: one picture, or the canvas of an animation. */
export const readWebp = Effect.fnUntraced(function*<E>(window: FileWindow<E>, found: Measures): Reads<E> {
  const small = yield* window.load(0, 25)
  const end = 8 + small.getUint32(4, true)
  const name = nameAt(small, 12)
  const header = name === "VP8L" ? small : yield* window.load(0, 30)
  if (name === "VP8 ") {
    found.width = header.getUint16(26, true) & 0x3fff
    found.height = header.getUint16(28, true) & 0x3fff
  } else if (name === "VP8L") {
    const bits = header.getUint32(21, true)
    found.width = 1 + (bits & 0x3fff)
    found.height = 1 + ((bits >>> 14) & 0x3fff)
  } else if (name === "VP8X") {
    found.width = 1 + (header.getUint32(24, true) & 0xffffff)
    found.height = 1 + (header.getUint32(26, true) >>> 8)
  } else {
    return yield* new Stopped({ why: "broken" })
  }
  if (end > window.size) return yield* new Stopped({ why: "cut" })
})

/** Reads a BMP: its header, in one of two sizes, and whether it is long enough for its pixels. */
export const readBmp = Effect.fnUntraced(function*<E>(window: FileWindow<E>, found: Measures): Reads<E> {
  const header = yield* window.load(0, 26)
  const isOld = header.getUint32(14, true) === 12
  found.width = isOld ? header.getUint16(18, true) : Math.abs(header.getInt32(18, true))
  found.height = isOld ? header.getUint16(20, true) : Math.abs(header.getInt32(22, true))
  const { bits, isCompressed } = isOld
    ? { bits: header.getUint16(24, true), isCompressed: false }
    : yield* Effect.map(window.load(0, 34), (whole) => ({
      bits: whole.getUint16(28, true),
      isCompressed: whole.getUint32(30, true) % 3 !== 0
    }))
  const row = 4 * Math.ceil(found.width * bits / 32)
  const end = header.getUint32(10, true) + (isCompressed ? 1 : row * found.height)
  if (end > window.size) return yield* new Stopped({ why: "cut" })
})

/** Reads a TIFF: the directory of its first picture. */
export const readTiff = Effect.fnUntraced(function*<E>(window: FileWindow<E>, found: Measures): Reads<E> {
  const header = yield* window.load(0, 8)
  const isLittle = header.getUint8(0) === 0x49
  const at = header.getUint32(4, isLittle)
  const count = (yield* window.load(at, 2)).getUint16(0, isLittle)
  // Including the offset of the next directory, which follows it.
  yield* window.load(at + 2 + 12 * count, 4)
  for (let index = 0; index < count; index++) {
    const offset = at + 2 + 12 * index
    const entry = window.view(offset, 12) ?? (yield* window.load(offset, 12))
    const tag = entry.getUint16(0, isLittle)
    const value = entry.getUint16(2, isLittle) === 3 ? entry.getUint16(8, isLittle) : entry.getUint32(8, isLittle)
    if (tag === 256) found.width = value
    if (tag === 257) found.height = value
  }
  if (found.width === undefined) return yield* new Stopped({ why: "broken" })
})
