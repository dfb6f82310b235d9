/**
 * Recognised entities of texts and metadata of linked pages. Pages are not fetched: their metadata are derived from the
 * URL, and some have none.
 */
import * as Entities from "./Entities.ts"
import { make } from "./random.ts"
import * as Vocabulary from "./vocabulary.ts"

type Notion = (typeof Vocabulary.notions)[number]

/** A recognised entity. */
export interface Annotation {
  readonly start: number
  readonly end: number
  readonly probability: number
  readonly type: string
  readonly normalized_text: string
}

/** A context annotation. */
export type Context = Pick<Notion, "domain" | "entity">

/** The annotations of a text, in reading order. */
export const annotationsOf = (text: string): ReadonlyArray<Annotation> => {
  const characters = Entities.counter(text)
  return found(text).map(({ index, notion, word }) => ({
    start: characters(index),
    end: characters(index + word.length),
    probability: Math.floor(make(0, word).next() * 5_000 + 5_000) / 10_000,
    type: notion.type,
    normalized_text: word
  }))
}

/** The context annotations of a text; undefined if nothing was recognised. */
export const contextsOf = (text: string): ReadonlyArray<Context> | undefined => {
  const notions = new Set(found(text).map(({ notion }) => notion))
  return notions.size === 0 ? undefined : Array.from(notions, ({ domain, entity }) => ({ domain, entity }))
}

/** The entities of a text with the metadata of linked pages and the given annotations. */
export const enrich = <E extends Entities.Entities>(
  entities: E | undefined,
  annotations: ReadonlyArray<Annotation> = []
): object | undefined =>
  entities === undefined && annotations.length === 0 ? undefined : {
    ...entities,
    ...(entities?.urls === undefined
      ? {}
      : { urls: entities.urls.map((link) => ({ ...link, ...pageOf(link.expanded_url) })) }),
    ...(annotations.length === 0 ? {} : { annotations })
  }

const notionOf = new Map<string, Notion>(
  Vocabulary.notions.flatMap((notion) => notion.words.map((word) => [word, notion] as const))
)

const words = new RegExp(
  `(?<![\\w@#$/.])(?:${
    [...notionOf.keys()].toSorted((a, b) => b.length - a.length).map((word) => word.replace(/[.]/g, "\\$&")).join("|")
  })(?![\\w/])`,
  "gu"
)

const found = (text: string) =>
  Array.from(text.matchAll(words), ({ 0: word, index }) => ({ word, index, notion: notionOf.get(word) }))
    .flatMap(({ notion, ...rest }) => notion === undefined ? [] : [{ ...rest, notion }])

/** The metadata of a page. */
export interface Page {
  readonly unwound_url?: string
  readonly status?: number
  readonly title?: string
  readonly description?: string
  readonly images?: ReadonlyArray<{ readonly url: string; readonly width: number; readonly height: number }>
}

/** The metadata of the page at a URL. */
export const pageOf = (address: string): Page => {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const random = make(0, address)
  if (url === undefined || random.chance(0.25)) return {}
  const image = (width: number, height: number) => ({
    url: `https://images.sandbox.invalid/page/${width}/${encodeURIComponent(url.hostname + url.pathname)}.jpg`,
    width,
    height
  })
  return {
    unwound_url: url.href,
    status: random.chance(0.1) ? 404 : 200,
    title: `${url.pathname.split("/").filter((segment) => segment !== "").join(" ") || "Home"} - ${url.hostname}`,
    ...(random.chance(0.7) ? { description: `A page of ${url.hostname}` } : {}),
    ...(random.chance(0.5) ? { images: [image(1200, 630), image(150, 150)] } : {})
  }
}
