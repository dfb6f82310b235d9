/**
 * Copies with Promises. A sync uses the connections, limits and account of the program's client, which `createClient` of
 * `@postwire/node/EffectClient` makes.
 *
 * ```ts
 * await using client = createClient()
 * const { added } = await syncTo(client, "own.sqlite", { sources: [{ kind: "posts" }, { kind: "bookmarks" }] })
 * for await (const { change, row } of changesIn("own.sqlite", 0)) console.log(change, row)
 * ```
 */
import type { EffectAccess } from "@postwire/core/promise/PromiseClient"
import { aborted } from "@postwire/export/files/Aborted"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Changes from "./copy/Changes.ts"
import * as Copy from "./copy/Copy.ts"
import * as Sync from "./sync/Sync.ts"

/** The part of a client that a sync uses. */
export interface Client {
  readonly effect: EffectAccess
}

/** The sources of a run, and its settings. */
export interface Options extends Pick<Sync.Options, "sources" | "deletions" | "userAuth" | "concurrency"> {
  /** Called after every page, once it is in the copy. A Promise is awaited. */
  readonly onPage?: ((report: Sync.Report) => unknown) | undefined
  /** Stops the run: it resolves as `interrupted`, and the next one continues. */
  readonly signal?: AbortSignal | undefined
}

/** Brings the copy in an SQLite file up to date. Rejects with the errors of the calls, of the file, and `SyncRunning`. */
export const syncTo = (client: Client, path: string, { onPage, signal, ...options }: Options): Promise<Sync.Summary> =>
  client.effect.runPromise(
    Sync.run({
      ...options,
      onPage: onPage && ((report) => Effect.promise(async () => await onPage(report))),
      stop: signal && aborted(signal)
    }).pipe(Effect.provide(Copy.layerSqlite(path)))
  )

/** The changes in the copy of an SQLite file since a transaction; 0 is before all. */
export const changesIn = (path: string, after: number): AsyncIterable<Changes.Change> =>
  Stream.toAsyncIterable(Stream.provide(Changes.since(after), Copy.layerSqlite(path)))
