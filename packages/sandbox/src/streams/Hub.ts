/** Manages stream connections and delivers posts and events to them. */
import type { Endpoint } from "@postwire/core/schema/models/Connection"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import * as Problem from "../http/Problem.ts"
import type { Post } from "../store/Post.ts"
import * as Snowflake from "../store/Snowflake.ts"
import type { Store } from "../store/Store.ts"
import type { StoreEvent } from "../store/StoreEvents.ts"
import type { Viewer } from "../store/Visibility.ts"
import { make as random } from "../text/random.ts"
import * as Disturbance from "./Disturbance.ts"
import * as Happened from "./Happened.ts"
import * as Ledger from "./Ledger.ts"
import * as Line from "./Line.ts"
import * as Matching from "./Matching.ts"
import * as Rendering from "./Rendering.ts"
import { holds, type Source, sources } from "./Sources.ts"
import type { Asked, Connection, Hub, Match } from "./Streams.ts"

/** The dependencies of the streams. */
export interface Parts {
  readonly store: Store["Service"]
  readonly now: () => number
  readonly seed: number
  /** The number of connections an app may have to a stream, or to each partition of one. */
  readonly maxConnections: number
  /** The number of rules an app may have. */
  readonly maxRules: number
}

/** The heartbeat interval, in milliseconds. */
const heartbeat = 20_000

/** The number of concurrent recovery connections of an app. */
const maxRecoveries = 2

/** The maximum age of recovered items, in milliseconds. */
const maxRecovery = 24 * 3_600_000

const everybody: Viewer = { userId: undefined }

const maxEnded = 1_000
const maxMatches = 100

interface Open {
  readonly id: string
  readonly appId: string
  readonly endpoint: Endpoint
  readonly source: Source
  readonly partition: number
  readonly rendering: Rendering.Rendering
  readonly line: Line.Line
  readonly isRecovery: boolean
  readonly entry: Entry
  fiber: Fiber.Fiber<void> | undefined
}

/** How far a connection has come that begins in the past; nothing when it has caught up. */
interface Progress {
  cursor: bigint | undefined
}

type Entry = { -readonly [K in keyof Connection]: Connection[K] }

/** Streams of a service; they end with the scope. */
export const make = Effect.fnUntraced(function*(parts: Parts): Effect.fn.Return<Hub, never, Scope.Scope> {
  const { maxConnections, maxRules, now, seed, store } = parts
  const scope = yield* Effect.scope
  const matching = Matching.make(store)
  const renderingOf = Rendering.make(store, now)
  const latest = new Happened.Latest()
  const draw = random(seed, "streams")
  const open = new Map<string, Open & Progress>()
  let ended: Array<Entry> = []
  let matches: Array<Match> = []
  let book: Ledger.Book | undefined

  const isTold = ({ cursor, isRecovery }: Open & Progress, id: string): boolean =>
    !isRecovery && (cursor === undefined || BigInt(id) <= cursor)

  const itemOf = (
    connection: Open,
    post: Post,
    matched: (appId: string) => ReadonlyArray<string>
  ): Line.Item | undefined => {
    const { appId, partition, rendering, source } = connection
    if (source.byRules !== true) {
      return holds(source, partition, post)
        ? rendering.line({ id: post.id, data: post })
        : undefined
    }
    const rules = matched(appId)
    return rules.length === 0 ? undefined : rendering.line({ id: post.id, data: post }, matching.json(appId, rules))
  }

  const posted = (id: string): void => {
    const isAwaited = book !== undefined || [...open.values()].some(({ source }) => source.of === "posts")
    if (!isAwaited) return
    const [post] = store.posts.byIds([id], everybody)
    if (post === undefined) return
    const byApp = new Map<string, ReadonlyArray<string>>()
    const matched = (appId: string): ReadonlyArray<string> => {
      let rules = byApp.get(appId)
      if (rules === undefined) byApp.set(appId, rules = matching.of(appId, post))
      return rules
    }
    if (book !== undefined) {
      const rules = store.streamRules.appIds().flatMap(matched)
      if (rules.length > 0) book.made.push({ id, at: now(), rules })
    }
    for (const connection of open.values()) {
      if (connection.source.of !== "posts" || !isTold(connection, id)) continue
      const item = itemOf(connection, post, matched)
      if (item !== undefined) connection.line.push(item)
    }
    const rules = [...byApp.values()].flat()
    if (rules.length > 0) {
      matches.push({ postId: id, at: now(), text: post.text, rules })
      if (matches.length >= 2 * maxMatches) matches = matches.slice(-maxMatches)
    }
  }

  const bring = (event: Happened.Event): void => {
    latest.add(event)
    for (const { endpoint, isRecovery, line, partition, rendering, source } of open.values()) {
      if (!isRecovery && Happened.isOn(event, endpoint, source) && holds(source, partition, event)) {
        line.push(rendering.line(event))
      }
    }
  }

  const unlisten = store.events.subscribe((change: StoreEvent) => {
    if (change._tag === "Posted") posted(change.id)
    const event = Happened.of(change, store, now())
    if (event !== undefined) bring(event)
  })

  /** What came between two instants, a part at a time; leads on to what comes where there is no end. */
  const pastOf = (
    connection: () => Open & Progress,
    { of }: Source,
    from: number,
    to: number | undefined
  ): () => ReadonlyArray<Line.Item> | undefined => {
    const limit = 500
    let isOver = false
    if (of !== "posts") {
      const events = latest.between(from, to ?? Infinity)
      return () => {
        if (isOver) return undefined
        isOver = true
        const { endpoint, partition, rendering, source } = connection()
        return events.filter((event) => Happened.isOn(event, endpoint, source) && holds(source, partition, event)).map((
          event
        ) => rendering.line(event))
      }
    }
    let after = Snowflake.fromMillis(from) - 1n
    const before = to === undefined ? Snowflake.maximum : Snowflake.fromMillis(to)
    return () => {
      if (isOver) return undefined
      const current = connection()
      const page = store.posts.between({ after, before, limit })
      isOver = page.length < limit
      const last = page.at(-1)
      if (last !== undefined) after = Snowflake.parse(last.id)
      current.cursor = isOver ? undefined : after
      return page.flatMap((post) => itemOf(current, post, (appId) => matching.of(appId, post)) ?? [])
    }
  }

  const close = (connection: Open, reason: Line.Reason): void => {
    const { entry, fiber, id } = connection
    if (!open.delete(id)) return
    entry.closedAt = now()
    entry.reason = reason
    ended.push(entry)
    if (ended.length >= 2 * maxEnded) ended = ended.slice(-maxEnded)
    fiber?.interruptUnsafe()
  }

  /** Says that a connection is there, and strikes where its fault names a time. */
  const keep = (connection: Open, disturbance: Disturbance.Disturbance | undefined) =>
    Effect.gen(function*() {
      const { at } = disturbance ?? {}
      if (at !== undefined) {
        yield* Effect.forkChild(Effect.andThen(Effect.sleep(at), Effect.sync(connection.line.strike)))
      }
      yield* Effect.sleep(connection.line.beat(heartbeat))
      // Whoever asked has gone away before there was an answer.
      if (!connection.line.isRead()) return close(connection, "client_disconnected")
      while (open.has(connection.id)) yield* Effect.sleep(connection.line.beat(heartbeat))
    })

  const connect = Effect.fnUntraced(function*(asked: Asked) {
    const { caller, clientIp, definition, endpoint, fault, origin, parameters, selection, wire } = asked
    const { backfill_minutes = 0, end_time, partition = 1, start_time } = parameters
    const { appId } = caller
    const source = sources[endpoint]
    const at = now()
    const isRecovery = start_time !== undefined || end_time !== undefined
    if (caller.access !== "research" && (source.byRules !== true || isRecovery || backfill_minutes > 0)) {
      return yield* Problem.notEnrolled("Enterprise")
    }
    if (isRecovery) {
      if (start_time === undefined) return yield* Problem.invalidRequest("`end_time` needs a `start_time`.")
      if (start_time < at - maxRecovery) {
        return yield* Problem.invalidRequest("The `start_time` is more than 24 hours ago.", {
          start_time: new Date(start_time).toISOString()
        })
      }
      if (start_time >= (end_time ?? at) || (end_time ?? at) > at) {
        return yield* Problem.invalidRequest("The `start_time` must be before the `end_time`, and both in the past.")
      }
    }
    if (fault?.kind === "no-rules" || source.byRules === true && store.streamRules.count(appId) === 0) {
      return yield* Problem.streamRefused("RuleConfigurationIssue")
    }
    const held = [...open.values()].filter((other) =>
      other.appId === appId && other.isRecovery === isRecovery &&
      (isRecovery || other.endpoint === endpoint && other.partition === partition)
    ).length
    if (fault?.kind === "too-many-connections" || held >= (isRecovery ? maxRecoveries : maxConnections)) {
      return yield* Problem.streamRefused("TooManyConnections")
    }
    const disturbance = fault && Disturbance.make(fault, draw)
    const entry: Entry = {
      id: randomUUID(),
      appId,
      endpoint,
      partition: parameters.partition,
      openedAt: at,
      closedAt: undefined,
      reason: undefined,
      clientIp,
      sent: 0,
      sentAt: undefined
    }
    const from = start_time ?? (backfill_minutes > 0 ? at - backfill_minutes * 60_000 : undefined)
    const line = Line.make({
      now,
      disturbance,
      delivered: asked.delivered,
      past: from === undefined
        ? undefined
        : pastOf(() => connection, source, from, isRecovery ? end_time ?? at : undefined),
      afterPast: isRecovery ? "recovery_complete" : undefined,
      left: (items) => {
        entry.sent += items.length
        entry.sentAt = now()
        book?.send(entry.id, items.map(({ id }) => id))
        asked.left(items.flatMap(({ resources }) => resources), now())
      },
      ended: (reason) => close(connection, reason)
    })
    const connection: Open & Progress = {
      id: entry.id,
      appId,
      endpoint,
      source,
      partition,
      rendering: renderingOf({ definition, selection, wire, viewer: caller, origin }),
      line,
      isRecovery,
      entry,
      fiber: undefined,
      cursor: from === undefined || source.of !== "posts" ? undefined : -1n
    }
    open.set(entry.id, connection)
    connection.fiber = yield* Effect.forkIn(keep(connection, disturbance), scope)
    return HttpServerResponse.stream(line.stream, { contentType: "application/json; charset=utf-8" })
  })

  const disconnect = (id: string, disconnectType = "ForceDisconnect"): boolean => {
    const found = open.get(id)
    found?.line.end(
      disconnectType === "ForceDisconnect" ? "force_disconnect" : "operational_disconnect",
      Line.farewell(disconnectType)
    )
    return found !== undefined
  }

  const endAll = (reason: Line.Reason, farewell?: string): void => {
    for (const { line } of open.values()) line.end(reason, farewell)
  }

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      unlisten()
      endAll("shutdown")
    })
  )

  return {
    connect,
    maxRules,
    connections: () => [...ended, ...Array.from(open.values(), ({ entry }) => entry)].map((entry) => ({ ...entry })),
    disconnect,
    tell: (endpoint, { data, id }) => bring({ id, at: now(), on: endpoint, data }),
    matches: () => matches.slice(-maxMatches).toReversed(),
    record: () => void (book = new Ledger.Book()),
    ledger: () => ({ made: book?.made ?? [], sent: book?.sent ?? [] }),
    clear: () => {
      endAll("operational_disconnect", Line.farewell("OperationalDisconnect"))
      matching.clear()
      latest.clear()
      ended = []
      matches = []
      book = undefined
    }
  }
})
