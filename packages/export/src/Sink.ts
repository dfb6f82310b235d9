/**
 * Where pages go. A sink commits a page and the progress after it together: after a crash both are there or neither is,
 * so no row is torn, lost or written twice.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Fingerprint, Progress } from "./Checkpoint.ts"
import type { ExportError } from "./ExportErrors.ts"
import type { Page } from "./Source.ts"
import type { Table } from "./Table.ts"

/** How to treat what is there: `new` refuses it, `resume` goes on from it, `force` removes it. */
export type Mode = "new" | "resume" | "force"

/** What a sink is opened for. */
export interface Job {
  readonly fingerprint: Fingerprint
  readonly mode: Mode
  /** The progress to begin with, where there is none yet. */
  readonly start: Progress
  readonly items: Table
  /** The table of a bucket of `includes`. */
  readonly included: (bucket: string) => Table
  /** The buckets to expect. */
  readonly expected: ReadonlyArray<string>
}

/** A file of an export. */
export interface Output {
  readonly path: string
  /** What is in it: `items`, `errors`, or a bucket of `includes`. */
  readonly holds: string
  readonly rows: number
}

/** An open sink. After a failure it is of no more use. */
export interface Writer {
  /** Where the export stands. */
  readonly progress: Progress
  /**
   * Writes a page; then the export stands at `progress`, to which the sink adds what it counts itself (`included`).
   * Returns the progress that it has kept.
   */
  readonly commit: (page: Page, progress: Progress) => Effect.Effect<Progress, ExportError>
  /** Completes the files. May be called again after a crash. */
  readonly finish: Effect.Effect<ReadonlyArray<Output>, ExportError>
  /** Removes what only an export that goes on needs. Last of all. */
  readonly discard: Effect.Effect<void, ExportError>
  /** Removes everything, for an export that ended before its first page. */
  readonly abandon: Effect.Effect<void, ExportError>
}

/** A kind of file, or another place. */
export interface Sink {
  /** What is written, for the fingerprint: two sinks of one format write the same bytes. */
  readonly format: string
  /** Where the manifest goes; nowhere for standard output. */
  readonly manifest: string | undefined
  readonly open: (job: Job) => Effect.Effect<Writer, ExportError, Scope.Scope>
}
