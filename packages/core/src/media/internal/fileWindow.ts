/** Reads parts of a file on demand, up to a limit. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** Bytes with random access. */
export interface Reader<E = never> {
  /** Bytes. */
  readonly size: number
  /** The number of bytes from the start that can be read: only the beginning of a stream. Default: all. */
  readonly reach?: number | undefined
  /** Reads up to `length` bytes from an offset. */
  readonly read: (offset: number, length: number) => Effect.Effect<Uint8Array, E>
}

/** Properties from the headers of a file. */
export interface Measures {
  /** Pixels, as displayed. */
  width?: number | undefined
  /** Pixels, as displayed. */
  height?: number | undefined
  /** The number of frames of a GIF. */
  frames?: number | undefined
  durationMillis?: number | undefined
}

/** A reader of headers: it fills in measures. */
export type Reading<E> = Effect.Effect<void, E | Stopped>

/**
 * The reason why reading ends early: the file is truncated (`cut`), contradicts itself (`broken`), has nothing to show (`unseen`),
 * or continues beyond the limits of what is read (`unreached`).
 */
export class Stopped extends Data.TaggedError("Stopped")<{ readonly why: "cut" | "broken" | "unseen" | "unreached" }> {}

/** Bytes per read. */
const pageBytes = 65_536

/** Most bytes read of one file: twice the largest GIF that the service accepts. */
const mostBytes = 33_554_432

/** Most accesses to one file, in memory or not: several for each frame of any GIF that the service accepts. */
const mostLooks = 20_000

/** A window on a file. */
export interface FileWindow<E> {
  readonly size: number
  /** Up to `length` bytes from the start, each as one character. */
  readonly head: (length: number) => Effect.Effect<string, E | Stopped>
  /** At least `length` bytes from an offset, if they are in memory. */
  readonly view: (offset: number, length: number) => DataView | undefined
  /** At least `length` bytes from an offset. If they are not in memory, `page` bytes are read. */
  readonly load: (offset: number, length: number, page?: number) => Effect.Effect<DataView, E | Stopped>
}

/** Opens a window on a reader. */
export const open = <E>({ read, size, ...limits }: Reader<E>): FileWindow<E> => {
  const reach = Math.min(size, limits.reach ?? size)
  let start = 0
  let page: Uint8Array = new Uint8Array()
  let left = mostBytes
  let looks = 0
  const view = (offset: number, length: number) => {
    looks += 1
    return looks <= mostLooks && offset >= start && offset + length <= start + page.length
      ? new DataView(page.buffer, page.byteOffset + offset - start, start + page.length - offset)
      : undefined
  }
  const load: FileWindow<E>["load"] = Effect.fnUntraced(function*(offset, length, atATime = pageBytes) {
    const known = view(offset, length)
    if (known !== undefined) return known
    if (offset + length > size) return yield* new Stopped({ why: "cut" })
    if (offset + length > reach || length > left || looks > mostLooks) return yield* new Stopped({ why: "unreached" })
    const wanted = Math.min(Math.max(length, atATime), reach - offset)
    left -= wanted
    page = yield* read(offset, wanted)
    start = offset
    return page.length < length
      ? yield* new Stopped({ why: "cut" })
      : new DataView(page.buffer, page.byteOffset, page.length)
  })
  return {
    size,
    head: (most) => {
      const length = Math.min(most, reach)
      return Effect.map(
        load(0, length),
        (view) => String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset, length))
      )
    },
    view,
    load
  }
}

/** Four bytes as text: the name of a box or a chunk. */
export const nameAt = (view: DataView, offset: number): string =>
  String.fromCharCode(
    view.getUint8(offset),
    view.getUint8(offset + 1),
    view.getUint8(offset + 2),
    view.getUint8(offset + 3)
  )
