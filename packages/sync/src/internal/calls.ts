/** One call: posted to the worker and awaited. Parameters are checked and bodies are decoded on this side. */
import type { Redact } from "@postwire/core/auth/Redaction"
import * as CallErrors from "@postwire/core/client/CallErrors"
import { type CallOptions, checkOptions, requestOptionNames } from "@postwire/core/client/CallOptions"
import * as RawRequest from "@postwire/core/client/RawRequest"
import { invalidParameter, type InvalidParameters, InvalidSettings } from "@postwire/core/errors/Errors"
import * as Timeouts from "@postwire/core/http/Timeouts"
import type { Anomaly } from "@postwire/core/schema/Anomaly"
import type { Definition, Form } from "@postwire/core/schema/Definition"
import * as ExtraParameters from "@postwire/core/wire/ExtraParameters"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import type { Wire } from "@postwire/core/wire/Wire"
import type { Settings } from "../Settings.ts"
import type { NoAnswer } from "./bridge.ts"
import type { Connection, Sent } from "./connection.ts"
import * as ErrorCodec from "./errorCodec.ts"
import * as OwnServers from "./ownServers.ts"
import type { Answer, Received } from "./protocol.ts"

/** The context of the calls of a client. */
export interface Context {
  readonly settings: Settings<Form>
  readonly wire: Wire
  readonly connection: Connection
  /** Redacts the credentials of the client. */
  readonly redact: Redact
  /** Warns of malformed parts of bodies, which are decoded on this side. */
  readonly warn: (operation: string, anomalies: ReadonlyArray<Anomaly>) => void
}

/** A call in flight. */
export interface Pending extends Sent {
  readonly prepared: RequestEncoder.Prepared
  /** The timeout, in milliseconds. */
  readonly limit: number
}

/** A call as errors describe it. */
type FailedCall = Parameters<typeof CallErrors.lost>[0]

/** The function that the program called: the stack of an error begins there. */
export type Caller = (...args: never) => unknown

/** The worker enforces the timeouts too and knows more details, so it gets this much longer to report one. */
const headstartMillis = 100

/** Posts a call to the worker, `ahead` of other calls or not; `receive` waits for its answer. */
export const begin = (
  context: Context,
  definition: Definition,
  parameters: object,
  options: CallOptions,
  ahead = false
): Pending | Error => {
  const { connection, redact, settings, wire } = context
  if (connection.isClosed) return CallErrors.closed(definition)
  const invalid = checkOptions(definition, options)
  if (invalid !== undefined) return invalid
  const prepared = RequestEncoder.encode(definition, parameters, wire, settings, redact)
  const whole = options.extraBody === undefined && options.extraQuery === undefined
    ? prepared
    : ExtraParameters.add(prepared, definition, wire, options, redact)
  return whole instanceof Error ? whole : unreadable(whole) ?? post(context, whole, options, ahead)
}

/**
 * Rejects a Blob. It cannot be read while this thread is blocked, nor by another thread: Node ends the process when a thread reads
 * a part of a file that another one opened.
 */
const unreadable = ({ body, operation }: RequestEncoder.Prepared): InvalidParameters | undefined => {
  if (typeof body !== "object") return undefined
  const blob = body.parts.find((part) => "bytes" in part && part.bytes instanceof Blob)
  if (blob === undefined) return undefined
  const rule = "must be a Uint8Array or an ArrayBuffer: a call that blocks cannot read a Blob"
  return invalidParameter(operation, blob.name, rule, undefined)
}

/** Posts a raw request to the worker. */
export const beginRequest = (
  context: Context,
  checked: ReturnType<typeof RawRequest.check>,
  options: CallOptions
): Pending | Error => {
  if (context.connection.isClosed) return CallErrors.closed(RawRequest.infoOf(checked))
  if (checked instanceof Error) return checked
  return checkOptions(checked, options, requestOptionNames) ?? post(context, checked.prepared, options, false)
}

const post = (
  { connection, settings }: Context,
  prepared: RequestEncoder.Prepared,
  options: CallOptions,
  ahead: boolean
): Pending | Error => {
  const refused = refusedHere(settings, prepared)
  if (refused !== undefined) return refused
  const { retries, timeout } = options
  const isDefault = retries === undefined && timeout === undefined
  const sent = connection.send(prepared, isDefault ? undefined : { retries, timeout }, ahead)
  if (sent instanceof InvalidSettings) return sent
  const limit = limitOf(settings, options)
  return sent._tag === "NoAnswer" ? unanswered(prepared, limit, sent) : { ...sent, prepared, limit }
}

/** Waits for a call. */
export const receive = ({ bridge, id, limit, prepared }: Pending): Received | Error => {
  const answer = bridge.wait(id, limit + headstartMillis)
  return answer._tag === "Response" ? answer : failureOf(prepared, limit, answer)
}

const failureOf = (call: FailedCall, limit: number, answer: Answer | NoAnswer): Error => {
  switch (answer._tag) {
    case "Failure":
      return ErrorCodec.decode(answer.error)
    case "Unsent":
      return unsent(call, answer.reason)
    case "NoAnswer":
      return unanswered(call, limit, answer)
    default:
      // A bug of this package.
      return new Error(answer._tag === "Defect" ? answer.message : answer._tag)
  }
}

/** Waits for a job without a timeout: each of its steps has timeouts of its own. */
export const receiveResult = (call: FailedCall, begun: Sent | NoAnswer, isEndless = false): unknown => {
  if (begun._tag === "NoAnswer") return unanswered(call, Infinity, begun)
  const answer = begun.bridge.wait(begun.id, Infinity, isEndless)
  return answer._tag === "Done" ? answer.value : failureOf(call, Infinity, answer)
}

/** Throws errors, with a stack that begins with the caller. */
export const orThrow = <A>(outcome: A, caller: Caller): Exclude<A, Error> => {
  if (!(outcome instanceof Error)) return outcome as Exclude<A, Error>
  Error.captureStackTrace(outcome, caller)
  throw outcome
}

/** The least time that a call may block, whatever its timeouts are: the worker enforces them before. */
const leastLimitMillis = 300_000

/** The longest time that a call may block. */
const limitOf = (settings: Settings<Form>, { timeout = settings.timeout }: CallOptions): number => {
  if (typeof timeout === "number") return timeout
  const limits = Timeouts.limitsOf(timeout, Timeouts.limitsOf(settings.timeout))
  const waits = settings.waitOnRateLimit === true ? settings.maxWait ?? Timeouts.defaultMaxWaitMillis : 0
  return Math.max(leastLimitMillis, limits?.total ?? 0) + waits
}

/** The error if the service runs on this thread, which the call would block. */
export const refusedHere = ({ baseUrl }: Settings<Form>, call: FailedCall): Error | undefined =>
  baseUrl !== undefined && OwnServers.listensHere(baseUrl) ? unsent(call, ownServer(baseUrl)) : undefined

const unsent = (call: FailedCall, reason: string) => CallErrors.lost(call, { phase: "connect", sent: false, reason })

const unanswered = (call: FailedCall, limit: number, { isOut, late, reason, sent }: NoAnswer) =>
  CallErrors.lost(call, {
    phase: sent ? "unknown" : "connect",
    sent: sent && (call.effect !== "create" || isOut),
    reason: late ? `the call did not end within ${limit} ms` : reason,
    timeout: late ? "total" : undefined
  })

const ownServer = (baseUrl: string): string =>
  `the service at ${baseUrl} runs on this thread, which the call blocks, so it could never answer. Start it in a process ` +
  "of its own (`postwire sandbox`), or call it with @postwire/node"
