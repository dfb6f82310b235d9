/**
 * One window of a subject: from the newest item of the service down to those that are known. Each page is one transaction with the
 * place after it, so that a killed run continues there.
 */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import type { ExportError } from "@postwire/export/files/ExportErrors"
import * as FullText from "@postwire/export/rows/FullText"
import * as Source from "@postwire/export/sources/Source"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import * as Copy from "../copy/Copy.ts"
import { type SubjectUnavailable, unavailable } from "../copy/CopyErrors.ts"
import { of as tableOf } from "../copy/Tables.ts"
import { edgesOf, type Kind, parametersOf } from "../sources/Kinds.ts"
import { isDue } from "../sources/SyncFile.ts"
import * as gone from "./Gone.ts"

/** The progress of a subject. */
export const State = Schema.Struct({
  /** The id of the user that a name stands for. */
  id: Schema.optionalKey(Schema.String),
  /** The newest item, and when it was created. */
  newest: Schema.optionalKey(Schema.String),
  newestAt: Schema.optionalKey(Schema.String),
  /** The ends of the last window and of the last complete one, in milliseconds since the epoch. */
  doneAt: Schema.optionalKey(Schema.Finite),
  fullAt: Schema.optionalKey(Schema.Finite),
  /** How much the last window brought, and the time since the one before. */
  growth: Schema.optionalKey(Schema.Struct({ items: Schema.Int, millis: Schema.Finite })),
  /** The window that is open. */
  window: Schema.optionalKey(Schema.Struct({
    /** The last transaction before it. */
    after: Schema.Int,
    isFull: Schema.Boolean,
    /** Leads to the next page; absent at the beginning. */
    cursor: Schema.optionalKey(Schema.String),
    /** The id after which it lists. */
    since: Schema.optionalKey(Schema.String),
    /** The newest item so far. */
    newest: Schema.optionalKey(Schema.String),
    newestAt: Schema.optionalKey(Schema.String),
    /** The new items so far. */
    items: Schema.optionalKey(Schema.Int)
  }))
})

export interface State extends Schema.Schema.Type<typeof State> {}

export type Open = NonNullable<State["window"]>

/** A subject of a source, with the id that requests name. */
export interface Subject {
  readonly source: string
  readonly kind: Kind
  readonly subject: string
  readonly id: string
  readonly state: State
  readonly userAuth: boolean
}

/** The contents of a page. */
export interface PageReport {
  readonly items: number
  readonly added: number
  readonly changed: number
  readonly errors: ReadonlyArray<object>
}

const json = Schema.fromJsonString(State)

/** The state in a copy; that of the beginning if there is none. */
export const stateOf = (text: string | undefined): State =>
  Option.getOrElse(Schema.decodeUnknownOption(json)(text), (): State => ({}))

const textOf = Schema.encodeSync(json)

/** The progress with a state. */
export const progressOf = ({ source, subject }: Pick<Subject, "source" | "subject">, state: State): Copy.Progress => ({
  source,
  subject,
  state: textOf(state)
})

/** How often whole lists are read unless the source says. */
export const defaultFull = 7 * 86_400_000

/** A run that reads new items stops after this many known ones in a row. Some may have moved, as where a bookmark was renewed. */
export const knownInRow = 20

/** Opens a window, or continues the one that is open. */
export const open = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  { kind, state }: Pick<Subject, "kind" | "state">,
  fullEvery: number
): Effect.fn.Return<Open, SqlError> {
  if (state.window !== undefined) return state.window
  const now = yield* Clock.currentTimeMillis
  const isFull = state.fullAt === undefined || (kind.isSet !== false && isDue(state.fullAt, fullEvery, now))
  const after = yield* Copy.lastCommit(copy)
  const reach = reachOf(kind)
  const isReached = reach === Infinity || Date.parse(state.newestAt ?? "") > now - reach
  return {
    after,
    isFull: kind.how === "overlap" && isFull,
    ...kind.how === "since" && state.newest !== undefined && isReached ? { since: state.newest } : {}
  }
})

const day = 86_400_000

/** The service refuses an id that leaves its reach during the request. */
const reachMargin = 60_000

/** The time that the listing of a kind reaches back, in milliseconds, less the time until a request arrives. */
export const reachOf = ({ definition: { reach } }: Kind): number =>
  reach === undefined || reach.isDefault === true ? Infinity : reach.days * day - reachMargin

/** The items that the service may have ceased to list since the last complete window; `undefined` if there are none. */
export const missed = (
  kind: Kind,
  { doneAt = Infinity }: State,
  now: number
): { readonly message: string } | undefined =>
  doneAt >= now - reachOf(kind) ? undefined : {
    message: `It was last read on ${
      new Date(doneAt).toISOString().slice(0, 10)
    }, and the service lists only the last ${kind.definition.reach?.days} days: what came between may be missing`
  }

type WindowError = AnyError | ExportError | SqlError | SubjectUnavailable

/** Reads the rest of a window, with pages of `size` if it is given; returns the state after it. */
export const read = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  subject: Subject,
  opened: Open,
  onPage: (report: PageReport) => Effect.Effect<void, SqlError>,
  size?: number
): Effect.fn.Return<State, WindowError, Client> {
  const { id, kind } = subject
  const { edge } = kind
  const isPartial = kind.how === "overlap" && !opened.isFull
  const parameters = {
    ...parametersOf(kind, subject.userAuth),
    ...kind.of === "query" ? { query: subject.subject } : "id" in (kind.definition.path ?? {}) ? { id } : {},
    ...opened.since === undefined ? {} : { since_id: opened.since },
    // Known items are bought again: few of them come with the first new one.
    ...isPartial ? { max_results: knownInRow } : {},
    ...size === undefined ? {} : { max_results: size }
  }
  const joined = FullText.joiner(parameters)
  let window = opened
  let inRow = 0
  const { window: _, ...before } = subject.state
  const take = Effect.fnUntraced(function*(page: Source.Page) {
    const { errors, includes, items, next } = joined(page)
    // A list that is hidden is not an empty one.
    if (items.length === 0 && errors.length > 0) return yield* unavailable(subject.subject, errors)
    const objects = Object.fromEntries(
      Object.entries(includes).flatMap(([bucket, some]) => {
        const table = tableOf(bucket)
        return table === undefined ? [] : [[table.name, some]]
      })
    )
    const ids = items.map(idOf)
    window = { ...window, ...newestOf(window, items), items: (window.items ?? 0) + items.length }
    const isLast = next === undefined
    const place = isLast ? window : { ...window, cursor: next }
    // A page that was paid for is kept, even when the run is stopped meanwhile.
    const written = yield* Effect.uninterruptible(Copy.write(copy, {
      objects: { ...objects, [kind.table]: [...items, ...objects[kind.table] ?? []] },
      edges: edgesOf(kind, kind.of === "query" ? subject.source : id, ids),
      progress: progressOf(subject, { ...before, window: place })
    }))
    window = place
    yield* gone.meet(copy, errors, ids)
    for (const since of written.knownSince) inRow = since !== undefined && since <= opened.after ? inRow + 1 : 0
    yield* onPage({ items: items.length, added: written.added, changed: written.changed, errors })
    return !(isLast || (isPartial && inRow >= knownInRow))
  })
  yield* Source.fromDefinition(kind.definition, parameters).pages(opened.cursor, { prefetch: isPartial ? 0 : 1 }).pipe(
    Stream.runForEachWhile(take)
  )
  const now = yield* Clock.currentTimeMillis
  const state: State = {
    ...before,
    ...window.newest === undefined ? {} : { newest: window.newest },
    ...window.newestAt === undefined ? {} : { newestAt: window.newestAt },
    doneAt: now,
    ...before.doneAt === undefined ? {} : { growth: { items: window.items ?? 0, millis: now - before.doneAt } },
    ...opened.isFull ? { fullAt: now } : {}
  }
  const progress = progressOf(subject, state)
  yield* opened.isFull && edge !== undefined && kind.isSet !== false
    ? Copy.sweep(copy, { kind: edge.kind, end: edge.subject, id, since: opened.after + 1, most: kind.most, progress })
    : Copy.write(copy, { objects: {}, progress })
  return state
})

const idOf = (item: object): string => "id" in item ? String(item.id) : ""

/** The newest item of a window: the one with the largest id. */
const newestOf = (
  { newest, newestAt }: { readonly newest?: string | undefined; readonly newestAt?: string | undefined },
  items: ReadonlyArray<object>
): Pick<State, "newest" | "newestAt"> => {
  let best = newest
  let at = newestAt
  for (const item of items) {
    const id = idOf(item)
    if (best !== undefined && (id.length - best.length || (id > best ? 1 : -1)) <= 0) continue
    best = id
    at = "created_at" in item ? String(item.created_at) : undefined
  }
  return { ...best === undefined ? {} : { newest: best }, ...at === undefined ? {} : { newestAt: at } }
}
