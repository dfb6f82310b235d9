/**
 * An export: pages of a source into a sink, each committed with the progress after it. Whatever ends a run (a failure, a
 * full disk, kill -9), the next one with `resume` goes on from the last page, and the result is that of a single run.
 *
 * ```ts
 * const posts = Source.make(searchRecentPosts, { query: "effect", post_fields: ["created_at"] })
 * const { status, progress } = yield* Export.run(posts, { sink: JsonLines.make("effect.jsonl"), mode: "resume" })
 * ```
 */
import "@postwire/core/runtime/SupportedNode"
import { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import type { RateLimitInfo } from "@postwire/core/schema/RateLimitHeaders"
import { microsOf } from "@postwire/core/spend/Prices"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { ExportError } from "./files/ExportErrors.ts"
import * as Checkpoint from "./folders/Checkpoint.ts"
import * as Manifest from "./folders/Manifest.ts"
import type { Mode, Output, Sink, Writer } from "./folders/Sink.ts"
import * as workspace from "./folders/Workspace.ts"
import { sumOf } from "./rows/Page.ts"
import * as Table from "./rows/Table.ts"
import * as reach from "./sources/Reach.ts"
import type { Outcome, Page, Source } from "./sources/Source.ts"

/** How to run an export. */
export interface Options<out S = never> {
  readonly sink: Sink
  /** What to do about files that are there already. Default `new`: refuse. */
  readonly mode?: Mode | undefined
  /** The number of items at which the export is complete. Default: all there are. */
  readonly limit?: number | undefined
  /**
   * Who reads, by a name of your own. Default: a hash of the credential, so that another one does not continue the
   * export. Give a name where tokens change, as those of OAuth 2.0 users do.
   */
  readonly account?: string | undefined
  /** When it completes, the page under way is finished and the export ends as `interrupted`. */
  readonly stop?: Effect.Effect<unknown> | undefined
  /** How long the page under way may take then. Default 5 seconds. */
  readonly grace?: Duration.Input | undefined
  /**
   * Called with how far it has come when nothing but the service can refuse the export any more, before the first request.
   * What it fails with ends the export.
   */
  readonly onStart?: ((progress: Checkpoint.Progress) => Effect.Effect<unknown, S>) | undefined
  /** Called after every page, once it is on the disk. */
  readonly onPage?: ((report: Report) => Effect.Effect<unknown>) | undefined
}

/** What an export tells of itself after a page. */
export interface Report {
  readonly progress: Checkpoint.Progress
  /** How many items the page has brought. */
  readonly pageItems: number
  /** The partial errors that it has brought. */
  readonly problems: ReadonlyArray<object>
  readonly rateLimit: RateLimitInfo | undefined
}

/** How an export ended. */
export interface Summary {
  /**
   * `done`: everything is there, but for malformed members (`progress.anomalies`). `partial`: everything that the service
   * gave, but it reported errors for parts of it. `interrupted`: stopped on request.
   */
  readonly status: "done" | "partial" | "interrupted"
  readonly progress: Checkpoint.Progress
  readonly files: Manifest.Manifest["files"]
}

/**
 * Runs an export to its end. A failure leaves what was fetched as the last checkpoint says, and an older result as it was:
 * the new one takes its place when it is complete.
 */
export const run = Effect.fnUntraced(function*<E extends Error = never, S = never>(
  source: Source<E>,
  options: Options<S>
): Effect.fn.Return<Summary, AnyError | ExportError | E | S, Client> {
  const { limit = Infinity, mode = "new", sink } = options
  const fingerprint = yield* Checkpoint.fingerprint({
    source,
    format: sink.format,
    limit: options.limit,
    account: options.account
  })
  return yield* Effect.scoped(
    Effect.gen(function*(): Effect.fn.Return<Summary, AnyError | ExportError | E | S, Client | Scope.Scope> {
      const job = {
        fingerprint,
        start: Checkpoint.start(yield* now),
        items: Table.marked(Table.items(source.definition, source.parameters), source.marks),
        included: (bucket: string) => Table.included(bucket, source.parameters),
        ...(source.hasOutcomes === true ? { outcomes: Table.outcomes } : {}),
        expected: Table.expected(source.definition, source.parameters)
      }
      let writer: Writer
      if (sink.path === undefined) writer = yield* sink.open(job)
      else {
        const standing = yield* workspace.open(sink.path, mode)
        if (standing._tag === "Complete") {
          const { files, progress, status, ...manifest } = standing.manifest
          yield* Checkpoint.assertSame(sink.path, manifest.fingerprint, fingerprint)
          return { status: status === "partial" ? status : "done", progress, files }
        }
        writer = yield* sink.open(job, standing.work)
      }
      let progress: Checkpoint.Progress = { ...writer.progress, runs: writer.progress.runs + 1 }
      // Apart, as some are sent while a page is written.
      let { requests, spent } = progress
      const counted = () => ({ requests, ...spent !== undefined && { spent } })
      const describe = Effect.fnUntraced(function*(
        status: Manifest.Manifest["status"],
        outputs: ReadonlyArray<Output>,
        reason?: string
      ) {
        return yield* Manifest.make({
          status,
          ...(reason === undefined ? {} : { reason }),
          fingerprint,
          progress: { ...progress, ...counted() },
          endedAt: yield* now,
          outputs: outputs.map((output) => ({ ...output, name: workspace.nameOf(sink.path ?? "", output) }))
        })
      })
      /** Tells beside what was fetched why there is no more of it. */
      const leave = Effect.fnUntraced(function*(status: "interrupted" | "failed", reason?: string) {
        const manifest = yield* describe(status, [], reason)
        if (sink.path !== undefined) yield* workspace.leave(sink.path, manifest)
      })

      let stopped = false
      const stop = (options.stop ?? Effect.never).pipe(
        Effect.andThen(Effect.sync(() => stopped = true)),
        Effect.andThen(Effect.sleep(options.grace ?? Duration.seconds(5)))
      )
      const commit = (page: Page) =>
        Effect.gen(function*() {
          // A source need not know of the limit.
          const items = page.items.slice(0, limit - progress.items)
          const { next: cursor, rateLimit } = page
          const { cursor: _, ...last } = progress
          const complete = cursor === undefined || progress.items + items.length >= limit
          const oldest = oldestOf(items) ?? last.oldest
          const anomalies = sumOf(last.anomalies, page.anomalies)
          const outcomes = page.outcomes && sumOf(last.outcomes, countsOf(page.outcomes))
          const outOfReach = spanOf(page.errors.filter(reach.isLost), last.outOfReach)
          requests += page.requests ?? 0
          if (page.spent !== undefined) spent = (spent ?? 0) + page.spent
          progress = yield* writer.commit({ ...page, items }, {
            ...last,
            ...(complete ? {} : { cursor }),
            ...(oldest === undefined ? {} : { oldest }),
            ...(outOfReach === undefined ? {} : { outOfReach }),
            ...(anomalies === undefined ? {} : { anomalies }),
            ...(outcomes === undefined ? {} : { outcomes }),
            complete,
            items: last.items + items.length,
            errors: last.errors + page.errors.length,
            pages: last.pages + 1,
            ...counted()
          })
          if (options.onPage !== undefined) {
            yield* options.onPage({ progress, pageItems: items.length, problems: page.errors, rateLimit })
          }
          return !(complete || stopped)
        })
      const client = yield* Client
      const counting = Client.of({
        ...client,
        request: (definition, parameters, options) =>
          Effect.suspend(() => {
            requests++
            return client.request(definition, parameters, options)
          }),
        read: (definition, response) =>
          Effect.map(client.read(definition, response), (answer) => {
            if (answer.cost !== undefined) spent = (spent ?? 0) + microsOf(answer.cost.dollars)
            return answer
          })
      })
      const isNothing = Effect.gen(function*() {
        return progress.pages === 0 && progress.runs === 1 && !(yield* source.hasKept ?? no)
      })
      if (options.onStart !== undefined) {
        yield* Effect.tapError(options.onStart(progress), () =>
          Effect.ignore(Effect.gen(function*() {
            if (sink.path !== undefined && (yield* isNothing)) yield* workspace.abandon(sink.path)
          })))
      }
      if (!progress.complete) {
        yield* source.pages(progress.cursor, { limit: limit - progress.items, prefetch: 1 }).pipe(
          // A page is kept whole once it has come.
          Stream.runForEachWhile((page) => Effect.uninterruptible(commit(page))),
          Effect.raceFirst(stop),
          Effect.provideService(Client, counting),
          // What it fails with is more telling than that this cannot be done either.
          Effect.tapError(({ message }) =>
            Effect.ignore(Effect.gen(function*() {
              yield* sink.path !== undefined && (yield* isNothing)
                ? workspace.abandon(sink.path)
                : leave("failed", message)
            }))
          )
        )
      }
      progress = { ...progress, ...counted() }
      if (!progress.complete) {
        yield* leave("interrupted")
        return { status: "interrupted", progress, files: [] }
      }
      const outputs = yield* writer.finish
      const status: Summary["status"] = progress.errors === 0 ? "done" : "partial"
      const manifest = yield* describe(status, outputs)
      const items = outputs.find(({ holds }) => holds === "items")
      if (sink.path !== undefined && items !== undefined) yield* workspace.publish(sink.path, items.path, manifest)
      return { status, progress, files: manifest.files }
    })
  )
})

const no = Effect.succeed(false)

const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis).toISOString())

/** How many there are of each. */
const countsOf = (outcomes: ReadonlyArray<Outcome>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { outcome } of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

type Span = NonNullable<Checkpoint.Progress["outOfReach"]>

const spanOf = (spans: ReadonlyArray<Span>, known: Span | undefined): Span | undefined =>
  spans.reduce<Span | undefined>(
    (all, { from, to }) =>
      all === undefined ? { from, to } : { from: from < all.from ? from : all.from, to: to > all.to ? to : all.to },
    known
  )

const oldestOf = (items: ReadonlyArray<object>): string | undefined => {
  const last = items.at(-1)
  return last !== undefined && "created_at" in last && typeof last.created_at === "string" ? last.created_at : undefined
}
