/** How exports and their parts stand. */
import type { Partition } from "@postwire/export/Partitions"
import type { Query } from "../Query.ts"

/** How far a part has come. */
export type State = "waiting" | "running" | "done" | "failed"

/** Names a part of an export. */
export interface PartKey {
  readonly export: string
  readonly part: number
}

/** A part to run, from where it stands. */
export interface Job extends PartKey {
  readonly query: Query
  /** What sets it apart from the other parts; nothing where there is but one. */
  readonly partition: Partition | undefined
  readonly cursor: Cursor
}

/** The place in the pages of a part. */
export interface Cursor {
  readonly pages: number
  /** Leads to the next page; none at the beginning. */
  readonly token: string | undefined
  readonly state: State
}

/** A part as it stands. Times are in milliseconds. */
export interface PartStatus extends PartKey {
  readonly partition: Partition | undefined
  readonly state: State
  readonly attempt: number
  readonly pages: number
  readonly items: number
  readonly errors: number
  /** Who worked on it last. */
  readonly worker: string | undefined
  readonly updated: number
  /** Why it failed, or why it does not get on. */
  readonly problem: string | undefined
}

/** An export as it stands. Times are in milliseconds. */
export interface ExportStatus {
  readonly id: string
  readonly query: Query
  /** How many parts were asked for. */
  readonly wanted: number
  readonly state: State | "planning"
  readonly attempt: number
  readonly created: number
  readonly updated: number
  readonly pages: number
  readonly items: number
  readonly errors: number
  /** Why it could not be planned. */
  readonly problem: string | undefined
  readonly parts: ReadonlyArray<PartStatus>
}
