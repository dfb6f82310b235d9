/** A file of which parts are read as they are asked for, and never more than so much of it. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** Bytes that can be read at any place. */
export interface Reader<E = never> {
  /** How many there are. */
  readonly size: number
  /** How many of them can be read, counted from the first: of a stream only the beginning. All of them by default. */
  readonly reach?: number | undefined
  /** Reads as many as there are from an offset on, and at most `length`. */
  readonly read: (offset: number, length: number) => Effect.Effect<Uint8Array, E>
}

/**
 * Why there is nothing more to learn from a file: it ends before it should (`cut`), it says what cannot be (`broken`), or
 * what comes next is out of reach (`unreached`).
 */
export class Stopped extends Data.TaggedError("Stopped")<{ readonly why: "cut" | "broken" | "unreached" }> {}

/** What is read of a file at a time, in bytes. */
const pageBytes = 65_536

/** What is read of a file altogether, in bytes: twice the largest GIF that the service takes. */
const mostBytes = 33_554_432

/** A window on a file. */
export interface FileWindow<E> {
  readonly size: number
  /** Bytes that were read already. */
  readonly view: (offset: number, length: number) => DataView | undefined
  /** Bytes, read where they were not yet, together with what follows them. Few of them at most: less than a page. */
  readonly load: (offset: number, length: number, page?: number) => Effect.Effect<DataView, E | Stopped>
}

/** A window on what a reader reads. */
export const open = <E>(reader: Reader<E>): FileWindow<E> => {
  const { reach = reader.size, size } = reader
  let start = 0
  let page: Uint8Array = new Uint8Array()
  let left = mostBytes
  const view = (offset: number, length: number) =>
    offset >= start && offset + length <= start + page.length
      ? new DataView(page.buffer, page.byteOffset + offset - start, length)
      : undefined
  return {
    size,
    view,
    load: Effect.fnUntraced(function*(offset, length, atATime = pageBytes) {
      const known = view(offset, length)
      if (known !== undefined) return known
      // Also where an offset is no number that can be.
      if (!(offset + length <= size)) return yield* new Stopped({ why: "cut" })
      if (offset + length > reach || length > left) return yield* new Stopped({ why: "unreached" })
      const wanted = Math.min(Math.max(length, atATime), Math.min(size, reach) - offset)
      left -= wanted
      page = yield* reader.read(offset, wanted)
      start = offset
      return view(offset, length) ?? (yield* new Stopped({ why: "cut" }))
    })
  }
}
