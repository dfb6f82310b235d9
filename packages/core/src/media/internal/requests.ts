/** The calls of an upload, each sent again for as long as that makes sense: nothing is harmed by any that the service gets twice. */
import * as Effect from "effect/Effect"
import * as CallErrors from "../../client/CallErrors.ts"
import { Client } from "../../client/Client.ts"
import { dataOf } from "../../client/DataOf.ts"
import * as Retry from "../../client/Retry.ts"
import type { OperationError } from "../../errors/Errors.ts"
import { MediaNotReady, MediaProcessingFailed } from "../../errors/UploadErrors.ts"
import * as Media from "../../operations/Media.ts"
import * as Monotonic from "../../runtime/Monotonic.ts"

/** Whom the calls are for. */
export interface Caller {
  readonly user_auth: boolean | undefined
}

type Call<A> = Effect.Effect<A, OperationError, Client>

/** What the service says of media that it has as a whole. */
export type Status = NonNullable<Effect.Success<ReturnType<typeof Media.getMediaUploadStatus>>["data"]>

const askedFor = (id: string, caller: Caller): Call<Status> =>
  persist(dataOf("getMediaUploadStatus", Media.getMediaUploadStatus({ media_id: id, ...caller })))

/** How often what was lost is tried besides the client's own retries, with pauses of up to 20 seconds. */
const mostTries = 6

/** Tries again what was lost on its way, or failed on the service's side. A client does so for seconds; an upload is worth minutes. */
export const persist = <A>(call: Call<A>, tried = 0): Call<A> =>
  Effect.catch(call, (error) =>
    isLost(error) && tried < mostTries
      ? Effect.andThen(pause(tried), persist(call, tried + 1))
      : Effect.fail(error))

/** A client does not wait for so long by itself. */
const pause = (tried: number): Effect.Effect<void> =>
  Effect.flatMap(Retry.pause(tried + 2, undefined), (millis = 0) => Effect.sleep(millis))

const isLost = (error: OperationError): boolean =>
  error._tag === "TransportFailure"
    ? error.phase !== "tls" && error.reason !== CallErrors.closedReason
    : error._tag === "ServerFailure"

/**
 * Ends an upload. When the answer is lost, the service is asked whether it has the media before it is told again: some refuse
 * what they have done already.
 */
export const finalize = (id: string, caller: Caller, tried = 0): Call<Status> => {
  const data = dataOf("finalizeMediaUpload", Media.finalizeMediaUpload({ id, ...caller }, { retries: 0 }))
  const orElse = (error: OperationError, otherwise: Call<Status>): Call<Status> =>
    Effect.flatMap(
      statusOf(id, caller),
      (status) => status !== undefined && (isWhole(status) || !isLost(error)) ? Effect.succeed(status) : otherwise
    )
  return Effect.catch(data, (error) => {
    if ((isLost(error) || error._tag === "UndecodableResponse") && tried < mostTries) {
      return Effect.andThen(pause(tried), orElse(error, Effect.suspend(() => finalize(id, caller, tried + 1))))
    }
    return error._tag === "BadRequest" && tried > 0 ? orElse(error, Effect.fail(error)) : Effect.fail(error)
  })
}

/** What the service says of an upload that was ended; `undefined` where it was not, or is not known. */
export const ended = (id: string, caller: Caller): Call<Status | undefined> =>
  Effect.map(statusOf(id, caller), (status) => status !== undefined && isWhole(status) ? status : undefined)

const statusOf = (id: string, caller: Caller): Call<Status | undefined> =>
  Effect.catch(askedFor(id, caller), (error) => isRefused(error) ? Effect.undefined : Effect.fail(error))

/** Whether the service does not know an upload, or not any more, or not as one of ours. */
export const isRefused = ({ _tag }: OperationError): boolean =>
  _tag === "NotFound" || _tag === "BadRequest" || _tag === "Forbidden"

/** Only what was ended has a size, or is processed. */
const isWhole = ({ processing_info, size }: Status): boolean => size !== undefined || processing_info !== undefined

const shortestPauseSeconds = 1
const longestPauseSeconds = 30

/** Waits until media can be used. `told` hears how much of it is processed, 0 to 1. */
export const ready = Effect.fnUntraced(function*(
  first: Status,
  { caller, maxWait, told }: {
    readonly caller: Caller
    readonly maxWait: number
    readonly told: (fraction: number) => void
  }
): Effect.fn.Return<Status, OperationError | MediaProcessingFailed | MediaNotReady, Client> {
  const { id } = first
  const begun = yield* Monotonic.millis
  let status = first
  while (status.processing_info !== undefined && status.processing_info.state !== "succeeded") {
    const { check_after_secs = 0, error, progress_percent = 0, state } = status.processing_info
    if (state === "failed") {
      const redact = yield* (yield* Client).redact
      return yield* new MediaProcessingFailed({
        mediaId: id,
        reason: error?.name && redact(error.name),
        detail: error?.message && redact(error.message),
        code: error?.code
      })
    }
    told(Math.min(Math.max(progress_percent / 100, 0), 1))
    const waited = (yield* Monotonic.millis) - begun
    if (waited >= maxWait) return yield* new MediaNotReady({ mediaId: id, waited })
    const seconds = Math.min(Math.max(check_after_secs, shortestPauseSeconds), longestPauseSeconds)
    yield* Effect.sleep(Math.min(seconds * 1000, maxWait - waited))
    status = yield* askedFor(id, caller)
  }
  if (first.processing_info !== undefined) told(1)
  return status
})
