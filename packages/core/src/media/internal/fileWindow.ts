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
 * Why there is nothing more to learn from a file: it ends before it should (`cut`), it says what cannot be (`broken`), it
 * shows nothing (`unseen`), or what comes next is out of reach (`unreached`).
 */
export class Stopped extends Data.TaggedError("Stopped")<{
  readonly why: "cut" | "broken" | "unseen" | "unreached"
}> {}

/** What is read of a file at a time, in bytes. */
const pageBytes = 65_536

/** What is read of a file altogether, in bytes: twice the largest GIF that the service takes. */
const mostBytes = 33_554_432

/** How often parts of a file are looked at, read already or not: a few of each frame of any GIF that the service takes. */
const mostLooks = 20_000

/** A window on a file. */
export interface FileWindow<E> {
  readonly size: number
  /** The first bytes, each a character: at most so many. */
  readonly head: (length: number) => Effect.Effect<string, E | Stopped>
  /** At least so many bytes from an offset on, and all that were read with them. None where they were not read. */
  readonly view: (offset: number, length: number) => DataView | undefined
  /**
   * At least so many bytes from an offset on, read together with what follows them: `page` bytes, where none were read
   * yet.
   */
  readonly load: (offset: number, length: number, page?: number) => Effect.Effect<DataView, E | Stopped>
}

/** A window on what a reader reads. */
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

/** Four bytes as text: the name of a box or of a chunk. */
export const nameAt = (view: DataView, offset: number): string =>
  String.fromCharCode(
    view.getUint8(offset),
    view.getUint8(offset + 1),
    view.getUint8(offset + 2),
    view.getUint8(offset + 3)
  )
