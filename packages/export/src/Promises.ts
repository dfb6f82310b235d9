/**
 * Exports with Promises. The export uses the connections, limits and account of the program's client, which
 * `createClient` of `@postwire/node/EffectClient` makes.
 *
 * ```ts
 * await using client = createClient({ bearerToken })
 * const posts = Source.make(searchRecentPosts, { query: "effect" })
 * const { status, progress } = await exportTo(client, posts, { sink: JsonLines.make("effect.jsonl"), mode: "resume" })
 * ```
 */
import type { EffectAccess } from "@postwire/core/promise/PromiseClient"
import * as Effect from "effect/Effect"
import * as Export from "./Export.ts"
import { aborted } from "./files/Aborted.ts"
import * as Rows from "./rows/Rows.ts"
import type { Source } from "./sources/Source.ts"

/** The part of a client that an export uses. */
export interface Client {
  readonly effect: EffectAccess
}

/** How to run an export. */
export interface Options extends Pick<Export.Options, "sink" | "mode" | "limit" | "account"> {
  /** Called after every page, once it is written; a kill within a fifth of a second may lose it. A Promise is awaited. */
  readonly onPage?: ((report: Export.Report) => unknown) | undefined
  /** Stops the export after the current page: it resolves as `interrupted`, and the same call with `resume` continues. */
  readonly signal?: AbortSignal | undefined
}

/** Runs an export. Rejects with the errors of the calls and of the files (`ExportErrors`). */
export const exportTo = <E extends Error = never>(
  client: Client,
  source: Source<E>,
  options: Options
): Promise<Export.Summary> => client.effect.runPromise(run(source, options))

/**
 * Exports a file of rows, which is checked first: `sourceOf` turns it into timelines or searches (`Each`), or into the posts or
 * users with its ids (`Hydration`).
 *
 * ```ts
 * await exportRows(client, "users.csv", { kind: Rows.users }, (rows) => Each.make(getUsersPosts, rows), { sink })
 * ```
 */
export const exportRows = <E extends Error = never>(
  client: Client,
  path: string,
  options: Rows.Options,
  sourceOf: (rows: Rows.Rows) => Source<E>,
  how: Options
): Promise<Export.Summary> =>
  client.effect.runPromise(
    Effect.scoped(Effect.flatMap(Rows.open(path, options), (rows) => run(sourceOf(rows), how)))
  )

const run = <E extends Error>(source: Source<E>, { onPage, signal, ...options }: Options) =>
  Export.run(source, {
    ...options,
    onPage: onPage && ((report) => Effect.promise(async () => await onPage(report))),
    stop: signal && aborted(signal)
  })
