/**
 * The destination of pages. A sink commits pages together with the progress after them: a crash leaves both or neither, so no row
 * is torn, lost or written twice.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ExportError } from "../files/ExportErrors.ts"
import type { Table } from "../rows/Table.ts"
import type { Page } from "../sources/Source.ts"
import type { Fingerprint, Progress } from "./Checkpoint.ts"

/** How to treat existing files: `new` refuses them, `resume` continues them, `force` replaces them at the end. */
export type Mode = "new" | "resume" | "force"

/** How to open a sink. */
export interface Job {
  readonly fingerprint: Fingerprint
  /** The progress to start with if there is none. */
  readonly start: Progress
  readonly items: Table
  /** The table of a bucket of `includes`. */
  readonly included: (bucket: string) => Table
  /** The table of the rows' outcomes, for sources that have them. */
  readonly outcomes?: Table | undefined
  /** The buckets that the query can return. */
  readonly expected: ReadonlyArray<string>
}

/** A completed file that is not yet in its place. */
export interface Output {
  /** In the folder of the sink. */
  readonly path: string
  /** The contents: `items`, `outcomes`, `errors`, or a bucket of `includes`. */
  readonly holds: string
  readonly rows: number
  /** The digest, where the sink knows it: a file with another one is refused. */
  readonly sha256?: string
}

/** An open sink. After a failure, only `commit` may be tried. */
export interface Writer {
  /** The progress of the export, after the last page written. */
  readonly progress: Progress
  /** Takes a page and the progress after it. Returns that progress with the counts of the sink (`included`). */
  readonly write: (page: Page, progress: Progress) => Effect.Effect<Progress, ExportError>
  /** Forces the pages written so far to the disk, with the progress after them. */
  readonly commit: Effect.Effect<void, ExportError>
  /** The size of the file of items, in bytes; in formats written at the end, the size of the data kept until then. */
  readonly size: () => number
  /** Completes the files. May be called again after a crash. */
  readonly finish: Effect.Effect<ReadonlyArray<Output>, ExportError>
}

/** A sink of files. It works in a folder of its own; completed files are moved from there to their places. */
export interface FileSink {
  /** For the fingerprint: sinks of the same format write the same bytes. */
  readonly format: string
  /** The output file. */
  readonly path: string
  /** The file of the items in the folder, if it is well-formed after every page. */
  readonly growing?: string | undefined
  /** Continues the state in the folder, or starts. The caller holds the folder's lock. */
  readonly open: (job: Job, folder: string) => Effect.Effect<Writer, ExportError, Scope.Scope>
}

/** A sink that keeps nothing to continue from. */
export interface StreamSink {
  readonly format: string
  readonly path: undefined
  readonly open: (job: Job) => Effect.Effect<Writer, ExportError, Scope.Scope>
}

/** The destination of an export. */
export type Sink = FileSink | StreamSink
