/**
 * What the headers of videos in MP4 and QuickTime files say: boxes within boxes, of which those with samples are passed
 * over, wherever the one with the headers (`moov`) stands.
 */
import * as Effect from "effect/Effect"
import { type FileWindow, nameAt, Stopped } from "./fileWindow.ts"

/** What is known of a video. */
export interface Film {
  /** Pixels, as it is shown. */
  readonly width?: number | undefined
  /** Pixels, as it is shown. */
  readonly height?: number | undefined
  readonly durationMillis?: number | undefined
  /** Frames per second, on average. */
  readonly frameRate?: number | undefined
  /** As RFC 6381 writes it: `avc1.64001f`. */
  readonly videoCodec?: string | undefined
  /** How colours are sampled: `4:2:0`. */
  readonly chroma?: string | undefined
  /** As RFC 6381 writes it: `mp4a.40.2` is AAC LC. */
  readonly audioCodec?: string | undefined
  readonly audioChannels?: number | undefined
}

type Found = { -readonly [Fact in keyof Film]: Film[Fact] }

type Reading<E> = Effect.Effect<void, E | Stopped>

/** What stands between two offsets. */
interface Box {
  readonly name: string
  readonly start: number
  readonly end: number
}

/** Boxes of which a file without the whole of one is cut off; what else is wrong behind the headers harms nobody. */
const samples = ["mdat", "moof"]

/** Of a video: the headers of its tracks. */
export const readVideo = <E>(window: FileWindow<E>, found: Found): Reading<E> =>
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
      // Of a video in fragments the headers come first, and each fragment is a box more.
      if (hasHeaders && box.name === "moof") break
    }
    if (!hasHeaders || !hasSamples) return yield* new Stopped({ why: "cut" })
  })

/** What is read at a time where little more than the header of a box is of interest, in bytes. */
const littleBytes = 4096

/** The box at an offset, as it says itself. The last one may leave its size open: then it goes on to `end`. */
const boxAt = <E>(window: FileWindow<E>, at: number, end: number): Effect.Effect<Box, E | Stopped> =>
  Effect.gen(function*() {
    const view = yield* window.load(at, 8, littleBytes)
    const name = nameAt(view, 4)
    const size = view.getUint32(0)
    if (size === 0) return { name, start: at + 8, end }
    if (size > 1) return { name, start: at + 8, end: at + size }
    const long = (yield* window.load(at, 16)).getBigUint64(8)
    return { name, start: at + 16, end: at + Number(long) }
  })

const faultOf = (box: Box, end: number): Stopped | undefined =>
  box.end < box.start
    ? new Stopped({ why: "broken" })
    : box.end > end
    ? new Stopped({ why: "cut" })
    : undefined

const endOf = (box: Box, end: number): Effect.Effect<number, Stopped> => faultOf(box, end) ?? Effect.succeed(box.end)

type Visitors<E> = Readonly<Record<string, (box: Box) => Reading<E>>>

/** Visits those of the boxes from `start` to `end` that have a visitor. */
const visit = <E>(window: FileWindow<E>, { end, start }: Omit<Box, "name">, visitors: Visitors<E>): Reading<E> =>
  Effect.gen(function*() {
    for (let at = start; at + 8 <= end;) {
      const box = yield* boxAt(window, at, end)
      at = yield* endOf(box, end)
      const visitor = visitors[box.name]
      if (visitor !== undefined) yield* visitor(box)
    }
  })

/** The beginning of what is in a box. */
const content = <E>(window: FileWindow<E>, { end, start }: Box, length: number): Effect.Effect<DataView, E | Stopped> =>
  start + length > end ? new Stopped({ why: "broken" }) : window.load(start, length)

const readMovie = <E>(window: FileWindow<E>, movie: Box, found: Found): Reading<E> =>
  Effect.gen(function*() {
    let timescale = 0
    const tracks: Array<Track> = []
    yield* visit(window, movie, {
      mvhd: (box) =>
        Effect.map(timesOf(window, box), (times) => {
          timescale = times.timescale
          found.durationMillis = millis(times.duration, timescale)
        }),
      // A video in fragments tells its duration here, or not at all.
      mvex: (box) =>
        visit(window, box, {
          mehd: (header) =>
            Effect.map(content(window, header, 8), (view) => {
              found.durationMillis = millis(view.getUint32(4), timescale) ?? found.durationMillis
            })
        }),
      trak: (box) => Effect.map(readTrack(window, box), (track) => void tracks.push(track))
    })
    const video = tracks.find(({ handler }) => handler === "vide")
    if (video === undefined) return yield* new Stopped({ why: "unseen" })
    found.width = video.width
    found.height = video.height
    found.videoCodec = video.codec
    found.chroma = video.chroma
    if (video.samples > 0 && video.millis !== undefined) {
      found.frameRate = Math.round(100_000 * video.samples / video.millis) / 100
    }
    const audio = tracks.find(({ handler }) => handler === "soun")
    found.audioCodec = audio?.codec
    found.audioChannels = audio?.channels
  })

const millis = (duration: number, timescale: number): number | undefined =>
  duration > 0 && timescale > 0 ? Math.round(1000 * duration / timescale) : undefined

/** Of the header of a movie or of the media of a track. A duration of 0 is not known. */
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

/** What is known of a track. */
interface Track {
  handler: string
  width: number | undefined
  height: number | undefined
  millis: number | undefined
  samples: number
  codec: string | undefined
  chroma: string | undefined
  channels: number | undefined
}

const readTrack = <E>(window: FileWindow<E>, box: Box): Effect.Effect<Track, E | Stopped> => {
  const track: Track = {
    handler: "",
    width: undefined,
    height: undefined,
    millis: undefined,
    samples: 0,
    codec: undefined,
    chroma: undefined,
    channels: undefined
  }
  const countSamples = (sizes: Box) =>
    Effect.map(content(window, sizes, 12), (view) => {
      track.samples = view.getUint32(8)
    })
  return Effect.as(
    visit(window, box, {
      tkhd: (header) => readDimensions(window, header, track),
      mdia: (media) =>
        visit(window, media, {
          mdhd: (header) =>
            Effect.map(timesOf(window, header), ({ duration, timescale }) => {
              track.millis = millis(duration, timescale)
            }),
          hdlr: (handler) =>
            Effect.map(content(window, handler, 12), (view) => {
              track.handler = nameAt(view, 8)
            }),
          minf: (information) =>
            visit(window, information, {
              stbl: (table) =>
                visit(window, table, {
                  stsd: (descriptions) => readDescription(window, descriptions, track),
                  stsz: countSamples,
                  stz2: countSamples
                })
            })
        })
    }),
    track
  )
}

/** The dimensions of a track, as it is shown: turned where its matrix turns it. */
const readDimensions = <E>(window: FileWindow<E>, header: Box, track: Track): Reading<E> =>
  Effect.gen(function*() {
    const isLong = (yield* content(window, header, 1)).getUint8(0) === 1
    const matrix = isLong ? 52 : 40
    const view = yield* content(window, header, matrix + 44)
    const [across, down] = [view.getUint32(matrix + 36) >>> 16, view.getUint32(matrix + 40) >>> 16]
    const isTurned = view.getInt32(matrix) === 0 && view.getInt32(matrix + 4) !== 0
    track.width = isTurned ? down : across
    track.height = isTurned ? across : down
  })

/** What the samples of a track are coded in: the first of its descriptions. */
const readDescription = <E>(window: FileWindow<E>, descriptions: Box, track: Track): Reading<E> =>
  Effect.gen(function*() {
    const entry = yield* boxAt(window, descriptions.start + 8, descriptions.end)
    yield* endOf(entry, descriptions.end)
    track.codec = entry.name
    const reading = track.handler === "vide"
      ? readPictures(window, entry, track)
      : track.handler === "soun"
      ? readSound(window, entry, track)
      : Effect.void
    // What is wrong in here is for players to complain of: many writers have habits of their own.
    yield* Effect.catchIf(reading, (error) => error instanceof Stopped, () => Effect.void)
  })

const chromas = ["4:0:0", "4:2:0", "4:2:2", "4:4:4"] as const

const readPictures = <E>(window: FileWindow<E>, entry: Box, track: Track): Reading<E> =>
  visit(window, { start: entry.start + 78, end: entry.end }, {
    avcC: (box) =>
      Effect.gen(function*() {
        const view = yield* content(window, box, 6)
        track.codec = `${entry.name}.${hex(view, 1)}${hex(view, 2)}${hex(view, 3)}`
        // Only the high profiles have others, and say so in the sequence that follows.
        if (view.getUint8(1) < 100) track.chroma = "4:2:0"
        else if ((view.getUint8(5) & 31) > 0) {
          track.chroma = chromas[second((yield* content(window, box, 16)).getUint32(12))]
        }
      }),
    hvcC: (box) =>
      Effect.map(content(window, box, 17), (view) => {
        track.chroma = chromas[view.getUint8(16) & 3]
      })
  })

/** The second of the numbers at the head of some bits, each in Exp-Golomb code: so a sequence of H.264 begins. */
const second = (bits: number): number => {
  const text = bits.toString(2).padStart(32, "0")
  const skipped = 2 * text.indexOf("1") + 1
  const zeros = text.slice(skipped).search("1")
  return zeros < 0 ? -1 : Number.parseInt(text.slice(skipped + zeros, skipped + 2 * zeros + 1), 2) - 1
}

const hex = (view: DataView, offset: number): string => view.getUint8(offset).toString(16).padStart(2, "0")

const readSound = <E>(window: FileWindow<E>, entry: Box, track: Track): Reading<E> =>
  Effect.gen(function*() {
    const view = yield* content(window, entry, 28)
    track.channels = view.getUint16(16)
    // QuickTime has two longer forms.
    const longer = [0, 16, 36][view.getUint16(8)] ?? 0
    const esds = (box: Box) => readStream(window, box, entry.name, track)
    yield* visit(window, { start: entry.start + 28 + longer, end: entry.end }, {
      esds,
      wave: (box) => visit(window, box, { esds })
    })
  })

/** What a stream is coded in: descriptors, each a tag, a length in bytes of seven bits, and what it holds. */
const readStream = <E>(window: FileWindow<E>, box: Box, name: string, track: Track): Reading<E> => {
  const length = Math.min(box.end - box.start, 128)
  return Effect.map(content(window, box, length), (view) => {
    const byte = (at: number) => at < length ? view.getUint8(at) : 0
    const inside = (at: number) => {
      let behind = at + 1
      while (byte(behind) >= 0x80) behind += 1
      return behind + 1
    }
    const stream = inside(4)
    const flags = byte(stream + 2)
    const address = (flags & 0x40) === 0 ? 0 : 1 + byte(stream + 3 + ((flags & 0x80) === 0 ? 0 : 2))
    const coding = inside(stream + 3 + ((flags & 0x80) === 0 ? 0 : 2) + address + ((flags & 0x20) === 0 ? 0 : 2))
    const kind = byte(coding)
    track.codec = `${name}.${kind.toString(16).padStart(2, "0")}`
    if (kind !== 0x40) return
    const specific = inside(coding + 13)
    track.codec += `.${byte(specific) >>> 3}`
    const configuration = (byte(specific + 1) >>> 3) & 15
    // Seven stands for eight channels, nothing for others.
    if (configuration > 0) track.channels = configuration === 7 ? 8 : configuration
  })
}
