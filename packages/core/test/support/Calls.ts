/** Calls of every operation with every parameter, what they send, and what the service could answer. */
import type { WireName } from "@postwire/core/schema/WireName"
import type { Row, RowParameter, Sample } from "./Row.ts"

/** The words that the rows hold: their column `x` is of February 2026. */
export const wires = ["neutral", "x-2026-02"] as const

const column = (wire: WireName): "neutral" | "x" => wire === "neutral" ? wire : "x"

const same = (value: unknown): Sample => ({ given: value, sent: value })

/** What an operation expands, by the kind that it answers with. */
const expansions: Readonly<Record<string, Sample>> = {
  Post: {
    given: ["author_id", "referenced_posts.id.author_id"],
    sent: "author_id,referenced_posts.id.author_id",
    sentOnX: "author_id,referenced_tweets.id.author_id"
  },
  User: {
    given: ["affiliation.user_id", { unlisted: "pinned_post_id" }, "most_recent_post_id"],
    sent: "affiliation.user_id,pinned_post_id,most_recent_post_id",
    sentOnX: "affiliation.user_id,pinned_post_id,most_recent_tweet_id"
  },
  Space: same("creator_id,topic_ids"),
  List: { given: ["owner_id"], sent: "owner_id" },
  DmEvent: {
    given: "sender_id,referenced_posts.id",
    sent: "sender_id,referenced_posts.id",
    sentOnX: "sender_id,referenced_tweets.id"
  }
}

const names: Readonly<Record<string, Sample>> = {
  dm_event_fields: same("created_at,sender_id"),
  exclude: { given: ["replies", "retweets"], sent: "replies,retweets" },
  list_fields: same("description"),
  media_fields: { given: ["alt_text", "url"], sent: "alt_text,url" },
  place_fields: same("country"),
  poll_fields: same("voting_status"),
  space_fields: same("title,host_ids"),
  post_fields: {
    given: "created_at,referenced_posts,note_post",
    sent: "created_at,referenced_posts,note_post",
    sentOnX: "created_at,referenced_tweets,note_tweet"
  },
  user_fields: {
    given: ["pinned_post_id", "most_recent_post_id", { unlisted: "brand_new" }],
    sent: "pinned_post_id,most_recent_post_id,brand_new",
    sentOnX: "pinned_tweet_id,most_recent_tweet_id,brand_new"
  }
}

const texts: Readonly<Record<string, string>> = {
  username: "Ada_1",
  dm_conversation_id: "12-34",
  id: "1DXxyRYNejbKM",
  event_types: "MessageCreate",
  sort_order: "recency"
}

export const sampleOf = (parameter: RowParameter, kind: string): Sample => {
  if (parameter.sample !== undefined) return parameter.sample
  switch (parameter.type) {
    case "ID":
      return { given: 9007199254740993n, sent: "9007199254740993" }
    case "ID[]":
      return { given: [1, 2n, "3"], sent: ["1", "2", "3"] }
    case "ID[]|csv":
      return { given: [1, 2n, "0003"], sent: "1,2,0003" }
    case "string[]|csv":
      return names[parameter.name] ??
        (parameter.name === "expansions" ? expansions[kind.replace("[]", "")] : undefined) ??
        { given: ["abc", "de"], sent: "abc,de" }
    case "string[]":
      return same(["tweets, posts", "é😀"])
    case "integer":
      return { given: parameter.max ?? 60, sent: parameter.max ?? 60 }
    case "boolean":
      return same(false)
    case "timestamp":
      return { given: new Date("2026-01-31T12:00:00.987Z"), sent: "2026-01-31T12:00:00Z" }
    case "enum":
      return same(parameter.enum?.[0])
    default:
      return same(texts[parameter.name] ?? "a b+c/%2F!*'(),tweets:é😀")
  }
}

/** A call with every parameter, of two that are alternatives or exclude each other only one. */
export const callOf = (row: Row, selectedBy: string, wire: WireName) => {
  const parameters = row.params.filter(({ name }) =>
    row.rules?.some((rule) => rule.rule === "excludes" && rule.param === name) !== true &&
    (row.alternatives === undefined || name === selectedBy || !row.alternatives.of.includes(name))
  )
  const given: Record<string, unknown> = {}
  const query: Record<string, string> = { ...row.queryConstants }
  let path = (row.routes[selectedBy] ?? row.routes[""]!)[column(wire)]
  const body = structuredClone(row.constants ?? {}) as Record<string, unknown>
  for (const parameter of parameters) {
    const sample = sampleOf(parameter, row.kind)
    const sent = wire === "neutral" ? sample.sent : sample.sentOnX ?? sample.sent
    given[parameter.name] = sample.given
    if (parameter.in === "path") path = path.replace(`:${parameter[column(wire)]}`, encodeURIComponent(String(sent)))
    else if (parameter.in === "query" && wire !== "neutral" && (sent === "" || selectsNothing(row, parameter))) continue
    else if (parameter.in === "query") query[parameter[column(wire)]] = String(sent)
    else insert(body, parameter[column(wire)].split("."), row.encoding === undefined ? sent : textOf(sent))
  }
  return { given, path, query, body: Object.keys(body).length === 0 ? undefined : body }
}

/** The text of a part, a character for a byte. */
const textOf = (sent: unknown): string =>
  sent instanceof Uint8Array ? Buffer.from(sent).toString("latin1") : String(sent)

/** What users bring are users and posts, so nothing else of theirs is selected. */
const selectsNothing = ({ kind }: Row, { name }: RowParameter): boolean =>
  /^User\b/.test(kind) && ["media_fields", "place_fields", "poll_fields"].includes(name)

const insert = (node: Record<string, unknown>, [step, ...rest]: ReadonlyArray<string>, value: unknown): void => {
  if (rest.length === 0) node[step!] = value
  else insert((node[step!] ??= rest[0] === "0" ? [] : {}) as Record<string, unknown>, rest, value)
}

/** A body that the operation could answer with. */
export const answerOf = (row: Row, wire: WireName): unknown => {
  if (row.answers !== undefined) return row.answers[column(wire)]
  if (row.kind.endsWith("[]")) return { data: [{ id: "1", event_type: "MessageCreate" }] }
  switch (row.kind) {
    case "Counts":
      return {
        data: [{
          start: "2026-01-01T00:00:00.000Z",
          end: "2026-01-01T01:00:00.000Z",
          [wire === "neutral" ? "post_count" : "tweet_count"]: 3
        }],
        meta: { [wire === "neutral" ? "total_post_count" : "total_tweet_count"]: 3 }
      }
    case "CreatedPost":
      return { data: { id: "1", text: "a" } }
    case "DmEventRef":
      return { data: { dm_conversation_id: "1-2", dm_event_id: "3" } }
  }
  const toggle = /^Toggle<(\w+)>$/.exec(row.kind)?.[1]
  if (toggle === undefined) return { data: { id: "1" } }
  const key = wire !== "neutral" && toggle === "reposted" ? "retweeted" : toggle
  return { data: { [key]: true, ...(key === "following" ? { pending_follow: false } : {}) } }
}

export const selectionsOf = (row: Row): ReadonlyArray<string> =>
  row.alternatives === undefined ? [""] : [...row.alternatives.of, ...(row.alternatives.none ? ["none"] : [])]
