/**
 * Brings a copy up to date: reads what is new in each source, and then the authors and the posts that the copy refers to and does
 * not have. A run that is killed, stopped or out of budget is continued by the next one.
 *
 * ```ts
 * const { added, status } = yield* Sync.run({ sources: [{ kind: "bookmarks" }, { kind: "posts", of: "@ada" }] })
 * ```
 */
import "@postwire/core/runtime/SupportedNode"
import { Client } from "@postwire/core/client/Client"
import { type AnyError, Forbidden, NotFound, SpendLimitReached } from "@postwire/core/errors/Errors"
import type { ExportError } from "@postwire/export/files/ExportErrors"
import * as Counted from "@postwire/export/sources/Counted"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Copy from "../copy/Copy.ts"
import { type CopyUnusable, SubjectUnavailable, type SyncRunning } from "../copy/CopyErrors.ts"
import * as Status from "../copy/Status.ts"
import * as Media from "../media/Media.ts"
import { type Kind, kinds } from "../sources/Kinds.ts"
import { type Deletions, millisOf, nameOf, type Source } from "../sources/SyncFile.ts"
import * as budget from "./Budget.ts"
import * as completion from "./Completion.ts"
import * as deletion from "./Deletions.ts"
import { type Due, dueOf, type Identify, identify, isPaged, turnsOf } from "./Due.ts"
import * as lookups from "./Lookups.ts"
import * as runs from "./Runs.ts"
import * as windows from "./Window.ts"

/** The sources of a run, and its settings. */
export interface Options {
  readonly sources: ReadonlyArray<Source>
  /** How to find out what is gone. Default: only what the run meets. */
  readonly deletions?: Deletions | undefined
  /** When it completes, the run ends as `interrupted`. Pages that have come are kept. */
  readonly stop?: Effect.Effect<unknown> | undefined
  /** True to read with OAuth 1.0a, false (the default) with the user's bearer token. */
  readonly userAuth?: boolean | undefined
  /** Subjects that are read at the same time. Default 4. */
  readonly concurrency?: number | undefined
  /** Called after every page, once it is in the copy. */
  readonly onPage?: ((report: Report) => Effect.Effect<void>) | undefined
}

/** The report of a page. */
export interface Report {
  readonly source: string
  readonly subject: string
  readonly items: number
  /** The totals of the run. */
  readonly totals: runs.Totals
}

/** A subject that could not be read, although others could. */
export interface Problem {
  readonly source: string
  readonly subject: string
  readonly reason: string
}

/** How a run ended. */
export interface Summary extends runs.Totals {
  /**
   * `done`: everything is up to date. `partial`: everything but the subjects among `problems`. `budget`: the next request might
   * have passed a spending limit. `interrupted`: stopped on request.
   */
  readonly status: "done" | "partial" | "budget" | "interrupted"
  readonly problems: ReadonlyArray<Problem>
  /** The posts and users that were found to be gone, by reason. */
  readonly gone: Status.GoneCounts
}

/** The errors of a run. */
export type SyncError = AnyError | ExportError | SqlError | SyncRunning | SubjectUnavailable | CopyUnusable

/** Runs a sync. Others into the same copy are refused meanwhile. */
export const run = (options: Options): Effect.Effect<Summary, SyncError, Client | Copy.Current> =>
  Effect.scoped(running(options))

const running = Effect.fnUntraced(function*(
  { concurrency = 4, deletions, onPage = () => Effect.void, sources, stop = Effect.never, userAuth = false }: Options
): Effect.fn.Return<Summary, SyncError, Client | Copy.Current | Scope.Scope> {
  const copy = yield* Copy.hold(yield* Copy.Current)
  const totals: Counted.Counts & { items: number; added: number; changed: number } = {
    requests: 0,
    spent: undefined,
    items: 0,
    added: 0,
    changed: 0
  }
  const client = Counted.of(yield* Client, totals)
  const before = yield* Copy.lastCommit(copy)
  const recorded = yield* runs.begin(copy)
  const problems: Array<Problem> = []
  const report = (source: string, subject: string) => (page: windows.PageReport) => {
    totals.items += page.items
    totals.added += page.added
    totals.changed += page.changed
    // A killed run, too, has what it spent.
    return Effect.andThen(
      runs.note(recorded, totals),
      onPage({ source, subject, items: page.items, totals: { ...totals } })
    )
  }
  const problem = (source: string, subject: string) => ({ message }: { readonly message: string }) =>
    Effect.sync(() => void problems.push({ source, subject, reason: message }))
  const idOf = yield* identify(copy, userAuth)
  let isOverBudget = false
  const over = () => Effect.sync(() => void (isOverBudget = true))
  const all = Effect.gen(function*() {
    const readOne = (due: Due) => {
      const name = nameOf(due.source)
      const onProblem = problem(name, due.subject)
      return read({ copy, userAuth, idOf, onPage: report(name, due.subject), onProblem }, due).pipe(
        // Others may cost less, and what they have requested is paid for.
        Effect.catchIf(budget.isUsedUp, over),
        Effect.catchIf(isOfSubject, onProblem)
      )
    }
    for (const turn of turnsOf(yield* dueOf(copy, sources))) yield* Effect.forEach(turn, readOne, { concurrency })
    if (!isOverBudget) {
      yield* completion.run(copy, userAuth, report("authors and references", "")).pipe(
        Effect.catchIf(budget.isUsedUp, over)
      )
    }
    // Checks by jobs are free.
    if (deletions !== undefined) {
      yield* deletion.run(copy, deletions, userAuth).pipe(
        Effect.catchIf(budget.isUsedUp, over),
        Effect.catchIf((error) => !isSqlError(error), problem("deletions", ""))
      )
    }
    yield* Media.removeUnreferred(copy)
    return isOverBudget ? "budget" as const : "done" as const
  })
  const status = yield* Effect.raceFirst(all, Effect.as(stop, "interrupted" as const)).pipe(
    Effect.provideService(Client, client),
    Effect.tapError(({ message }) => Effect.ignore(runs.end(recorded, totals, "failed", message))),
    Effect.onInterrupt(() => Effect.ignore(runs.end(recorded, totals, "interrupted")))
  )
  const ended = status === "done" && problems.length > 0 ? "partial" : status
  yield* runs.end(recorded, totals, ended, problems[0]?.reason)
  return { ...totals, status: ended, problems, gone: yield* Status.goneIn(copy, before) }
})

const isOfSubject = (error: SyncError): error is NotFound | Forbidden | SubjectUnavailable | SpendLimitReached =>
  error instanceof NotFound || error instanceof SubjectUnavailable ||
  (error instanceof SpendLimitReached && error.needed === Infinity) ||
  (error instanceof Forbidden &&
    !/\/(client-forbidden|usage-capped|unsupported-authentication)$/.test(error.type ?? ""))

/** The size of pages when the rest of a budget is small: every list accepts it. */
const smallPage = 10

/** The copy and the account of a run, and the reports about a subject. */
interface Scene {
  readonly copy: Copy.Copy
  readonly userAuth: boolean
  readonly idOf: Identify
  readonly onPage: lookups.Scene["onPage"]
  readonly onProblem: (problem: { readonly message: string }) => Effect.Effect<void>
}

/** Reads a subject: the window that was left open, and then what is new. */
const read = Effect.fnUntraced(function*(
  { copy, idOf, onPage, onProblem, userAuth }: Scene,
  { source, state, subject }: Due
): Effect.fn.Return<void, Exclude<SyncError, SyncRunning | CopyUnusable>, Client> {
  const scene = (id: string) => ({ copy, id, userAuth, onPage })
  if (!isPaged(source.kind)) {
    const id = state.id ?? (yield* idOf("users", subject))
    yield* lookups.lookups[source.kind](scene(id))
    const doneAt = yield* Clock.currentTimeMillis
    const progress = windows.progressOf({ source: nameOf(source), subject }, { id, doneAt })
    return yield* Effect.asVoid(Copy.write(copy, { objects: {}, progress }))
  }
  const kind: Kind = kinds[source.kind]
  const id = state.id ?? (yield* idOf(kind.of, subject))
  const full = source.full === undefined ? windows.defaultFull : millisOf(source.full)
  const own = (state: windows.State): windows.Subject => ({
    source: nameOf(source),
    kind,
    subject,
    id,
    state: { ...state, id },
    userAuth
  })
  const window = yield* windows.open(copy, own(state), full)
  const whole = (state: windows.State, window: windows.Open) =>
    windows.read(copy, own(state), window, onPage).pipe(
      // The largest page might cost more than is left; the least one may not.
      Effect.catchIf(budget.isUsedUp, () =>
        Effect.flatMap(Copy.progressOf(copy, nameOf(source)), (known) => {
          const now = windows.stateOf(known.get(subject))
          return windows.read(copy, own(now), now.window ?? window, onPage, smallPage)
        }))
    )
  // Before the list, whose window says afterwards that both were read.
  if (source.kind === "bookmarks" && window.isFull && window.cursor === undefined) {
    yield* lookups.lookups.folders(scene(id))
  }
  const after = yield* whole(state, window).pipe(
    // The service no longer knows the page where an earlier run was stopped, or the item after which it listed.
    Effect.catchIf(
      (error) => error._tag === "BadRequest" && state.window !== undefined,
      () => {
        const { window: _, ...closed } = state
        return Effect.flatMap(
          windows.open(copy, own(closed), full),
          (opened) => whole(closed, opened.isFull ? opened : { ...opened, after: window.after })
        )
      }
    )
  )
  const missed = windows.missed(kind, state, yield* Clock.currentTimeMillis)
  if (missed !== undefined) yield* onProblem(missed)
  if (state.window === undefined) return
  yield* whole(after, yield* windows.open(copy, own(after), full))
})
