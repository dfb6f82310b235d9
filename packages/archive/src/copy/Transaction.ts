/** The database of a copy, and a transaction in it. */
import type { SqlClient } from "effect/sql/SqlClient"
import type { Dialect } from "./Layout.ts"

/** The database of a copy. */
export interface Copy {
  readonly sql: SqlClient
  readonly dialect: Dialect
  /** The file or the database, for messages. */
  readonly where: string
  /** The holder in PostgreSQL, whose transactions fail once another holds the copy. */
  readonly holder?: string | undefined
}

/** A transaction that writes. */
export interface Writing extends Copy {
  /** Its number and its time. */
  readonly commit: number
  readonly at: string
  /** True if texts may be cut. */
  readonly isPreview: boolean
  /** True if known values stay. */
  readonly isArchived: boolean
}
