/** The state of exports and their parts. */
import type { Partition } from "@postwire/export/Partitions"
import type { Query } from "../Query.ts"

/** The state of a part. */
export type State = "waiting" | "running" | "done" | "failed"

/** The key of a part of an export. */
export interface PartKey {
  readonly export: string
  readonly part: number
}

/** A part to run, from its cursor. */
export interface Job extends PartKey {
  readonly query: Query
  /** Its partition; `undefined` if it is the only part. */
  readonly partition: Partition | undefined
  readonly cursor: Cursor
}

/** A position in the pages of a part. */
export interface Cursor {
  readonly pages: number
  /** The token of the next page; `undefined` at the beginning. */
  readonly token: string | undefined
  readonly state: State
}

/** The status of a part. Times are in milliseconds. */
export interface PartStatus extends PartKey {
  readonly partition: Partition | undefined
  readonly state: State
  readonly attempt: number
  readonly pages: number
  readonly items: number
  readonly errors: number
  /** The last worker. */
  readonly worker: string | undefined
  readonly updated: number
  /** The reason why it failed, or makes no progress. */
  readonly problem: string | undefined
}

/** A row of an export, or of one of its parts, that is not of this version or damaged. */
export interface UnreadableRow {
  readonly export: string
  /** `undefined` for the row of the export itself. */
  readonly part: number | undefined
  readonly reason: string
}

/** The exports and parts whose rows can be read, and those that cannot. */
export interface Overview {
  readonly exports: ReadonlyArray<ExportStatus>
  readonly unreadable: ReadonlyArray<UnreadableRow>
}

/** The status of an export. Times are in milliseconds. */
export interface ExportStatus {
  readonly id: string
  readonly query: Query
  /** The requested number of parts. */
  readonly wanted: number
  readonly state: State | "planning"
  readonly attempt: number
  readonly created: number
  readonly updated: number
  readonly pages: number
  readonly items: number
  readonly errors: number
  /** The reason why it could not be planned. */
  readonly problem: string | undefined
  readonly parts: ReadonlyArray<PartStatus>
}
