/** Rows of the tables as drivers return them, and their decoding. */
import { Partition } from "@postwire/export/Partitions"
import * as Schema from "effect/Schema"
import { Query } from "../Query.ts"
import type { Row } from "../Rows.ts"
import type { Cursor, ExportStatus, Overview, PartStatus, State, UnreadableRow } from "./status.ts"

export const decodeQuery = Schema.decodeUnknownSync(Schema.fromJsonString(Query))
const decodePartition = Schema.decodeUnknownSync(Schema.fromJsonString(Partition))

export interface PartRow {
  readonly export: string
  readonly part: number
  readonly span: string | null
  readonly state: State
  readonly attempt: number
  readonly token: string | null
  readonly pages: number
  /** Drivers differ in the type of 64-bit numbers. */
  readonly items: unknown
  readonly errors: unknown
  readonly worker: string | null
  readonly updated: unknown
  readonly problem: string | null
}

export interface ExportRow {
  readonly id: string
  readonly query: string
  readonly wanted: number
  readonly state: "planning" | "planned" | "failed"
  readonly attempt: number
  readonly created: unknown
  readonly problem: string | null
}

export interface ResourceRow {
  readonly kind: string
  readonly id: string
  /** Drivers differ in the type of 64-bit numbers, and of JSON. */
  readonly listed: unknown
  readonly included: unknown
  readonly body: unknown
}

export const decodeBody = Schema.decodeUnknownSync(
  Schema.Union([
    Schema.Record(Schema.String, Schema.Json),
    Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))
  ])
)

export const resourceOf = ({ body, id, included, kind, listed }: ResourceRow): Row => ({
  kind,
  id,
  listed: listed === null ? null : Number(listed),
  included: included === null ? null : Number(included),
  body: decodeBody(body)
})

export const cursorOf = ({ pages, state, token }: PartRow): Cursor => ({ pages, state, token: token ?? undefined })

export const partOf = (row: PartRow): PartStatus => ({
  export: row.export,
  part: row.part,
  partition: row.span === null ? undefined : decodePartition(row.span),
  state: row.state,
  attempt: row.attempt,
  pages: row.pages,
  items: Number(row.items),
  errors: Number(row.errors),
  worker: row.worker ?? undefined,
  updated: Number(row.updated),
  problem: row.problem ?? undefined
})

const exportOf = (row: ExportRow, parts: ReadonlyArray<PartStatus>): ExportStatus => {
  const sum = (count: (part: PartStatus) => number) => parts.reduce((sum, part) => sum + count(part), 0)
  const created = Number(row.created)
  return {
    id: row.id,
    query: decodeQuery(row.query),
    wanted: row.wanted,
    state: row.state === "planned" ? stateOf(parts) : row.state,
    attempt: row.attempt,
    created,
    updated: Math.max(created, ...parts.map(({ updated }) => updated)),
    pages: sum(({ pages }) => pages),
    items: sum(({ items }) => items),
    errors: sum(({ errors }) => errors),
    problem: row.problem ?? undefined,
    parts
  }
}

/** The exports of rows with their parts. */
export const overviewOf = (exports: ReadonlyArray<ExportRow>, parts: ReadonlyArray<PartRow>): Overview => {
  const unreadable: Array<UnreadableRow> = []
  const readable = <A>(key: Omit<UnreadableRow, "reason">, read: () => A): ReadonlyArray<A> => {
    try {
      return [read()]
    } catch (error) {
      unreadable.push({ ...key, reason: String(error instanceof Error ? error.message : error) })
      return []
    }
  }
  const read = parts.map((row) => {
    const [part = partOf({ ...row, span: null })] = readable({ export: row.export, part: row.part }, () => partOf(row))
    return part
  })
  const byExport = Map.groupBy(read, (part) => part.export)
  return {
    exports: exports.flatMap((row) =>
      readable({ export: row.id, part: undefined }, () => exportOf(row, byExport.get(row.id) ?? []))
    ),
    unreadable
  }
}

/** `running` or `waiting` while a part is; otherwise `failed` if a part has failed. */
const stateOf = (parts: ReadonlyArray<PartStatus>): State => {
  const states = new Set(parts.map(({ state }) => state))
  if (states.has("running") || (states.has("waiting") && states.size > 1)) return "running"
  return states.has("waiting") ? "waiting" : states.has("failed") ? "failed" : "done"
}
