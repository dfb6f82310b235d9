/**
 * Sinks of formats that cannot grow page by page: rows are spooled as compressed JSON Lines, resumable like any other, and
 * converted when all are there. The result exists as a whole or not at all.
 */
import * as Effect from "effect/Effect"
import * as disk from "../files/Disk.ts"
import { linesOf } from "../files/Lines.ts"
import type { FileSink, Output } from "../folders/Sink.ts"
import type { Table } from "../rows/Table.ts"
import * as Files from "./Files.ts"

/** The spooled rows of a table, or the partial errors. */
export interface Spooled {
  /** `items`, `outcomes`, `errors`, or a bucket of `includes`. */
  readonly holds: string
  readonly rows: number
  /** `undefined` for errors, which have no columns. */
  readonly table: Table | undefined
  /** Several at a time. */
  readonly lines: () => AsyncGenerator<ReadonlyArray<object>>
}

/** A sink that converts its spools into files in the folder. Files that a crash has left incomplete are written again. */
export const make = (
  path: string,
  name: string,
  layOut: (spools: ReadonlyArray<Spooled>, folder: string) => Promise<ReadonlyArray<Output>>
): FileSink => {
  const format: Files.Format = { name, extension: ".spool", encoder: () => ({ header: "", rows: Files.lines }) }
  return {
    format: name,
    path,
    open: Effect.fnUntraced(function*(job, folder) {
      const writer = yield* Files.open(job, folder, format, "spool")
      return {
        get progress() {
          return writer.progress
        },
        write: writer.write,
        commit: writer.commit,
        size: writer.size,
        finish: Effect.gen(function*() {
          const spools = yield* writer.finish
          yield* Effect.forEach(spools, ({ path, sha256 }) => disk.digest(path, sha256), { discard: true })
          return yield* disk.attempt(folder, () =>
            layOut(
              spools.map(({ holds, path, rows }) => ({
                holds,
                rows,
                table: holds === "errors" ? undefined : Files.tableOf(job, holds, holds),
                lines: () => objectsIn(path)
              })),
              folder
            ))
        })
      }
    })
  }
}

async function* objectsIn(path: string): AsyncGenerator<ReadonlyArray<object>> {
  for await (const lines of linesOf(path)) yield lines.map((line): object => JSON.parse(line))
}
