/** Manages stream connections and delivers posts and events to them. */
import { catalogue } from "@postwire/core/Catalogue"
import type { Endpoint } from "@postwire/core/schema/models/Connection"
import type { ReadRow } from "@postwire/core/schema/Price"
import * as Wire from "@postwire/core/wire/Wire"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import type { Deliveries } from "../events/Events.ts"
import * as Problem from "../http/Problem.ts"
import type { Post } from "../store/Post.ts"
import * as Snowflake from "../store/Snowflake.ts"
import type { Store } from "../store/Store.ts"
import type { StoreEvent } from "../store/StoreEvents.ts"
import type { Viewer } from "../store/Visibility.ts"
import type { Webhook } from "../store/Webhooks.ts"
import { make as random } from "../text/random.ts"
import * as Ledger from "./Ledger.ts"
import * as Line from "./Line.ts"
import * as LineFault from "./LineFault.ts"
import * as Matching from "./Matching.ts"
import * as Rendering from "./Rendering.ts"
import { holds, type Source, sources } from "./Sources.ts"
import * as StreamEvents from "./StreamEvents.ts"
import type { Connection, Match, StreamRequest } from "./Streams.ts"

export interface Dependencies {
  readonly store: Store["Service"]
  readonly now: () => number
  readonly seed: number
  readonly baseUrl: () => string
  /** Delivers a post to a webhook that is linked to the filtered stream. */
  readonly deliverPost: Deliveries["deliverPost"]
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

/** The number of past posts that are read at a time. */
const pageSize = 500

// Up to twice as many are kept, so that old ones are dropped in batches.
const maxClosed = 1_000
const maxMatches = 100

const everybody: Viewer = { userId: undefined }

interface OpenConnection {
  readonly id: string
  readonly appId: string
  readonly endpoint: Endpoint
  readonly source: Source
  readonly partition: number
  readonly rendering: Rendering.Rendering
  readonly line: Line.Line
  readonly isRecovery: boolean
  readonly entry: MutableConnection
  fiber: Fiber.Fiber<void> | undefined
  /** The latest past post that was read; undefined once the connection has caught up. */
  cursor: bigint | undefined
}

type MutableConnection = { -readonly [K in keyof Connection]: Connection[K] }

type Past = () => ReadonlyArray<Line.Item> | undefined

/** Starts the streams of a service; they end with the scope. */
export const make = Effect.fnUntraced(function*(dependencies: Dependencies): Effect.fn.Return<Hub, never, Scope.Scope> {
  const hub = new Hub(dependencies, yield* Effect.scope)
  const unsubscribe = dependencies.store.events.subscribe((change) => hub.onChange(change))
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      unsubscribe()
      hub.endAll("shutdown")
    })
  )
  return hub
})

/** The streams of a service. */
export class Hub {
  /** The maximum number of rules of an app. */
  readonly maxRules: number
  readonly #dependencies: Dependencies
  readonly #scope: Scope.Scope
  readonly #matching: Matching.Matching
  readonly #renderingOf: ReturnType<typeof Rendering.make>
  readonly #draw: ReturnType<typeof random>
  readonly #recent = new StreamEvents.RecentEvents()
  readonly #open = new Map<string, OpenConnection>()
  #closed: Array<MutableConnection> = []
  #matches: Array<Match> = []
  #recorder: Ledger.Recorder | undefined

  constructor(dependencies: Dependencies, scope: Scope.Scope) {
    this.maxRules = dependencies.maxRules
    this.#dependencies = dependencies
    this.#scope = scope
    this.#matching = Matching.make(dependencies.store)
    this.#renderingOf = Rendering.make(dependencies.store, dependencies.now)
    this.#draw = random(dependencies.seed, "streams")
  }

  connect(request: StreamRequest): Effect.Effect<HttpServerResponse.HttpServerResponse, Problem.Problem> {
    return Effect.gen({ self: this }, function*() {
      const refusal = this.#refusal(request)
      if (refusal !== undefined) return yield* refusal
      const fault = request.fault && LineFault.make(request.fault, this.#draw)
      const connection = this.#opened(request, fault)
      this.#open.set(connection.id, connection)
      connection.fiber = yield* Effect.forkIn(this.#keepAlive(connection, fault), this.#scope)
      return HttpServerResponse.stream(connection.line.stream, { contentType: "application/json; charset=utf-8" })
    })
  }

  /** The latest 1,000 closed connections and all open ones, oldest first. */
  connections(): ReadonlyArray<Connection> {
    const open = Array.from(this.#open.values(), ({ entry }) => entry)
    return [...this.#closed.slice(-maxClosed), ...open].map((entry) => ({ ...entry }))
      .sort((a, b) => a.openedAt - b.openedAt)
  }

  /** Ends a connection with a disconnect notice; false if it is not open. */
  disconnect(id: string, disconnectType = "ForceDisconnect"): boolean {
    const found = this.#open.get(id)
    found?.line.end(
      disconnectType === "ForceDisconnect" ? "force_disconnect" : "operational_disconnect",
      Line.farewell(disconnectType)
    )
    return found !== undefined
  }

  /** Delivers an event to a compliance or label stream. */
  publish(endpoint: Endpoint, { data, id }: { readonly id: string; readonly data: object }): void {
    this.#deliver({ id, at: this.#dependencies.now(), on: endpoint, data })
  }

  /** Delivers an event of activity to an app. */
  deliverActivity(appId: string, data: { readonly event_uuid: string }, row: ReadRow | undefined): void {
    this.#deliver({ id: data.event_uuid, at: this.#dependencies.now(), on: "activity_stream", data, appId, row })
  }

  /** The latest posts delivered to filtered streams, newest first. */
  matches(): ReadonlyArray<Match> {
    return this.#matches.slice(-maxMatches).toReversed()
  }

  /** Starts recording a new ledger. */
  record(): void {
    this.#recorder = new Ledger.Recorder()
  }

  ledger(): Ledger.Ledger {
    return { made: this.#recorder?.made ?? [], sent: this.#recorder?.sent ?? [] }
  }

  /** Ends all connections and clears all state. */
  clear(): void {
    this.endAll("operational_disconnect", Line.farewell("OperationalDisconnect"))
    this.#matching.clear()
    this.#recent.clear()
    this.#closed = []
    this.#matches = []
    this.#recorder = undefined
  }

  endAll(reason: Line.Reason, farewell?: string): void {
    for (const { line } of this.#open.values()) line.end(reason, farewell)
  }

  /** Delivers a change of the store. */
  onChange(change: StoreEvent): void {
    if (change._tag === "Posted") this.#deliverPost(change.id)
    const event = StreamEvents.fromChange(change, this.#dependencies.store, this.#dependencies.now())
    if (event !== undefined) this.#deliver(event)
  }

  #deliver(event: StreamEvents.StreamEvent): void {
    this.#recent.add(event)
    for (const connection of this.#open.values()) {
      const { isRecovery, line, partition, rendering, source } = connection
      if (!isRecovery && StreamEvents.isOn(event, connection) && holds(source, partition, event)) {
        line.push(rendering.line(event))
      }
    }
  }

  #deliverPost(id: string): void {
    const { now, store } = this.#dependencies
    const recorder = this.#recorder
    const linked = store.webhooks.linked()
    const isAwaited = recorder !== undefined || linked.length > 0 ||
      [...this.#open.values()].some(({ source }) => source.of === "posts")
    const [post] = isAwaited ? store.posts.byIds([id], everybody) : []
    if (post === undefined) return
    const byApp = new Map<string, ReadonlyArray<string>>()
    const served = new Set<string>()
    const matched = (appId: string): ReadonlyArray<string> => {
      const rules = byApp.get(appId) ?? this.#matching.of(appId, post)
      byApp.set(appId, rules)
      return rules
    }
    if (recorder !== undefined) {
      const rules = store.streamRules.appIds().flatMap(matched)
      if (rules.length > 0) recorder.made.push({ id, at: now(), rules })
    }
    for (const connection of this.#open.values()) {
      const { appId, cursor, isRecovery, line, source } = connection
      // A connection that starts in the past will read posts after its cursor itself.
      if (source.of !== "posts" || isRecovery || (cursor !== undefined && BigInt(id) > cursor)) continue
      const item = this.#itemOf(connection, post, matched)
      if (item === undefined) continue
      line.push(item)
      if (source.byRules === true) served.add(appId)
    }
    for (const webhook of linked) {
      if (this.#deliverLinked(webhook, post, matched(webhook.appId))) served.add(webhook.appId)
    }
    const rules = [...served].flatMap(matched)
    if (rules.length === 0) return
    this.#matches.push({ postId: id, at: now(), text: post.text, rules })
    if (this.#matches.length >= 2 * maxMatches) this.#matches = this.#matches.slice(-maxMatches)
  }

  #deliverLinked(webhook: Webhook, post: Post, rules: ReadonlyArray<string>): boolean {
    if (rules.length === 0) return false
    const { baseUrl, deliverPost } = this.#dependencies
    const rendering = this.#renderingOf({
      definition: catalogue.streamPosts.definition,
      selection: {},
      wire: Wire.x,
      viewer: everybody,
      origin: baseUrl()
    })
    deliverPost(webhook, rendering.line({ id: post.id, data: post }, this.#matching.json(webhook.appId, rules)))
    return true
  }

  /** The item of a post, if the stream contains it. */
  #itemOf(
    { appId, partition, rendering, source }: OpenConnection,
    post: Post,
    matched: (appId: string) => ReadonlyArray<string>
  ): Line.Item | undefined {
    const item = { id: post.id, data: post }
    if (source.byRules !== true) return holds(source, partition, post) ? rendering.line(item) : undefined
    const rules = matched(appId)
    return rules.length === 0 ? undefined : rendering.line(item, this.#matching.json(appId, rules))
  }

  #refusal({ caller, endpoint, fault, parameters }: StreamRequest): Problem.Problem | undefined {
    const { backfill_minutes = 0, end_time, partition = 1, start_time } = parameters
    const { appId } = caller
    const { byRules, connections = 1, isSelfServe } = sources[endpoint]
    const at = this.#dependencies.now()
    const isRecovery = isRecovering(parameters)
    if (!hasFullAccess(caller) && isSelfServe !== true && (byRules !== true || isRecovery || backfill_minutes > 0)) {
      return Problem.notEnrolled("Enterprise")
    }
    if (isRecovery) {
      if (start_time === undefined) return Problem.invalidRequest("`end_time` needs a `start_time`.")
      if (start_time < at - maxRecovery) {
        return Problem.invalidRequest("The `start_time` is more than 24 hours ago.", {
          start_time: new Date(start_time).toISOString()
        })
      }
      if (start_time >= (end_time ?? at) || (end_time ?? at) > at) {
        return Problem.invalidRequest("The `start_time` must be before the `end_time`, and both in the past.")
      }
    }
    if (fault?.kind === "no-rules" || byRules === true && this.#dependencies.store.streamRules.count(appId) === 0) {
      return Problem.streamRefused("RuleConfigurationIssue")
    }
    const held = [...this.#open.values()].filter((other) =>
      other.appId === appId && other.isRecovery === isRecovery &&
      (isRecovery || other.endpoint === endpoint && other.partition === partition)
    ).length
    return fault?.kind === "too-many-connections" ||
        held >= (isRecovery ? maxRecoveries : Math.max(connections, this.#dependencies.maxConnections))
      ? Problem.streamRefused("TooManyConnections")
      : undefined
  }

  #opened(request: StreamRequest, fault: LineFault.LineFault | undefined): OpenConnection {
    const { caller, clientIp, definition, endpoint, origin, parameters, selection, wire } = request
    const { backfill_minutes = 0, end_time, partition = 1, start_time } = parameters
    const { now } = this.#dependencies
    const at = now()
    const source = sources[endpoint]
    const isRecovery = isRecovering(parameters)
    const entry: MutableConnection = {
      id: randomUUID(),
      appId: caller.appId,
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
    const to = isRecovery ? end_time ?? at : undefined
    const line = new Line.Line({
      now,
      fault,
      delivered: request.delivered,
      past: from === undefined ? undefined : this.#pastOf(() => connection, source, from, to),
      afterPast: isRecovery ? "recovery_complete" : undefined,
      onSent: (items) => {
        entry.sent += items.length
        entry.sentAt = now()
        this.#recorder?.send(entry.id, items.map(({ id }) => id))
        request.onSent(items.flatMap(({ resources }) => resources), now())
      },
      ended: (reason) => this.#close(connection, reason)
    })
    const connection: OpenConnection = {
      id: entry.id,
      appId: caller.appId,
      endpoint,
      source,
      partition,
      rendering: this.#renderingOf({ definition, selection, wire, viewer: caller, origin }),
      line,
      isRecovery,
      entry,
      fiber: undefined,
      cursor: from === undefined || source.of !== "posts" ? undefined : -1n
    }
    return connection
  }

  /** Reads the items between two times in parts; without an end, up to the live items. */
  #pastOf(connection: () => OpenConnection, { of }: Source, from: number, to: number | undefined): Past {
    return of === "posts" ? this.#pastPosts(connection, from, to) : this.#pastEvents(connection, from, to)
  }

  #pastEvents(connection: () => OpenConnection, from: number, to = Infinity): Past {
    let events: ReadonlyArray<StreamEvents.StreamEvent> | undefined = this.#recent.between(from, to)
    return () => {
      const current = connection()
      const { partition, rendering, source } = current
      const items = events
        ?.filter((event) => StreamEvents.isOn(event, current) && holds(source, partition, event))
        .map((event) => rendering.line(event))
      events = undefined
      return items
    }
  }

  #pastPosts(connection: () => OpenConnection, from: number, to: number | undefined): Past {
    let isOver = false
    let after = Snowflake.fromMillis(from) - 1n
    const before = to === undefined ? Snowflake.maximum : Snowflake.fromMillis(to)
    return () => {
      if (isOver) return undefined
      const current = connection()
      const page = this.#dependencies.store.posts.between({ after, before, limit: pageSize })
      isOver = page.length < pageSize
      const last = page.at(-1)
      if (last !== undefined) after = Snowflake.parse(last.id)
      current.cursor = isOver ? undefined : after
      return page.flatMap((post) => this.#itemOf(current, post, (appId) => this.#matching.of(appId, post)) ?? [])
    }
  }

  /** Sends heartbeats, and triggers a scheduled fault. */
  #keepAlive(connection: OpenConnection, fault: LineFault.LineFault | undefined): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      const { line } = connection
      if (fault?.at !== undefined) {
        yield* Effect.forkChild(Effect.andThen(Effect.sleep(fault.at), Effect.sync(() => line.strike())))
      }
      yield* Effect.sleep(line.beat(heartbeat))
      // The client disconnected before it received the response.
      if (!line.isRead()) return this.#close(connection, "client_disconnected")
      while (this.#open.has(connection.id)) yield* Effect.sleep(line.beat(heartbeat))
    })
  }

  #close({ entry, fiber, id }: OpenConnection, reason: Line.Reason): void {
    if (!this.#open.delete(id)) return
    entry.closedAt = this.#dependencies.now()
    entry.reason = reason
    this.#closed.push(entry)
    if (this.#closed.length >= 2 * maxClosed) this.#closed = this.#closed.slice(-maxClosed)
    fiber?.interruptUnsafe()
  }
}

/** True for an app whose access level stands for the service's Enterprise access. */
const hasFullAccess = ({ access }: StreamRequest["caller"]): boolean => access === "research"

const isRecovering = ({ end_time, start_time }: StreamRequest["parameters"]): boolean =>
  start_time !== undefined || end_time !== undefined
