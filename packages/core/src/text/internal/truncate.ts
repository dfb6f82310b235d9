/** Cuts the text of a post. */
import type { Span } from "../Links.ts"
import * as PostEntities from "../PostEntities.ts"
import * as Weight from "./weight.ts"

/** A trimmed part of a text, and the position at which the rest begins. */
export interface Part {
  readonly text: string
  readonly next: number
}

/**
 * Makes a function that returns the part that begins at a position and weighs no more than `room`. It ends with a paragraph if
 * that fills half of it; otherwise with a word; otherwise, in a word that is too long, with a word of a script without spaces, or
 * with a grapheme. An entity that fits is not cut. `enough` is the maximum weight of the requested parts.
 */
export const cutter = (
  text: string,
  enough = Infinity
): (start: number, room: number, prefersParagraphs: boolean) => Part => {
  const ends: Array<number> = []
  const weights: Array<number> = []
  let sum = 0
  Weight.each(text, (end, weight) => {
    ends.push(end)
    weights.push(sum += weight)
    return sum <= enough
  })
  const paragraphs = Array.from(text.matchAll(/\n\s*\n/g), ({ index }) => index)
  const { cashtags, hashtags, mentions, urls } = PostEntities.find(text)
  const entities: ReadonlyArray<Span> = [...urls, ...mentions, ...hashtags, ...cashtags].sort((a, b) =>
    a.start - b.start
  )
  const starts = entities.map(({ start }) => start)

  const weightBefore = (at: number) => weights[lastAtMost(ends, at)] ?? 0
  const between = (start: number, end: number) => weightBefore(end) - weightBefore(start)
  const isSpace = (at: number) => /\s/.test(text.charAt(at))

  /** The entity that a cut would split. */
  const around = (at: number): Span | undefined => {
    const entity = entities[lastAtMost(starts, at - 1)]
    return entity !== undefined && at < entity.end ? entity : undefined
  }

  /** The last suitable boundary of words or graphemes after `from` and up to `to`. */
  const boundary = (
    granularity: "word" | "grapheme",
    from: number,
    to: number,
    willDo: (at: number) => boolean
  ): number | undefined => {
    let found: number | undefined
    // The following text decides whether a position is a boundary.
    for (const { index } of segmenter(granularity).segment(text.slice(from, to + 64))) {
      if (from + index > to) break
      if (index > 0 && willDo(from + index)) found = from + index
    }
    return found
  }

  /** Tests whether the thing at the end of the room would fit by itself. */
  const fitsAlone = (start: number, at: number, room: number): boolean => {
    const most = weightBefore(start) + room
    for (let k = lastAtMost(ends, at) + 1; k < ends.length; k++) {
      if (isSpace(ends[k - 1] ?? 0)) return true
      if ((weights[k] ?? 0) > most) return false
    }
    return true
  }

  const endOf = (start: number, room: number, prefersParagraphs: boolean): number => {
    const before = weightBefore(start)
    const first = lastAtMost(ends, start) + 1
    const limit = ends[Math.max(first, lastAtMost(weights, before + room))] ?? text.length
    if (limit >= text.length) return text.length

    const paragraph = paragraphs[lastAtMost(paragraphs, limit)]
    if (prefersParagraphs && paragraph !== undefined && 2 * between(start, paragraph) >= room) return paragraph

    let space = limit
    while (space > start && !isSpace(space)) space--
    if (space > start && (space === limit || fitsAlone(space + 1, limit, room))) return space
    return within(start, space > start ? space + 1 : start, limit, room)
  }

  /** Cuts the word at `word`. */
  const within = (start: number, word: number, limit: number, room: number): number => {
    const least = word > start ? word - 1 : limit
    let end = limit
    for (let entity = around(end); entity !== undefined; entity = around(end)) {
      if (between(entity.start, entity.end) > room) break
      if (entity.start <= word) return entity.start > start ? entity.start : least
      end = entity.start
    }
    const isFree = (at: number) => at > word && around(at) === undefined
    const found = boundary("word", start, end, (at) => isFree(at) && !closing.test(text.charAt(at)))
    if (found !== undefined && 2 * between(start, found) >= room) return found
    return boundary("grapheme", start, end, isFree) ?? least
  }

  return (start, room, prefersParagraphs) => {
    const shortest = ends[lastAtMost(ends, start) + 1] ?? text.length
    for (let space = room;;) {
      const end = endOf(start, space, prefersParagraphs)
      const part = text.slice(start, end).trim()
      // Cutting a word can turn one half into a URL.
      const length = Weight.length(part)
      if (length <= room || end <= shortest) {
        let next = end
        while (next < text.length && isSpace(next)) next++
        return { text: part, next }
      }
      space = Math.min(space - 1, Math.floor(space * room / length))
    }
  }
}

/** Characters that must not begin a line. */
const closing = /[\p{Pe}\p{Pf}\p{Po}\p{Pd}]/u

const segmenters: { word?: Intl.Segmenter; grapheme?: Intl.Segmenter } = {}

const segmenter = (granularity: "word" | "grapheme") =>
  segmenters[granularity] ??= new Intl.Segmenter("en", { granularity })

/** The index of the last of ascending numbers that is no more than `most`; -1 if there is none. */
const lastAtMost = (numbers: ReadonlyArray<number>, most: number): number => {
  let low = -1
  for (let high = numbers.length - 1; low < high;) {
    const middle = Math.ceil((low + high) / 2)
    if ((numbers[middle] ?? 0) <= most) low = middle
    else high = middle - 1
  }
  return low
}
