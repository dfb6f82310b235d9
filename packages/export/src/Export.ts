/**
 * An export writes the pages of a source into a sink and commits them with the progress after them. After a failure, a full disk
 * or `kill -9`, the next run with `resume` continues from the last commit, and the result is that of a single run.
 *
 * ```ts
 * const posts = Source.make(searchRecentPosts, { query: "effect", post_fields: ["created_at"] })
 * const { status, progress } = yield* Export.run(posts, { sink: JsonLines.make("effect.jsonl"), mode: "resume" })
 * ```
 */
import "@postwire/core/runtime/SupportedNode"
import { Client } from "@postwire/core/client/Client"
import { type AnyError, invalidParameter } from "@postwire/core/errors/Errors"
import * as Metrics from "@postwire/core/runtime/Metrics"
import type { RateLimitInfo } from "@postwire/core/schema/RateLimitHeaders"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { ExportError } from "./files/ExportErrors.ts"
import * as Checkpoint from "./folders/Checkpoint.ts"
import * as Manifest from "./folders/Manifest.ts"
import type { Mode, Output, Sink, Writer } from "./folders/Sink.ts"
import * as workspace from "./folders/Workspace.ts"
import * as FullText from "./rows/FullText.ts"
import { sumOf } from "./rows/Page.ts"
import * as Table from "./rows/Table.ts"
import * as Counted from "./sources/Counted.ts"
import * as earlyEnd from "./sources/EarlyEnd.ts"
import * as reach from "./sources/Reach.ts"
import type { Outcome, Page, Source } from "./sources/Source.ts"

/** How to run an export. */
export interface Options<out S = never> {
  readonly sink: Sink
  /** How to treat existing files. Default `new`: refuse. */
  readonly mode?: Mode | undefined
  /** The number of items at which the export is complete. Default: all items. */
  readonly limit?: number | undefined
  /**
   * A name for the account that reads. Default: a hash of the credential, so that another credential cannot continue the
   * export. Set it where tokens change, as those of OAuth 2.0 users do.
   */
  readonly account?: string | undefined
  /**
   * Writes the whole text of long posts into `text`, and no `note_post`, which the source has to request among its `post_fields`.
   * Default false: as the service sends them.
   */
  readonly fullText?: boolean | undefined
  /** When it completes, the current page is finished and the export ends as `interrupted`. */
  readonly stop?: Effect.Effect<unknown> | undefined
  /** How long the current page may take then. Default 5 seconds. */
  readonly grace?: Duration.Input | undefined
  /**
   * Called with the progress before the first request, once all local checks have passed. A failure ends the export.
   */
  readonly onStart?: ((progress: Checkpoint.Progress) => Effect.Effect<unknown, S>) | undefined
  /** Called after every page, once it is written; a kill within a fifth of a second may lose it. */
  readonly onPage?: ((report: Report) => Effect.Effect<unknown>) | undefined
}

/** The report of a page. */
export interface Report {
  readonly progress: Checkpoint.Progress
  /** The number of items on the page. */
  readonly pageItems: number
  /** The partial errors on the page. */
  readonly problems: ReadonlyArray<object>
  readonly rateLimit: RateLimitInfo | undefined
}

/** How an export ended. */
export interface Summary {
  /**
   * `done`: complete, but for malformed members (`progress.anomalies`). `partial`: complete, but the service reported errors
   * for parts of it. `interrupted`: stopped on request.
   */
  readonly status: "done" | "partial" | "interrupted"
  readonly progress: Checkpoint.Progress
  readonly files: Manifest.Manifest["files"]
}

/**
 * Runs an export until it is complete or stopped. After a failure the fetched pages stay, as of the last checkpoint; an older
 * result is replaced when the new one is complete.
 */
export const run = <E extends Error = never, S = never>(
  source: Source<E>,
  options: Options<S>
): Effect.Effect<Summary, AnyError | ExportError | E | S, Client> => Effect.scoped(runScoped(source, options))

const runScoped = Effect.fnUntraced(function*<E extends Error, S>(
  source: Source<E>,
  options: Options<S>
): Effect.fn.Return<Summary, AnyError | ExportError | E | S, Client | Scope.Scope> {
  const { account, fullText = false, limit, sink } = options
  if (fullText && !FullText.isRequested(source.parameters)) {
    const rule = "must have note_post, to write full texts"
    return yield* invalidParameter(source.definition.name, "post_fields", rule, source.parameters["post_fields"])
  }
  const own = yield* Checkpoint.fingerprint({ source, format: sink.format, limit, account })
  const fingerprint = fullText ? { ...own, text: "full" } : own
  const opened = yield* open(source, options, fingerprint)
  if ("status" in opened) return opened
  const exporting = new Exporting(source, options, fingerprint, opened)
  const isStopped = yield* exporting.start
  if (!isStopped && !exporting.progress.complete) yield* exporting.fetch
  return yield* exporting.end
})

/** Opens the sink. Returns the summary of an export that is complete already. */
const open = Effect.fnUntraced(function*(
  source: Source<Error>,
  { fullText = false, mode = "new", sink }: Options<unknown>,
  fingerprint: Checkpoint.Fingerprint
): Effect.fn.Return<Summary | Writer, ExportError, Scope.Scope> {
  const shown = fullText ? FullText.joinedTable : (table: Table.Table) => table
  const items = Table.marked(Table.items(source.definition, source.parameters), source.marks)
  const job = {
    fingerprint,
    start: Checkpoint.start(yield* now),
    items: shown(source.isRepeated === true ? { ...items, key: undefined } : items),
    included: (bucket: string) => shown(Table.included(bucket, source.parameters)),
    ...(source.hasOutcomes === true ? { outcomes: Table.outcomes } : {}),
    expected: Table.expected(source.definition, source.parameters)
  }
  if (sink.path === undefined) return yield* sink.open(job)
  const complete = yield* workspace.open(sink.path, mode)
  if (complete === undefined) return yield* sink.open(job, workspace.workOf(sink.path))
  yield* Checkpoint.assertSame(sink.path, complete.fingerprint, fingerprint)
  const { files, progress, status } = complete
  return { status: status === "partial" ? status : "done", progress, files }
})

/**
 * The least time between two commits. A commit takes some 10 ms, in which five files and folders are forced to the disk: at most a
 * twentieth of the time. Pages that come more slowly are committed one by one; faster ones, together. A kill costs the pages of
 * this time, which are requested again.
 */
const commitInterval = Duration.millis(200)

/** One run of an export. */
class Exporting<E extends Error, S> {
  readonly #source: Source<E>
  readonly #options: Options<S>
  readonly #fingerprint: Checkpoint.Fingerprint
  readonly #writer: Writer
  /** After the last page written. */
  #progress: Checkpoint.Progress
  /** After the last page committed. */
  #committed: Checkpoint.Progress
  /** Open while a page is not committed. */
  readonly #isWritten = Latch.makeUnsafe()
  /** The writer does one thing at a time. */
  readonly #turn = Semaphore.makeUnsafe(1)
  /** Kept apart from `#progress`: some requests are sent while a page is written. */
  readonly #counts: Counted.Counts
  #isStopped = false

  constructor(source: Source<E>, options: Options<S>, fingerprint: Checkpoint.Fingerprint, writer: Writer) {
    this.#source = source
    this.#options = options
    this.#fingerprint = fingerprint
    this.#writer = writer
    this.#progress = { ...writer.progress, runs: writer.progress.runs + 1 }
    this.#committed = this.#progress
    this.#counts = { requests: writer.progress.requests, spent: writer.progress.spent }
  }

  get progress(): Checkpoint.Progress {
    return this.#progress
  }

  /**
   * Calls `onStart`, and returns true if the export is stopped meanwhile. If it fails or is interrupted before the first page,
   * nothing is left on the disk.
   */
  get start(): Effect.Effect<boolean, S> {
    const { onStart = () => Effect.void, stop = Effect.never } = this.#options
    return onStart(this.#progress).pipe(
      Effect.as(false),
      Effect.raceFirst(Effect.as(stop, true)),
      Effect.onError(() => Effect.ignore(this.#abandon))
    )
  }

  /** Removes an export without pages; returns false if there is something to resume. */
  get #abandon(): Effect.Effect<boolean, ExportError> {
    return Effect.gen({ self: this }, function*() {
      const { path } = this.#options.sink
      if (path === undefined || !(yield* this.#isNothing)) return false
      yield* workspace.abandon(path)
      return true
    })
  }

  /** Fetches pages until the source ends, the limit is reached or the export is stopped. */
  get fetch(): Effect.Effect<void, AnyError | ExportError | E, Client> {
    const { limit = Infinity } = this.#options
    const { cursor, items } = this.#progress
    const leave = (reason: string) =>
      Effect.gen({ self: this }, function*() {
        if (!(yield* this.#abandon)) yield* this.#leave("failed", reason)
      })
    const joined = this.#options.fullText === true ? FullText.joiner(this.#source.parameters) : (page: Page) => page
    return Effect.flatMap(Client, (client) =>
      this.#source.pages(cursor, { limit: limit - items, prefetch: 1 }).pipe(
        // A page that has come is written, even when the export is stopped meanwhile.
        Stream.runForEachWhile((page) => Effect.uninterruptible(this.#write(joined(page)))),
        Effect.raceFirst(this.#stop),
        Effect.raceFirst(this.#committing),
        Effect.provideService(Client, Counted.of(client, this.#counts)),
        Effect.andThen(this.#commit),
        // The failure itself matters more than one of recording it.
        Effect.onError(() => Effect.ignore(this.#commit)),
        Effect.tapError(({ message }) => Effect.ignore(leave(message)))
      ))
  }

  /** Publishes a complete export, and records the state of one that was stopped. */
  get end(): Effect.Effect<Summary, ExportError> {
    return Effect.gen({ self: this }, function*() {
      const { sink } = this.#options
      const progress: Checkpoint.Progress = { ...this.#progress, ...this.#counted }
      if (!progress.complete) {
        // Stopped before anything was requested, it leaves nothing.
        if (this.#counts.requests > 0 || !(yield* this.#abandon)) yield* this.#leave("interrupted")
        return { status: "interrupted", progress, files: [] }
      }
      const outputs = yield* this.#writer.finish
      const status = progress.errors === 0 ? "done" : "partial"
      const manifest = yield* this.#manifest(status, outputs)
      const items = outputs.find(({ holds }) => holds === "items")
      if (sink.path !== undefined && items !== undefined) yield* workspace.publish(sink.path, items.path, manifest)
      return { status, progress, files: manifest.files }
    })
  }

  get #counted(): Pick<Checkpoint.Progress, "requests" | "spent"> {
    const { requests, spent } = this.#counts
    return { requests, ...spent !== undefined && { spent } }
  }

  /** Commits pages when they come, but no more often than the interval allows. */
  get #committing(): Effect.Effect<never, ExportError> {
    return this.#isWritten.await.pipe(
      Effect.andThen(this.#commit),
      Effect.andThen(Effect.sleep(commitInterval)),
      Effect.forever
    )
  }

  /** Commits the pages written so far. */
  get #commit(): Effect.Effect<void, ExportError> {
    return Effect.suspend(() => {
      const progress = this.#progress
      if (progress === this.#committed) return Effect.void
      return Effect.tap(this.#writer.commit, () => {
        this.#committed = progress
        return this.#isWritten.close
      })
    }).pipe(this.#turn.withPermit, Effect.uninterruptible)
  }

  /** Checks whether there is nothing to resume. */
  get #isNothing(): Effect.Effect<boolean> {
    return Effect.gen({ self: this }, function*() {
      const { pages, runs } = this.#committed
      return pages === 0 && runs === 1 && !(yield* this.#source.hasKept ?? no)
    })
  }

  get #stop(): Effect.Effect<void> {
    return (this.#options.stop ?? Effect.never).pipe(
      Effect.andThen(Effect.sync(() => this.#isStopped = true)),
      Effect.andThen(Effect.sleep(this.#options.grace ?? Duration.seconds(5)))
    )
  }

  /** Writes a page and the progress after it; returns whether more pages are wanted. */
  #write(page: Page): Effect.Effect<boolean, ExportError> {
    return Effect.gen({ self: this }, function*() {
      const { limit = Infinity, onPage } = this.#options
      // A source may ignore the limit.
      const items = page.items.slice(0, limit - this.#progress.items)
      this.#counts.requests += page.requests ?? 0
      if (page.spent !== undefined) this.#counts.spent = (this.#counts.spent ?? 0) + page.spent
      const complete = page.next === undefined || this.#progress.items + items.length >= limit
      const next = { ...after(this.#progress, { ...page, items }), complete, ...this.#counted }
      const progress = complete || page.next === undefined ? next : { ...next, cursor: page.next }
      yield* this.#turn.withPermit(
        Effect.map(this.#writer.write({ ...page, items }, progress), (written) => this.#progress = written)
      )
      const operation = { "postwire.operation": this.#source.definition.name }
      yield* Metric.update(Metrics.exportPages.of(operation), 1)
      yield* Metric.update(Metrics.exportItems.of(operation), items.length)
      yield* this.#isWritten.open
      if (onPage !== undefined) {
        const { errors: problems, rateLimit } = page
        yield* onPage({ progress: this.#progress, pageItems: items.length, problems, rateLimit })
      }
      return !(complete || this.#isStopped)
    })
  }

  #manifest(
    status: Manifest.Manifest["status"],
    outputs: ReadonlyArray<Output>,
    reason?: string
  ): Effect.Effect<Manifest.Manifest, ExportError> {
    return Effect.flatMap(now, (endedAt) =>
      Manifest.make({
        status,
        ...(reason === undefined ? {} : { reason }),
        fingerprint: this.#fingerprint,
        progress: { ...this.#committed, ...this.#counted },
        endedAt,
        outputs: outputs.map((output) => ({
          ...output,
          name: workspace.nameOf(this.#options.sink.path ?? "", output)
        }))
      }))
  }

  /** Records beside the fetched pages why the export is not complete. */
  #leave(status: "interrupted" | "failed", reason?: string): Effect.Effect<void, ExportError> {
    const { path } = this.#options.sink
    return Effect.flatMap(
      this.#manifest(status, [], reason),
      (manifest) => path === undefined ? Effect.void : workspace.leave(path, manifest)
    )
  }
}

const no = Effect.succeed(false)

const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis).toISOString())

/** The progress after a page, but for its cursor. */
const after = ({ cursor: _, ...last }: Checkpoint.Progress, page: Page): Omit<Checkpoint.Progress, "cursor"> => {
  const oldest = oldestOf(page.items) ?? last.oldest
  const anomalies = sumOf(last.anomalies, page.anomalies)
  const outcomes = page.outcomes && sumOf(last.outcomes, countsOf(page.outcomes))
  const outOfReach = spanOf(page.errors.filter(reach.isLost), last.outOfReach)
  return {
    ...last,
    ...(oldest === undefined ? {} : { oldest }),
    ...(outOfReach === undefined ? {} : { outOfReach }),
    ...(page.errors.some(earlyEnd.isEnded) ? { endedEarly: true } : {}),
    ...(anomalies === undefined ? {} : { anomalies }),
    ...(outcomes === undefined ? {} : { outcomes }),
    items: last.items + page.items.length,
    errors: last.errors + page.errors.length,
    pages: last.pages + 1
  }
}

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
