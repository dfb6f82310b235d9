/** The requests of an upload, retried for as long as that may help: all of them are safe to repeat. */
import * as Effect from "effect/Effect"
import * as CallErrors from "../../client/CallErrors.ts"
import { Client } from "../../client/Client.ts"
import { dataOf } from "../../client/DataOf.ts"
import * as Retry from "../../client/Retry.ts"
import type { OperationError } from "../../errors/Errors.ts"
import { MediaNotReady, MediaProcessingFailed } from "../../errors/UploadErrors.ts"
import * as Media from "../../operations/Media.ts"
import * as Monotonic from "../../runtime/Monotonic.ts"

/** The credential of the requests. */
export interface Caller {
  readonly user_auth: boolean | undefined
}

type Call<A> = Effect.Effect<A, OperationError, Client>

/** The status of a finished upload. */
export type Status = NonNullable<Effect.Success<ReturnType<typeof Media.getMediaUploadStatus>>["data"]>

const statusFor = (id: string, caller: Caller): Call<Status> =>
  persist(dataOf("getMediaUploadStatus", Media.getMediaUploadStatus({ media_id: id, ...caller })))

/** Attempts after a lost response, besides the client's own retries, with pauses of up to 20 seconds. */
const maxAttempts = 6

/** Retries transport and server failures. A client does so for seconds; an upload is worth minutes. */
export const persist = <A>(call: Call<A>, tried = 0): Call<A> =>
  Effect.catch(call, (error) =>
    isLost(error) && tried < maxAttempts
      ? Effect.andThen(pause(tried), persist(call, tried + 1))
      : Effect.fail(error))

/** Waits longer than a client does by itself. */
const pause = (tried: number): Effect.Effect<void> =>
  Effect.flatMap(Retry.pause(tried + 2, undefined), (millis = 0) => Effect.sleep(millis))

const isLost = (error: OperationError): boolean =>
  error._tag === "TransportFailure"
    ? error.phase !== "tls" && error.reason !== CallErrors.closedReason
    : error._tag === "ServerFailure"

/** Ends an upload. After a lost response the status is queried before another attempt: some services refuse to finalize twice. */
export const finalize = (id: string, caller: Caller, tried = 0): Call<Status> => {
  const data = dataOf("finalizeMediaUpload", Media.finalizeMediaUpload({ id, ...caller }, { retries: 0 }))
  const orElse = (error: OperationError, otherwise: Call<Status>): Call<Status> =>
    Effect.flatMap(
      statusOf(id, caller),
      (status) => status !== undefined && (isWhole(status) || !isLost(error)) ? Effect.succeed(status) : otherwise
    )
  return Effect.catch(data, (error) => {
    if ((isLost(error) || error._tag === "UndecodableResponse") && tried < maxAttempts) {
      return Effect.andThen(pause(tried), orElse(error, Effect.suspend(() => finalize(id, caller, tried + 1))))
    }
    return error._tag === "BadRequest" && tried > 0 ? orElse(error, Effect.fail(error)) : Effect.fail(error)
  })
}

/** The status of an upload that was ended; `undefined` if it was not, or is unknown to the service. */
export const ended = (id: string, caller: Caller): Call<Status | undefined> =>
  Effect.map(statusOf(id, caller), (status) => status !== undefined && isWhole(status) ? status : undefined)

const statusOf = (id: string, caller: Caller): Call<Status | undefined> =>
  Effect.catch(statusFor(id, caller), (error) => isRefused(error) ? Effect.undefined : Effect.fail(error))

/** Checks for an upload that the service does not know (any more), or that belongs to another user. */
export const isRefused = ({ _tag }: OperationError): boolean =>
  _tag === "NotFound" || _tag === "BadRequest" || _tag === "Forbidden"

/** Only an ended upload has a size or is processed. */
const isWhole = ({ processing_info, size }: Status): boolean => size !== undefined || processing_info !== undefined

const shortestPauseSeconds = 1
const longestPauseSeconds = 30

/** Waits until media can be used. `report` receives the processed fraction, 0 to 1. */
export const ready = Effect.fnUntraced(function*(
  first: Status,
  { caller, maxWait, report }: {
    readonly caller: Caller
    readonly maxWait: number
    readonly report: (fraction: number) => void
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
    report(Math.min(Math.max(progress_percent / 100, 0), 1))
    const waited = (yield* Monotonic.millis) - begun
    if (waited >= maxWait) return yield* new MediaNotReady({ mediaId: id, waited })
    const seconds = Math.min(Math.max(check_after_secs, shortestPauseSeconds), longestPauseSeconds)
    yield* Effect.sleep(Math.min(seconds * 1000, maxWait - waited))
    status = yield* statusFor(id, caller)
  }
  if (first.processing_info !== undefined) report(1)
  return status
})
