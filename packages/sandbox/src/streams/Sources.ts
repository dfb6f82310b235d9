/** The contents of each stream. */
import type { Endpoint } from "@postwire/core/schema/models/Connection"

/** The contents of a stream. */
export interface Source {
  readonly of: "posts" | "likes" | "events"
  /** Only posts that match the rules of the app. */
  readonly byRules?: true
  /** Open to apps of every access level, with backfill and recovery. */
  readonly isSelfServe?: true
  /** Samples one item in this many. */
  readonly oneIn?: number
  /** Only posts in this language. */
  readonly lang?: string
  readonly partitions?: number
  /** The least number of connections that an app may have. Default 1. */
  readonly connections?: number
}

/** The streams by endpoint name. */
export const sources: Readonly<Record<Endpoint, Source>> = {
  filtered_stream: { of: "posts", byRules: true },
  sample_stream: { of: "posts", oneIn: 100 },
  sample10_stream: { of: "posts", oneIn: 10, partitions: 2 },
  firehose_stream: { of: "posts", partitions: 20 },
  firehose_stream_lang_en: { of: "posts", lang: "en", partitions: 8 },
  firehose_stream_lang_ja: { of: "posts", lang: "ja", partitions: 2 },
  firehose_stream_lang_ko: { of: "posts", lang: "ko", partitions: 2 },
  firehose_stream_lang_pt: { of: "posts", lang: "pt", partitions: 2 },
  likes_firehose_stream: { of: "likes", partitions: 20 },
  likes_sample10_stream: { of: "likes", oneIn: 10, partitions: 2 },
  posts_compliance_stream: { of: "events", partitions: 4 },
  users_compliance_stream: { of: "events", partitions: 4 },
  likes_compliance_stream: { of: "events" },
  post_label_stream: { of: "events" },
  activity_stream: { of: "events", isSelfServe: true, connections: 2 }
}

/** True if a partition of a stream contains the item. Depends on nothing but its id and language. */
export const holds = (
  { lang, oneIn = 1, partitions = 1 }: Source,
  partition: number,
  item: { readonly id: string; readonly lang?: string }
): boolean => {
  if (lang !== undefined && item.lang !== lang) return false
  if (oneIn === 1 && partitions === 1) return true
  const place = placeOf(item.id)
  return place % oneIn === 0 && Math.floor(place / oneIn) % partitions === partition - 1
}

/** A hash that is independent of the time in an id: FNV-1a with a final mix. */
const placeOf = (id: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b)
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35)
  return (hash ^ hash >>> 16) >>> 0
}
