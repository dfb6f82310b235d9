/**
 * Finds stored posts or users that are gone, hidden or changed since: their ids are sent to the service, and its results are
 * fetched when it has checked all of them. Ids without a result are unchanged.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Client } from "../client/Client.ts"
import { dataOf } from "../client/DataOf.ts"
import * as OptionRules from "../client/OptionRules.ts"
import * as Transfer from "../client/Transfer.ts"
import {
  ComplianceExpired,
  ComplianceFailed,
  ComplianceNotComplete,
  type ComplianceRefused
} from "../errors/ComplianceErrors.ts"
import { invalidParameter, type OperationError, type OutcomeUnknown } from "../errors/Errors.ts"
import * as Operations from "../operations/ComplianceJobs.ts"
import * as Callback from "../runtime/Callback.ts"
import * as Monotonic from "../runtime/Monotonic.ts"
import type { ComplianceJob } from "../schema/models/ComplianceJob.ts"
import { verdictOf } from "../streams/StreamFailure.ts"
import * as ComplianceIds from "./internal/complianceIds.ts"
import * as ComplianceResults from "./internal/complianceResults.ts"

/** The kind of the checked ids. */
export type Type = "posts" | "users"

/** Ids in an iterable, an async iterable or a Stream, or a text with one id per line in any form that `upload` accepts. */
export type Ids = ComplianceIds.Ids

/**
 * A post or user to delete. `action` is `delete`. `reason` is `deleted`, `deactivated`, `protected`, `suspended` or `bounced`; for
 * a post also `scrub_geo`, which requires deleting only its places.
 */
export interface Result {
  readonly id: string
  readonly action: "delete" | (string & {})
  readonly reason?: "deleted" | "deactivated" | "protected" | "suspended" | "scrub_geo" | "bounced" | (string & {})
  /** The time at which the post or user was created. */
  readonly created_at?: string
  /** The time of the event. */
  readonly redacted_at?: string
}

/** A job from `createComplianceJob` or `getComplianceJob`. Missing properties are looked up. */
export interface Job extends Partial<ComplianceJob> {
  readonly id: string
}

/** The progress of a check. */
export interface Progress {
  /** Sends ids, waits for the service, or fetches results. */
  readonly phase: "upload" | "wait" | "results"
  readonly jobId: string
  /** The number of ids sent, including earlier jobs. */
  readonly ids: number
}

/** Options of waiting for a job. */
export interface WaitOptions {
  /** Longest wait in milliseconds. Default: 12 hours. */
  readonly maxWait?: number | undefined
}

/** Parameters of a check. */
export interface CheckOptions<out I = Ids> extends WaitOptions {
  readonly type: Type
  readonly ids: I
  /** The name of the jobs: 1 to 64 characters. Default: a unique one. */
  readonly name?: string | undefined
  /** Most ids per job; jobs run one after the other. Default: 1,000,000, which take 20 MB of memory. */
  readonly idsPerJob?: number | undefined
  /** Called with every step. Its errors are ignored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** The errors of sending ids. */
export type UploadError = ComplianceIds.IdsError | OperationError | ComplianceExpired | ComplianceRefused

/** The errors of waiting for a job. */
export type WaitError = OperationError | ComplianceFailed | ComplianceExpired | ComplianceNotComplete

/** The errors of fetching results. */
export type ResultsError = WaitError | ComplianceResults.ResultsError

/** The errors of a check. */
export type CheckError = UploadError | ResultsError | OutcomeUnknown

/**
 * Sends the ids of a job to its `upload_url` and returns their number. A second upload replaces the first. Memory holds about 20
 * bytes per id until they are sent.
 *
 * ```ts
 * const sent = yield* upload(job, ["1460323737035677698", "1519781379172495360"])
 * ```
 */
export const upload = (job: Job, ids: Ids): Effect.Effect<number, UploadError, Client> =>
  Effect.flatMap(
    Stream.runCollect(ComplianceIds.pieces("Compliance.upload", ids)),
    (pieces) => send(job, pieces, "Compliance.upload")
  )

/**
 * Waits until a job is complete, with pauses from one second to half a minute. Temporary errors such as a 503 are retried.
 *
 * ```ts
 * const complete = yield* wait(job, { maxWait: 600_000 })
 * ```
 */
export const wait = Effect.fnUntraced(function*(
  { id, status: known = "unknown" }: Pick<Job, "id" | "status">,
  { maxWait = defaultMaxWaitMillis }: WaitOptions = {}
): Effect.fn.Return<ComplianceJob, WaitError, Client> {
  const begun = yield* Monotonic.millis
  let status: string = known
  for (let pause = shortestPauseMillis;; pause = Math.min(pause * 2, longestPauseMillis)) {
    const looked = yield* Effect.result(lookup(id))
    let retryAfter = 0
    if (looked._tag === "Success") {
      const job = looked.success
      if (job.status === "complete") return job
      yield* endOf(job)
      status = job.status
    } else {
      const verdict = verdictOf(looked.failure, true)
      if (verdict._tag !== "Again") return yield* looked.failure
      retryAfter = verdict.retryAfter ?? (verdict.notBefore?.getTime() ?? 0) - (yield* Clock.currentTimeMillis)
    }
    const waited = (yield* Monotonic.millis) - begun
    if (waited >= maxWait) return yield* new ComplianceNotComplete({ jobId: id, status, waited })
    yield* Effect.sleep(Math.min(Math.max(pause, retryAfter), maxWait - waited))
  }
})

/**
 * The results of a job. Memory holds a small part of them at a time, and a lost connection is resumed. A job that is not known to
 * be complete is looked up once; if it is not complete, the stream fails with `ComplianceNotComplete`.
 *
 * ```ts
 * const gone = results(job).pipe(Stream.filter(({ reason }) => reason !== "scrub_geo"))
 * ```
 */
export const results = (job: Job): Stream.Stream<Result, ResultsError, Client> =>
  Stream.unwrap(Effect.gen(function*() {
    const known = job.status === "complete" && isThere(job.download_url) ? job : yield* lookup(job.id)
    if (known.status !== "complete") {
      yield* endOf(known)
      return yield* new ComplianceNotComplete({ jobId: job.id, status: known.status ?? "created" })
    }
    const { download_expires_at, download_url = "", id } = known
    if (ComplianceResults.isOver(download_expires_at, yield* Clock.currentTimeMillis)) {
      return yield* new ComplianceExpired({ jobId: id, what: "download" })
    }
    return ComplianceResults.read({ id, download_url, download_expires_at })
  }))

/**
 * Checks ids completely: creates a job, sends its ids, waits for it and fetches its results, and repeats that if there are more ids
 * than one job holds. An app can have one unfinished job of a type at a time.
 *
 * ```ts
 * const gone = check({ type: "posts", ids: ["1460323737035677698", "1519781379172495360"] })
 * ```
 */
export const check = ({
  ids,
  idsPerJob = defaultIdsPerJob,
  name,
  onProgress,
  type,
  ...options
}: CheckOptions): Stream.Stream<Result, CheckError, Client> => {
  const invalid = OptionRules.check(operation, { idsPerJob }, { idsPerJob: OptionRules.whole(1) })
  if (invalid !== undefined) return Stream.fail(invalid)
  const most = Math.min(idsPerJob, ComplianceIds.pieceIds)
  let sent = 0
  const ofJob = Effect.fnUntraced(function*(pieces: ReadonlyArray<ComplianceIds.Piece>) {
    const job = yield* create(type, name)
    const report = (phase: Progress["phase"]) => {
      if (onProgress !== undefined) Callback.call(onProgress, { phase, jobId: job.id, ids: sent })
    }
    report("upload")
    sent += yield* send(job, pieces, operation)
    report("wait")
    const complete = yield* wait(job, options)
    report("results")
    return results(complete)
  })
  return Stream.suspend(() => {
    sent = 0
    let jobs = 0
    return ComplianceIds.pieces(operation, ids, most).pipe(
      Stream.grouped(Math.max(1, Math.floor(idsPerJob / most))),
      Stream.flatMap((pieces) => {
        jobs++
        return Stream.unwrap(ofJob(pieces))
      }),
      Stream.concat(Stream.suspend(() => jobs === 0 ? Stream.fail(ComplianceIds.none(operation)) : Stream.empty))
    )
  })
}

const operation = "Compliance.check"

const defaultIdsPerJob = 1_000_000

const defaultMaxWaitMillis = 43_200_000

const shortestPauseMillis = 1_000

const longestPauseMillis = 30_000

const isThere = (address: string | undefined): boolean => address !== undefined && address !== ""

const lookup = (id: string): Effect.Effect<ComplianceJob, OperationError, Client> =>
  dataOf("getComplianceJob", Operations.getComplianceJob({ id }))

/** Creates a job. If the response is lost, the job is found by its unique name. */
const create = (type: Type, given: string | undefined) =>
  Effect.suspend(() => {
    const name = given ?? `postwire-${globalThis.crypto.randomUUID()}`
    return Effect.catchTag(
      dataOf("createComplianceJob", Operations.createComplianceJob({ type, name })),
      "OutcomeUnknown",
      (error) =>
        given !== undefined ? Effect.fail(error) : Effect.flatMap(
          Operations.getComplianceJobs({ type, status: "created" }),
          ({ data = [] }) => {
            const found = data.find((job) => job.name === name)
            return found === undefined ? Effect.fail(error) : Effect.succeed(found)
          }
        )
    )
  })

const endOf = (
  { id: jobId, status }: Job
): Effect.Effect<void, ComplianceFailed | ComplianceExpired> =>
  status === "failed"
    ? Effect.fail(new ComplianceFailed({ jobId }))
    : status === "expired"
    ? Effect.fail(new ComplianceExpired({ jobId, what: "job" }))
    : Effect.void

const send = Effect.fnUntraced(function*(
  job: Job,
  pieces: ReadonlyArray<ComplianceIds.Piece>,
  caller: string
): Effect.fn.Return<number, UploadError, Client> {
  if (pieces.length === 0) return yield* ComplianceIds.none(caller)
  const { id, resumable, upload_expires_at, upload_url = "" } = isThere(job.upload_url) ? job : yield* lookup(job.id)
  if (resumable === true) {
    return yield* invalidParameter(caller, "job", "must be created without resumable", undefined)
  }
  const client = yield* Client
  if (ComplianceResults.isOver(upload_expires_at, yield* Clock.currentTimeMillis)) {
    return yield* new ComplianceExpired({ jobId: id, what: "upload" })
  }
  const response = yield* Transfer.send(yield* client.transfers, {
    operation: caller,
    method: "PUT",
    url: upload_url,
    // The signature of the URL covers the content type.
    body: { type: "text/plain", bytes: pieces.map(({ bytes }) => bytes) }
  })
  if (response.status < 200 || response.status >= 300) {
    return yield* ComplianceResults.refusal(id, "upload", upload_expires_at, response)
  }
  return pieces.reduce((sum, { count }) => sum + count, 0)
})
