/** One connection of a stream: a request whose response has no end. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { RequestInit } from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Redaction from "../../auth/Redaction.ts"
import * as AttemptFailure from "../../client/AttemptFailure.ts"
import { Client } from "../../client/Client.ts"
import type { Meter } from "../../client/SpendGuard.ts"
import * as Errors from "../../errors/Errors.ts"
import { Watch } from "../../http/Deadlines.ts"
import * as Timeouts from "../../http/Timeouts.ts"
import { buffered, type Carrier, limit, noRedirects, Streaming } from "../../http/Transport.ts"
import type { Anomaly } from "../../schema/Anomaly.ts"
import type { Definition } from "../../schema/Definition.ts"
import type { Headers } from "../../schema/Response.ts"
import * as DecodeLines from "./decodeLines.ts"

/** Options besides the parameters. */
export interface OpenOptions {
  /** Overrides the client's time limit until the body begins, in milliseconds. */
  readonly timeout?: Pick<Timeouts.Timeouts, "firstByte"> | undefined
  /** The longest line, in bytes; default 4 MiB. */
  readonly longestLine?: number | undefined
}

/** An open connection. It is closed with the scope in which it was opened. */
export interface Opened {
  readonly status: number
  readonly headers: Headers
  /** The decoded body. */
  readonly chunks: Stream.Stream<Uint8Array, HttpClientError>
  /** The lines of the body; lines that arrive together stay together. Read either this or `chunks`, and only once. */
  readonly entries: Stream.Stream<DecodeLines.Entry, Errors.TransportFailure | Errors.SpendLimitReached>
}

type Entries<E> = Pull.Pull<Arr.NonEmptyReadonlyArray<DecodeLines.Entry>, E>

/** Opens a connection with one request, without retries. Once the response has begun, it has no total time limit. */
export const open = (
  definition: Definition,
  parameters: unknown,
  { longestLine: longest, timeout }: OpenOptions = {}
): Effect.Effect<Opened, Errors.AnyError, Client | Scope.Scope> =>
  Effect.gen(function*() {
    const client = yield* Client
    const { anomalies, request, verify, wire } = client.live
    const carry = carrier(yield* Effect.scope)
    const options = { retries: 0, timeout: { ...timeout, total: 0 } }
    const meters: Array<Meter> = []
    const response = yield* request(carry, (own) => void meters.push(own))(definition, parameters, options)
    const [meter] = meters
    if (meter !== undefined) yield* Effect.addFinalizer(() => meter.end)
    const redact = yield* client.redact
    const chunks = response.stream
    const left: Array<Anomaly> = []
    const onAnomalies = (found: ReadonlyArray<Anomaly>) => void left.push(...found)
    const decoder = DecodeLines.make(definition, { wire, verify, redact, longest, onAnomalies })
    const report = Effect.suspend(() => anomalies.found(definition.name, left.splice(0)))
    const brokenOff = ({ reason }: HttpClientError) => {
      const cause = "cause" in reason ? reason.cause : undefined
      return new Errors.TransportFailure({
        operation: definition.name,
        phase: "body",
        timeout: undefined,
        reason: redact(AttemptFailure.messageOf(cause) ?? "the response broke off"),
        cause: Redaction.within(cause, redact)
      })
    }
    return {
      status: response.status,
      headers: response.headers,
      chunks,
      entries: Stream.transformPull(Stream.mapError(chunks, brokenOff), (pull) => {
        const read = Effect.tap(reading(pull, decoder), () => left.length === 0 ? Effect.void : report)
        return Effect.succeed(meter === undefined ? read : counting(read, meter))
      })
    }
  })

/** Decodes the pieces that are pulled. At their end, the rest is decoded as a line. */
const reading = <E>(
  pull: Pull.Pull<Arr.NonEmptyReadonlyArray<Uint8Array>, E>,
  decoder: DecodeLines.Decoder
): Entries<E> => {
  let parts: ReadonlyArray<Uint8Array> = []
  let at = 0
  const next: Entries<E> = Effect.suspend(() => {
    if (parts.length === 0) {
      return Effect.flatMap(pull, (pieces) => {
        parts = pieces.every(({ length }) => length <= partBytes) ? pieces : pieces.flatMap(partsOf)
        at = 0
        return next
      })
    }
    const entries: Array<DecodeLines.Entry> = []
    while (at < parts.length && entries.length < turnLines) decoder.push(parts[at++]!, entries)
    if (at === parts.length) parts = []
    const read = Arr.isReadonlyArrayNonEmpty(entries) ? Effect.succeed(entries) : next
    return parts.length === 0 ? read : Effect.andThen(Effect.yieldNow, read)
  })
  let isOver = false
  const all: Entries<E> = Pull.catchDone(next, () => {
    isOver = true
    const rest = decoder.end()
    return Arr.isReadonlyArrayNonEmpty(rest) ? Effect.succeed(rest) : Cause.done()
  })
  return Effect.suspend((): Entries<E> => isOver ? Cause.done() : all)
}

/** The number of lines after which other fibers run. */
const turnLines = 64

/** The most bytes that are decoded together, so that many short lines are read in turns, too. They take the longest. */
const partBytes = 16_384

const partsOf = (piece: Uint8Array): ReadonlyArray<Uint8Array> =>
  Array.from(
    { length: Math.ceil(piece.length / partBytes) },
    (_, index) => piece.subarray(index * partBytes, (index + 1) * partBytes)
  )

/** Counts the spending. Items that reach a limit are charged, so they are delivered before the limit ends the stream. */
const counting = <E>(pull: Entries<E>, meter: Meter): Entries<E | Errors.SpendLimitReached> => {
  let reached: Errors.SpendLimitReached | undefined
  const counted: Entries<E> = Effect.flatMap(pull, (entries) => {
    const bodies = entries.filter(DecodeLines.isItem).map(({ body }) => body)
    if (bodies.length === 0) return Effect.succeed(entries)
    return Effect.match(meter.count(bodies), {
      onFailure: (error) => {
        reached = error
        return entries
      },
      onSuccess: () => entries
    })
  })
  return Effect.suspend((): Entries<E | Errors.SpendLimitReached> =>
    reached === undefined ? counted : Effect.fail(reached)
  )
}

/** Sends the request of a stream. The connection is closed with the scope. The body of an error response is read completely. */
const carrier = (scope: Scope.Scope): Carrier => (http, allowance, request, fiber, clock) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Scope.fork(scope), (connection) => {
      const watch = new Watch(clock, allowance)
      const init = Context.getOrUndefined(fiber.context, RequestInit)
      const plain = HttpClientRequest.setHeader(request, "accept-encoding", "identity")
      const opened = Effect.flatMap(HttpClient.withScope(http).execute(plain), (response) => {
        if (response.status >= 200 && response.status < 300) return Effect.succeed(response)
        watch.reached("body")
        return buffered(request, response, watch)
      })
      return Effect.onExit(
        restore(Effect.raceFirst(
          Effect.provideContext(
            opened,
            Context.make(Timeouts.Progress, watch).pipe(
              Context.add(Streaming, connection),
              Context.add(Scope.Scope, connection),
              Context.add(RequestInit, init === undefined ? noRedirects : { ...init, ...noRedirects })
            )
          ),
          limit(watch, request)
        )),
        (exit) =>
          Exit.isSuccess(exit) && exit.value.status >= 200 && exit.value.status < 300
            ? Effect.void
            : Scope.close(connection, exit)
      )
    })
  )
