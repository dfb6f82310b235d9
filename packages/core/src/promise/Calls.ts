/** One call as a promise: it runs until it completes, its signal is aborted or the client is closed. */
import * as Cause from "effect/Cause"
import * as Services from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as CallErrors from "../client/CallErrors.ts"
import type * as Core from "../client/CallOptions.ts"
import { Client } from "../client/Client.ts"
import { SendGate, SendTracker } from "../client/SendGate.ts"
import { type AnyError, InvalidParameters } from "../errors/Errors.ts"
import type { Id } from "../schema/Codecs.ts"
import type { Form } from "../schema/Definition.ts"
import { show } from "../schema/Show.ts"
import type { Journal } from "../storage/Journal.ts"
import type { CallDescription } from "./Methods.ts"
import type { OperationKind } from "./OperationMethods.ts"

/** The functions of a platform that clients need. */
export interface Platform {
  /** Converts a response to a web `Response`, even if its body was read before. */
  readonly webOf: (response: HttpClientResponse) => Promise<globalThis.Response>
  /** Lets the event loop turn once, so that a started request is sent. */
  readonly turn: () => Promise<unknown>
}

/** The services that a client provides to Effects. */
export type Provided = Client | Journal

/** The context of the calls of a client. */
export interface Context {
  readonly client: Client["Service"]
  readonly platform: Platform
  /** Aborted when the client is closed. */
  readonly closing: AbortSignal
  readonly fork: <A, E>(effect: Effect.Effect<A, E, Provided>) => Fiber.Fiber<A, E>
  /** The running steps. An array, since a Set whose members change often is work for the garbage collector. */
  readonly steps: Array<Step>
}

interface Step {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  index: number
}

/** The context of a client with these services, until `closing` is aborted. */
export const contextOf = (
  services: Services.Context<Provided>,
  closing: AbortSignal,
  platform: Platform
): Context => {
  const steps: Array<Step> = []
  // One listener for all steps: adding or removing a listener visits all others of a signal.
  closing.addEventListener("abort", () => {
    for (const { fiber } of steps.slice()) fiber.interruptUnsafe()
  }, { once: true })
  return { client: Services.get(services, Client), platform, closing, fork: Effect.runForkWith(services), steps }
}

/** The options of a call. */
export interface CallOptions extends Core.CallOptions {
  /** Aborts the call immediately; the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** The promise of a result, which can also return the HTTP response. */
export interface Answer<A> extends Promise<A> {
  /** The result with its HTTP response: status, headers, body. Sends no further request. */
  readonly withResponse: () => Promise<{ readonly data: A; readonly response: globalThis.Response }>
}

/** The methods of a Promise client: they return Promises and asynchronous iterables. */
export interface Promises extends OperationKind {
  readonly one: Promise<this["value"]>
  readonly answer: Answer<this["value"]>
  readonly raw: globalThis.Response
  readonly many: AsyncIterable<this["value"]>
  readonly options: Pick<CallOptions, "signal">
  readonly ids: Iterable<Id> | AsyncIterable<Id>
}

/** Options with a signal. */
export type Signalled<O> = O & Pick<CallOptions, "signal">

/** Makes a call and decodes its response to a return type. A raw response is not decoded. */
export const exchange = (
  context: Context,
  description: CallErrors.CallInfo,
  form: Form,
  send: (options: Core.CallOptions | undefined) => Effect.Effect<HttpClientResponse, AnyError>,
  options: CallOptions | undefined
): Answer<unknown> => {
  const { client, platform } = context
  let raw: HttpClientResponse
  // One promise: an async function around it would allocate as much as everything else in this module.
  const result = new Promise<unknown>((resolve) => {
    const parts = options === undefined ? undefined : split(description, options)
    const signal = parts?.[0]
    const read = Effect.flatMap(send(parts?.[1]), (response) => {
      raw = response
      return form === "raw" ? Effect.undefined : client.read(description, response)
    })
    start(context, description, read, signal, (exit) => {
      if (Exit.isFailure(exit)) return resolve(rejected(exit, signal))
      const response = exit.value
      resolve(response === undefined ? platform.webOf(raw) : form === "response" ? response : response.body)
    })
  })
  return Object.assign(result, {
    withResponse: () => result.then(async (data) => ({ data, response: await platform.webOf(raw) }))
  })
}

/** Rejects with the error of a step. */
const rejected = async (exit: Exit.Exit<unknown, Error>, signal: AbortSignal | undefined): Promise<unknown> => {
  // After two turns the promise of the call follows this one, so that the stack shows the line that awaits it.
  await undefined
  await undefined
  return valueOf(exit, signal, rejected)
}

/** Runs an Effect with the options of a method, and returns its result. */
export const call = async <O extends Signalled<object>, A, E extends Error>(
  context: Context,
  description: CallDescription,
  options: O | undefined,
  effectOf: (options: Omit<O, "signal"> | undefined) => Effect.Effect<A, E, Provided>
): Promise<A> => {
  const [signal, rest] = split(description, options)
  return valueOf(await run(context, description, Effect.suspend(() => effectOf(rest)), signal), signal, call)
}

/** Runs a step until it completes or the client is closed. */
export const run = <A, E>(
  context: Context,
  description: CallDescription,
  effect: Effect.Effect<A, E, Provided>,
  signal: AbortSignal | undefined
): Promise<Exit.Exit<A, E | AnyError>> => new Promise((resolve) => start(context, description, effect, signal, resolve))

/** Starts a step, and calls `done` when it is completed or the client is closed. */
const start = <A, E>(
  { closing, fork, steps }: Context,
  description: CallDescription,
  effect: Effect.Effect<A, E, Provided>,
  signal: AbortSignal | undefined,
  done: (exit: Exit.Exit<A, E | AnyError>) => void
): void => {
  signal?.throwIfAborted()
  if (closing.aborted) return done(Exit.fail(CallErrors.closed(description)))
  const gate = description.effect === "create" ? new SendTracker() : undefined
  const fiber = fork(gate === undefined ? effect : Effect.provideService(effect, SendGate, gate))
  const step = { fiber, index: steps.length }
  steps.push(step)
  const stopListening = signal === undefined ? undefined : interruptedBy(signal, fiber)
  fiber.addObserver((exit) => {
    stopListening?.()
    const last = steps.pop()
    if (last !== undefined && last !== step) {
      last.index = step.index
      steps[step.index] = last
    }
    const isCutOff = closing.aborted && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
    done(isCutOff ? Exit.fail(cutOff(description, gate)) : exit)
  })
}

/** Interrupts a fiber when a signal is aborted, until the returned function is called. */
const interruptedBy = (signal: AbortSignal, fiber: Fiber.Fiber<unknown, unknown>): () => void => {
  const interrupt = () => fiber.interruptUnsafe()
  signal.addEventListener("abort", interrupt, { once: true })
  return () => signal.removeEventListener("abort", interrupt)
}

/** The error of a call that was interrupted because its client was closed. */
const cutOff = ({ confirmWith, effect, name }: CallDescription, gate: SendTracker | undefined): AnyError =>
  CallErrors.lost({ operation: name, effect, confirmWith }, {
    phase: "unknown",
    sent: gate?.isOut !== false,
    reason: CallErrors.closedReason
  })

/** A function that programs call, on the stack of the errors it throws. */
export type Caller = (...args: never) => unknown

/**
 * The result of a step. The stack of an error begins where `caller` is called or awaited, so that an uncaught error shows that
 * line. The frames of the runtime, which created the error, do not help, and recording the line beforehand would cost every
 * successful call some microseconds.
 */
export const valueOf = <A>(
  exit: Exit.Exit<A, Error>,
  signal: AbortSignal | undefined,
  caller: Caller
): A => {
  if (Exit.isSuccess(exit)) return exit.value
  signal?.throwIfAborted()
  const failure = Cause.findErrorOption(exit.cause)
  if (Option.isNone(failure)) throw Cause.squash(exit.cause)
  throw startingAt(failure.value, caller)
}

/** An error with the stack that begins where `caller` is called or awaited. */
export const startingAt = <E extends Error>(error: E, caller: Caller): E => {
  // Not every engine supports it.
  if ("captureStackTrace" in Error && typeof Error.captureStackTrace === "function") {
    Error.captureStackTrace(error, caller)
  }
  return error
}

/** Separates the signal from the other options. The core rejects options that are not an object. */
export const split = <O extends { readonly signal?: AbortSignal | undefined }>(
  { name }: CallDescription,
  options: O | undefined
): readonly [AbortSignal | undefined, Omit<O, "signal"> | undefined] => {
  if (options === undefined || !Predicate.isObject(options)) return [undefined, options]
  const { signal, ...rest } = options
  if (signal === undefined || signal instanceof AbortSignal) return [signal, rest]
  throw new InvalidParameters({
    operation: name,
    parameter: "signal",
    rule: "must be an AbortSignal",
    value: show(signal)
  })
}
