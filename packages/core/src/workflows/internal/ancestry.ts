/**
 * Tracks the posts of a conversation that have to be looked up: those with replies that no search has returned. Encoded as text, so
 * that another process can continue.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { idPattern } from "../../schema/Codecs.ts"

/** The fields that determine the place of a post. */
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

/** The state of a conversation that is being read. */
export interface Ancestry {
  /** Posts that others reply to and that have not been returned yet. */
  readonly wanted: Set<string>
  /** Posts that were returned or are unavailable. Posts without replies are omitted: no other post refers to them. */
  readonly known: Set<string>
}

/** The position in the pages of a conversation. */
export interface Place {
  /** Search pages come first, then posts that the search does not return. */
  readonly stage: "search" | "lookup"
  /** The token of the next search page. */
  readonly token: string | undefined
  readonly ancestry: Ancestry
}

/** Records returned posts. */
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

/** Records unavailable posts. */
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

/** Encodes a position as text. */
export const encode = ({ ancestry: { known, wanted }, stage, token }: Place): string =>
  JSON.stringify({ stage, ...(token === undefined ? {} : { token }), wanted: pack(wanted), known: pack(known) })

/** Decodes a position; `undefined` if the text is not one. */
export const decode = (text: string): Place | undefined =>
  Option.getOrUndefined(Option.map(decodeText(text), ({ known, stage, token, wanted }) => ({
    stage,
    token,
    ancestry: { wanted: unpack(wanted), known: unpack(known) }
  })))

// Ids of one conversation are close to each other: encoded as differences they take a third of the space.
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
