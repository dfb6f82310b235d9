/**
 * A webhook for any server: answers challenges, checks deliveries and hands them on as events.
 *
 * Each event is handled at least once. One that comes again within three days is not handled again; a handler that writes to a
 * database can make that exact by `event_uuid`. Events of one user are handled in order.
 *
 * @stability experimental
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Redaction from "../auth/Redaction.ts"
import { InvalidSettings } from "../errors/Errors.ts"
import { Logging } from "../runtime/Logging.ts"
import * as Metrics from "../runtime/Metrics.ts"
import * as Anomaly from "../schema/Anomaly.ts"
import * as Storage from "../storage/Storage.ts"
import * as Json from "../wire/Json.ts"
import * as DeliveryQueue from "./internal/deliveryQueue.ts"
import * as Direct from "./internal/direct.ts"
import * as Incoming from "./internal/incoming.ts"
import * as Telemetry from "./internal/telemetry.ts"
import * as Signature from "./Signature.ts"
import * as WebhookEvent from "./WebhookEvent.ts"

export {
  type Answer,
  type Incoming,
  parsed as parsedBody,
  RequestRefused,
  tooLong,
  truncated
} from "./internal/incoming.ts"

/** When a delivery is acknowledged. */
export type Acknowledgement =
  /** As soon as it is stored. It is handled afterwards, and again after a failure. */
  | "before"
  /** When it was handled. The service sends it again after a failure. Platforms that stop after the answer, such as Workers, need it. */
  | "after"

/** Options that do not depend on the handler. */
export interface Settings {
  /**
   * When a delivery is acknowledged: `before` it is handled (the default), which the service does not wait for, or `after`, for
   * handlers that end within 9 seconds.
   */
  readonly ack?: Acknowledgement | undefined
  /** Distinguishes webhooks that use the same storage. Default `webhook`. */
  readonly name?: string | undefined
  /** The time in milliseconds after which another process takes over the events of one that was killed. Default 10 seconds. */
  readonly lease?: number | undefined
}

/** Options of a webhook. */
export interface Options<E, R> extends Settings {
  /** The consumer secrets of the app, the current one first: during a rotation, deliveries may be signed with either. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** Handles an event. */
  readonly onEvent: (event: WebhookEvent.WebhookEvent, delivery: Delivery) => Effect.Effect<unknown, E, R>
  /** Keeps the events that were acknowledged. Default: the memory of this process, whose end they do not survive. */
  readonly store?: Storage.Storage | undefined
  /** When a failed handler runs again, after which the event is a dead letter. Default: five times within half a minute. */
  readonly retry?: Schedule.Schedule<unknown> | undefined
}

/** What is known about a delivery beside its event. */
export interface Delivery {
  /** Parts that did not match the schema and were omitted; usually none. */
  readonly anomalies: ReadonlyArray<Anomaly.Anomaly>
}

/** An event that was given up. */
export interface DeadLetter extends WebhookEvent.Decoded {
  readonly id: string
  readonly at: Date
  /** The failure of the last attempt, without secrets. */
  readonly reason: string
}

/** Events that were given up, of all processes that share the storage. */
export interface DeadLetters {
  /** All of them, the oldest first. */
  readonly list: Effect.Effect<ReadonlyArray<DeadLetter>, Storage.StorageUnavailable>
  /** Handles one again, after the other events of its user; false if it is not there. */
  readonly replay: (id: string) => Effect.Effect<boolean, Storage.StorageUnavailable>
  /** Deletes one; false if it is not there. */
  readonly remove: (id: string) => Effect.Effect<boolean, Storage.StorageUnavailable>
}

/** A webhook. */
export interface Webhook {
  /** Answers a request. */
  readonly handle: (request: Request) => Effect.Effect<Response>
  /** Answers a request of a server that has no web requests. */
  readonly answer: (incoming: Incoming.Incoming) => Effect.Effect<Incoming.Answer>
  readonly deadLetters: DeadLetters
}

/** One second, then twice as long each time. */
const defaultRetry = /*#__PURE__*/ Schedule.upTo(/*#__PURE__*/ Schedule.exponential(1_000), { times: 5 })

const defaultLeaseMillis = 10_000

/** Opens a webhook. Events are handled until the scope ends, which waits for handlers that run. */
export const make = Effect.fnUntraced(function*<E, R>(
  options: Options<E, R>
): Effect.fn.Return<Webhook, InvalidSettings, R | Scope.Scope> {
  yield* check(options)
  const { ack = "before", lease = defaultLeaseMillis, name = "webhook", retry = defaultRetry, secrets, store } = options
  const storage: Storage.Storage = store ?? Storage.makeMemory()
  const context = yield* Effect.context<R>()
  const logging = yield* Logging
  const redact = Redaction.make(() => secrets.map(Redacted.value))
  const handle = handlerOf(options, context, redact)
  const scope = yield* Scope.fork(yield* Effect.scope, "parallel")
  const queue = yield* DeliveryQueue.open({
    storage,
    name,
    lease,
    read: (text) => itemOf(text, JSON.parse(text)),
    handle,
    retry,
    onDead: ({ id, reason }) =>
      Effect.andThen(
        countEvent("dead"),
        logging(Effect.logError(`The webhook gave up the event ${id}, which is a dead letter now: ${reason}`))
      )
  }, ack === "before" && store !== undefined)
  const take: Take = ack === "before" ? (item) => queue.take(item) : Direct.make({ storage, name, handle }, scope)
  const answer = answerOf(secrets, take, logging)
  return {
    answer,
    handle: (request) =>
      Effect.map(
        answer(Incoming.fromWeb(request)),
        ({ body, headers, status }) => new Response(body, { status, headers })
      ),
    deadLetters: {
      list: Effect.map(
        queue.letters,
        (letters) =>
          letters.map(({ at, id, reason, text }) => ({ id, at: new Date(at), reason, ...WebhookEvent.decode(text) }))
      ),
      replay: (id) => queue.replay(id),
      remove: (id) => queue.remove(id)
    }
  }
})

const check = Effect.fnUntraced(function*<E, R>({ ack, lease, onEvent, secrets }: Options<E, R>) {
  const invalid = (setting: string, rule: string) => Effect.fail(new InvalidSettings({ setting, rule }))
  if (secrets.length === 0 || secrets.some((secret) => !isText(Redacted.value(secret)))) {
    return yield* invalid("secrets", "must have the consumer secret of the app")
  }
  if (typeof onEvent !== "function") return yield* invalid("onEvent", "must be a function")
  if (ack !== undefined && ack !== "before" && ack !== "after") {
    return yield* invalid("ack", "must be before or after")
  }
  if (lease !== undefined && !(lease > 0 && lease < Infinity)) {
    return yield* invalid("lease", "must be a positive number of milliseconds")
  }
})

const isText = (value: unknown): boolean => typeof value === "string" && value !== ""

const itemOf = (text: string, body: object) => ({ ...WebhookEvent.identify(body, text), text, body })

const countEvent = /*#__PURE__*/ Telemetry.counter(Metrics.webhookEvents)

const countRequest = /*#__PURE__*/ Telemetry.counter(Metrics.webhookRequests)

/** The longest reason of a failure. */
const mostCharacters = 1_000

/** Decodes a delivery and runs the program's handler. Fails with the reason of a failure. */
const handlerOf = <E, R>({ onEvent }: Options<E, R>, context: Context.Context<R>, redact: Redaction.Redact) => {
  const found = Context.get(context, Anomaly.Telemetry).found
  return ({ body, text }: DeliveryQueue.Item): Effect.Effect<void, string> =>
    Effect.suspend(() => {
      const decoded = WebhookEvent.decode(text, body)
      const anomalies = decoded.anomalies.map((anomaly) => Anomaly.redacted(anomaly, redact))
      const handled = Effect.suspend(() => onEvent(decoded.event, { anomalies }))
      return anomalies.length === 0 ? handled : Effect.andThen(found("webhook", anomalies), handled)
    }).pipe(
      Effect.provideContext(context),
      Effect.matchCauseEffect({
        onFailure: (cause) =>
          Effect.andThen(
            countEvent("failed"),
            Effect.fail(redact(Cause.pretty(cause)).slice(0, mostCharacters))
          ),
        onSuccess: () => countEvent("handled")
      })
    )
}

/** What became of a delivery. `stale`: it is too old. */
type Taken = DeliveryQueue.Taken | Direct.Handled | "stale"

type Take = (item: DeliveryQueue.Item) => Effect.Effect<Taken, Storage.StorageUnavailable>

const statuses: Readonly<Record<Taken, number>> = {
  taken: 200,
  handled: 200,
  duplicate: 200,
  stale: 200,
  full: 503,
  late: 503,
  failed: 500
}

const none = {}

const text = { "content-type": "text/plain; charset=utf-8" }

const json = { "content-type": "application/json" }

/** Deliveries are remembered for at least as long. An older one is not from the service, which replays one day. */
const mostAge = Storage.setMillis

const answerOf = (
  secrets: ReadonlyArray<Redacted.Redacted>,
  take: Take,
  logging: (line: Effect.Effect<void>) => Effect.Effect<void>
) => {
  const isSigned = Signature.verifier(secrets)
  const challenge = (url: string): Effect.Effect<Incoming.Answer, Incoming.RequestRefused> => {
    const [token = "", ...others] = Incoming.tokensOf(url)
    const [secret] = secrets
    const response = secret === undefined || others.length > 0 ? undefined : Signature.answer(secret, token)
    return response === undefined
      ? Effect.fail(Incoming.refused(400, "token", "crc_token is not the token of a challenge."))
      : Effect.as(countRequest("challenge"), {
        status: 200,
        headers: json,
        body: JSON.stringify({ response_token: response })
      })
  }
  const outcomeOf = (isStale: boolean, item: DeliveryQueue.Item): Effect.Effect<Taken, Storage.StorageUnavailable> =>
    isStale ? Effect.succeed("stale") : take(item)
  const receive = (
    bytes: Uint8Array,
    signature: string,
    now: number
  ): Effect.Effect<Incoming.Answer, Incoming.RequestRefused> => {
    if (!isSigned(bytes, signature)) return Effect.fail(unsigned)
    const text = decoder.decode(bytes)
    let body: unknown
    try {
      body = Json.parse(text)
    } catch {
      return Effect.fail(noObject)
    }
    if (typeof body !== "object" || body === null || Array.isArray(body)) return Effect.fail(noObject)
    const { at = Infinity, ...item } = itemOf(text, body)
    return outcomeOf(now - at > mostAge, item).pipe(
      Effect.matchEffect({
        onFailure: ({ message }) =>
          Effect.andThen(
            logging(Effect.logWarning(`The webhook refuses an event, which the service sends again: ${message}`)),
            Effect.fail(Incoming.refused(503, "storage", "The event cannot be stored now."))
          ),
        onSuccess: (taken) =>
          Effect.as(countRequest(taken), {
            status: statuses[taken],
            headers: none,
            body: ""
          })
      })
    )
  }
  const answer = (incoming: Incoming.Incoming) => {
    if (incoming.method === "GET") return challenge(incoming.url)
    if (incoming.method !== "POST") {
      return Effect.fail(Incoming.refused(405, "method", "Only GET and POST are allowed."))
    }
    const signature = incoming.header(Signature.header)
    // Without reading: a body from anyone costs nothing.
    if (signature === undefined) return Effect.fail(unsigned)
    return Clock.clockWith((clock) =>
      Effect.flatMap(
        Incoming.bodyOf(incoming, clock),
        (bytes) => receive(bytes, signature, clock.currentTimeMillisUnsafe())
      )
    )
  }
  return (incoming: Incoming.Incoming): Effect.Effect<Incoming.Answer> =>
    Effect.catch(Effect.suspend(() => answer(incoming)), ({ outcome, reason, status }) => {
      const line = outcome === Incoming.parsed.outcome ? Effect.logError : Effect.logDebug
      return Effect.as(
        Effect.andThen(countRequest(outcome), logging(line(`The webhook refuses a request: ${reason}`))),
        {
          status,
          headers: status === 405
            ? { ...text, allow: "GET, POST" }
            : status === 408
            ? { ...text, connection: "close" }
            : text,
          body: reason
        }
      )
    })
}

const decoder = /*#__PURE__*/ new TextDecoder("utf-8", { ignoreBOM: true })

const unsigned = /*#__PURE__*/ Incoming.refused(401, "signature", "The signature is not of one of the secrets.")

const noObject = /*#__PURE__*/ Incoming.refused(400, "no-object", "The body is not a JSON object.")
