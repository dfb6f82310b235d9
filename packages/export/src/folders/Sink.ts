/**
 * Where pages go. A sink commits a page and the progress after it together: after a crash both are there or neither is,
 * so no row is torn, lost or written twice.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ExportError } from "../files/ExportErrors.ts"
import type { Table } from "../rows/Table.ts"
import type { Page } from "../sources/Source.ts"
import type { Fingerprint, Progress } from "./Checkpoint.ts"

/** How to treat what is there: `new` refuses it, `resume` goes on from it, `force` replaces it at the end. */
export type Mode = "new" | "resume" | "force"

/** What a sink is opened for. */
export interface Job {
  readonly fingerprint: Fingerprint
  /** The progress to begin with, where there is none yet. */
  readonly start: Progress
  readonly items: Table
  /** The table of a bucket of `includes`. */
  readonly included: (bucket: string) => Table
  /** The table of what became of rows, where the source tells that. */
  readonly outcomes?: Table | undefined
  /** The buckets to expect. */
  readonly expected: ReadonlyArray<string>
}

/** A file of an export that is complete, but not yet where it belongs. */
export interface Output {
  /** Within the folder that the sink was opened with. */
  readonly path: string
  /** What is in it: `items`, `outcomes`, `errors`, or a bucket of `includes`. */
  readonly holds: string
  readonly rows: number
  /** What was written, where the sink knows: the file is refused when it holds something else. */
  readonly sha256?: string
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
  /** How long the file of the items is by now, in bytes; of a format that is laid out at the end, what is kept until then. */
  readonly size: () => number
  /** Completes the files. May be called again after a crash. */
  readonly finish: Effect.Effect<ReadonlyArray<Output>, ExportError>
}

/** A kind of file. It works in a folder of the export's own; what is complete is moved from there to its place. */
export interface FileSink {
  /** What is written, for the fingerprint: two sinks of one format write the same bytes. */
  readonly format: string
  /** Where the items go. */
  readonly path: string
  /** The file of the items within the folder, where it is whole after every page. */
  readonly growing?: string | undefined
  /** Goes on from what is in the folder, or begins. The folder is locked, and nobody else's. */
  readonly open: (job: Job, folder: string) => Effect.Effect<Writer, ExportError, Scope.Scope>
}

/** A place that keeps nothing, so that no export goes on from it. */
export interface StreamSink {
  readonly format: string
  readonly path: undefined
  readonly open: (job: Job) => Effect.Effect<Writer, ExportError, Scope.Scope>
}

/** Where an export goes. */
export type Sink = FileSink | StreamSink
