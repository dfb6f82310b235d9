/**
 * Which posts of a conversation are still to be looked up: those that were replied to and that no search has brought. As a text,
 * so that another process can go on.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { idPattern } from "../../schema/Codecs.ts"

/** What of a post says where it belongs. */
export interface Replying {
  readonly id: string
  readonly referenced_posts?: ReadonlyArray<{ readonly type: string; readonly id: string }>
  readonly public_metrics?: { readonly reply_count: number }
}

/** The post that this one replies to. A malformed id counts as none. */
export const parentOf = ({ referenced_posts = [] }: Replying): string | undefined =>
  referenced_posts.find(({ id, type }) => type === "replied_to" && idPattern.test(id))?.id

/** Ids by age, the oldest first. */
export const byAge = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)

/** What is known of a conversation so far. */
export interface Ancestry {
  /** Posts that were replied to and are not there yet. */
  readonly wanted: Set<string>
  /** Posts that are there, or that nobody can bring. Those without replies are left out: nothing leads to them. */
  readonly known: Set<string>
}

/** Where the pages of a conversation stand. */
export interface Place {
  /** Pages of the search come first, then posts that it does not bring. */
  readonly stage: "search" | "lookup"
  /** Leads to the next page of the search. */
  readonly token: string | undefined
  readonly ancestry: Ancestry
}

/** Takes note of posts that have come. */
export const note = ({ known, wanted }: Ancestry, posts: ReadonlyArray<Replying>): void => {
  for (const { id, public_metrics } of posts) {
    wanted.delete(id)
    if (public_metrics?.reply_count !== 0 && idPattern.test(id)) known.add(id)
  }
  for (const post of posts) {
    const parent = parentOf(post)
    if (parent !== undefined && !known.has(parent)) wanted.add(parent)
  }
}

/** Takes note of posts that nobody can bring. */
export const giveUp = ({ known, wanted }: Ancestry, ids: ReadonlyArray<string>): void => {
  for (const id of ids) {
    wanted.delete(id)
    known.add(id)
  }
}

const Text = /*#__PURE__*/ Schema.fromJsonString(
  /*#__PURE__*/ Schema.Struct({
    stage: /*#__PURE__*/ Schema.Literals(["search", "lookup"]),
    token: /*#__PURE__*/ Schema.optionalKey(Schema.String),
    wanted: Schema.String,
    known: Schema.String
  })
)

const decodeText = /*#__PURE__*/ Schema.decodeUnknownOption(Text)

/** A place as a text. */
export const encode = ({ ancestry: { known, wanted }, stage, token }: Place): string =>
  JSON.stringify({
    stage,
    ...(token === undefined ? {} : { token }),
    wanted: pack(wanted),
    known: pack(known)
  })

/** The place that a text tells; none of a text that is another's. */
export const decode = (text: string): Place | undefined =>
  Option.getOrUndefined(Option.map(decodeText(text), ({ known, stage, token, wanted }) => ({
    stage,
    token,
    ancestry: { wanted: unpack(wanted), known: unpack(known) }
  })))

// Ids of one conversation are near each other: the distances between them are a third as long.
const pack = (ids: ReadonlySet<string>): string => {
  let last = 0n
  return [...ids].sort(byAge).map((id) => {
    const next = BigInt(id)
    const distance = next - last
    last = next
    return distance.toString(36)
  }).join(" ")
}

const unpack = (text: string): Set<string> => {
  let last = 0n
  const ids = new Set<string>()
  for (const distance of text.split(" ")) {
    if (distance === "") continue
    last += [...distance].reduce((value, digit) => value * 36n + BigInt(parseInt(digit, 36)), 0n)
    ids.add(String(last))
  }
  return ids
}
