/** One connection of a stream: opened within the usual limits, and then read until somebody ends it. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Redaction from "../../auth/Redaction.ts"
import * as AttemptFailure from "../../client/AttemptFailure.ts"
import { Client } from "../../client/Client.ts"
import type { Meter } from "../../client/SpendGuard.ts"
import * as Errors from "../../errors/Errors.ts"
import type * as Timeouts from "../../http/Timeouts.ts"
import type { Anomaly } from "../../schema/Anomaly.ts"
import type { Definition } from "../../schema/Definition.ts"
import type { Headers } from "../../schema/Response.ts"
import * as DecodeLines from "./decodeLines.ts"
import * as Transport from "./transport.ts"

/** What opening may take besides parameters. */
export interface OpenOptions {
  /** Limits in milliseconds for what comes before the body: `firstByte`. Instead of those of the client. */
  readonly timeout?: Pick<Timeouts.Timeouts, "firstByte"> | undefined
  /** The longest line in bytes; default 4 MiB. */
  readonly longestLine?: number | undefined
}

/** An answer that goes on. It ends with the scope in which it was opened, or when the service or the network ends it. */
export interface Opened {
  readonly status: number
  readonly headers: Headers
  /** The body as it comes, without its encoding. */
  readonly chunks: Stream.Stream<Uint8Array, HttpClientError>
  /** What its lines are, as many at once as came at once. It is read once, instead of `chunks`. */
  readonly entries: Stream.Stream<DecodeLines.Entry, Errors.TransportFailure | Errors.SpendLimitReached>
}

type Entries<E> = Pull.Pull<Arr.NonEmptyReadonlyArray<DecodeLines.Entry>, E>

/** Opens a stream: one request, which is not repeated, whose answer may take as long as it likes once it has begun. */
export const open = (
  definition: Definition,
  parameters: unknown,
  { longestLine: longest, timeout }: OpenOptions = {}
): Effect.Effect<Opened, Errors.AnyError, Client | Scope.Scope> =>
  Effect.gen(function*() {
    const client = yield* Client
    const { anomalies, request, verify, wire } = client.live
    const carry = Transport.make(yield* Effect.scope)
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
    const told = Effect.suspend(() => anomalies.found(definition.name, left.splice(0)))
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
      entries: Stream.transformPull(
        Stream.mapError(chunks, brokenOff),
        (pull) => {
          const read = Effect.tap(reading(pull, decoder), () => left.length === 0 ? Effect.void : told)
          return Effect.succeed(meter === undefined ? read : counting(read, meter))
        }
      )
    }
  })

/** What the pieces say that are pulled, and what is left of them when there are no more. */
const reading = <E>(
  pull: Pull.Pull<Arr.NonEmptyReadonlyArray<Uint8Array>, E>,
  decoder: DecodeLines.Decoder
): Entries<E> => {
  let parts: Array<ReadonlyArray<Uint8Array>> = []
  const next: Entries<E> = Effect.suspend(() => {
    const part = parts.shift()
    if (part === undefined) {
      return Effect.flatMap(pull, (pieces) => {
        parts = partsOf(pieces)
        return next
      })
    }
    const entries = decoder.push(...part)
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

/** The most bytes that are read before the rest of the program has a turn. Short lines take longest. */
const partBytes = 16_384

const partsOf = (pieces: ReadonlyArray<Uint8Array>): Array<ReadonlyArray<Uint8Array>> => {
  if (pieces.every(({ length }) => length <= partBytes)) return [pieces]
  return pieces.flatMap((piece) =>
    Array.from(
      { length: Math.ceil(piece.length / partBytes) },
      (_, index) => [piece.subarray(index * partBytes, (index + 1) * partBytes)]
    )
  )
}

/** What came is charged, so it is given before a limit ends it. */
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
