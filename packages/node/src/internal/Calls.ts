/** One call as a promise: it runs until it ends, its signal is aborted or the client is closed. */
import * as CallErrors from "@postwire/core/CallErrors"
import type * as Core from "@postwire/core/CallOptions"
import { Client } from "@postwire/core/Client"
import type { Definition, Form } from "@postwire/core/Definition"
import { type AnyError, InvalidParameters, show } from "@postwire/core/Errors"
import type { Response } from "@postwire/core/Response"
import * as Cause from "effect/Cause"
import * as Services from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

/** What the platform does for a client. Nothing else of it is known here. */
export interface Platform {
  /** A response as web APIs have it, whether or not its body was read before. */
  readonly webOf: (response: HttpClientResponse) => Promise<globalThis.Response>
  /** Lets the event loop turn once, so that a request that was begun leaves. */
  readonly turn: () => Promise<unknown>
}

/** What the calls of a client have in common. */
export interface Context {
  readonly client: Client["Service"]
  readonly platform: Platform
  /** Aborted when the client is closed. */
  readonly closing: AbortSignal
  readonly fork: <A>(effect: Effect.Effect<A, AnyError, Client>) => Fiber.Fiber<A, AnyError>
  /** What is under way. In an array, since a Set whose members come and go makes work for the collector. */
  readonly steps: Array<Step>
}

interface Step {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  index: number
}

/** Of a client on these services, until `closing` is aborted. */
export const contextOf = (
  services: Services.Context<Client>,
  closing: AbortSignal,
  platform: Platform
): Context => {
  const steps: Array<Step> = []
  // One listener for all steps: a signal walks all that it has whenever one comes or goes.
  closing.addEventListener("abort", () => {
    for (const { fiber } of steps.slice()) fiber.interruptUnsafe()
  }, { once: true })
  return { client: Services.get(services, Client), platform, closing, fork: Effect.runForkWith(services), steps }
}

/** What a call takes besides its parameters. */
export interface CallOptions extends Core.CallOptions {
  /** Ends the call at once, wherever it is; the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** A result and what it was read from. */
export interface Exchange {
  readonly raw: HttpClientResponse
  readonly data: unknown
}

/** Calls an operation and reads what comes, in a form. */
export const exchange = async (
  context: Context,
  definition: Definition,
  form: Form,
  parameters: object,
  options: CallOptions | undefined
): Promise<Exchange> => {
  const [signal, rest] = split(definition, options)
  const { raw, response } = valueOf(
    context,
    await run(context, definition, fetched(context, definition, form, parameters, rest), signal),
    signal
  )
  if (response === undefined) return { raw, data: await context.platform.webOf(raw) }
  return { raw, data: form === "response" ? response : response.body }
}

interface Fetched {
  readonly raw: HttpClientResponse
  /** None in the raw form, in which nothing is read. */
  readonly response: Response<unknown, unknown> | undefined
}

const fetched = (
  { client }: Context,
  definition: Definition,
  form: Form,
  parameters: object,
  options: Core.CallOptions | undefined
): Effect.Effect<Fetched, AnyError> =>
  Effect.flatMap(
    client.request(definition, parameters, options),
    (raw): Effect.Effect<Fetched, AnyError> =>
      form === "raw"
        ? Effect.succeed({ raw, response: undefined })
        : Effect.map(client.read(definition, raw), (response) => ({ raw, response }))
  )

/** Runs a step to its end. */
export const run = <A>(
  { closing, fork, steps }: Context,
  definition: Definition,
  effect: Effect.Effect<A, AnyError, Client>,
  signal: AbortSignal | undefined
): Promise<Exit.Exit<A, AnyError>> => {
  signal?.throwIfAborted()
  if (closing.aborted) throw CallErrors.closed(definition)
  return new Promise((resolve) => {
    const fiber = fork(effect)
    const step = { fiber, index: steps.length }
    steps.push(step)
    const interrupt = () => fiber.interruptUnsafe()
    signal?.addEventListener("abort", interrupt, { once: true })
    fiber.addObserver((exit) => {
      signal?.removeEventListener("abort", interrupt)
      const last = steps.pop()
      if (last !== undefined && last !== step) {
        last.index = step.index
        steps[step.index] = last
      }
      resolve(exit)
    })
  })
}

/**
 * What a step led to. The stack of an error begins where the call is awaited: the frames of the runtime, in which it was
 * made, lead nowhere, and to note the caller beforehand would cost calls that succeed some microseconds.
 */
export const valueOf = <A>(
  { closing }: Context,
  exit: Exit.Exit<A, AnyError>,
  signal: AbortSignal | undefined
): A => {
  if (Exit.isSuccess(exit)) return exit.value
  signal?.throwIfAborted()
  closing.throwIfAborted()
  const failure = Cause.findErrorOption(exit.cause)
  if (Option.isNone(failure)) throw Cause.squash(exit.cause)
  // Not every engine has it.
  if ("captureStackTrace" in Error) Error.captureStackTrace(failure.value, valueOf)
  throw failure.value
}

/** The signal among the options, and the others. What is no object is for the core to refuse. */
export const split = <O extends { readonly signal?: AbortSignal | undefined }>(
  { name }: Definition,
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
