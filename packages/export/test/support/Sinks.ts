/** Every sink of files by name, and a search that fills all of its files. */
import type { Sink } from "../../src/folders/Sink.ts"
import * as Csv from "../../src/sinks/Csv.ts"
import * as JsonLines from "../../src/sinks/JsonLines.ts"
import * as Parquet from "../../src/sinks/Parquet.ts"
import * as Sqlite from "../../src/sinks/Sqlite.ts"

export const sinks = {
  jsonl: JsonLines.make,
  "jsonl.gz": (path: string) => JsonLines.make(path, { compression: "gzip" }),
  "jsonl.zst": (path: string) => JsonLines.make(path, { compression: "zstd" }),
  csv: (path: string) => Csv.make(path),
  parquet: Parquet.make,
  sqlite: Sqlite.make
} satisfies Readonly<Record<string, (path: string) => Sink>>

export type SinkName = keyof typeof sinks

export const sinkNames = Object.keys(sinks) as Array<SinkName>

export const parameters = {
  query: "effect",
  max_results: 10,
  post_fields: ["created_at", "author_id", "public_metrics", "referenced_posts", "attachments"],
  user_fields: ["created_at"],
  expansions: ["author_id", "referenced_posts.id", "attachments.media_keys"]
} as const

/** What is asked for of posts by their ids. */
export const hydrated = { post_fields: ["created_at", "public_metrics"], expansions: ["author_id"] }
