/** A compliance job that another run can continue: its name, its id and whether its ids were sent are noted as they become known. */
import type { Client } from "@postwire/core/client/Client"
import { type AnyError, ComplianceExpired, ComplianceFailed } from "@postwire/core/errors/Errors"
import * as Jobs from "@postwire/core/operations/ComplianceJobs"
import * as Compliance from "@postwire/core/workflows/Compliance"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import { randomUUID } from "node:crypto"

/** A job. Its name is noted before it is created, so that it can be found after a crash. */
export const Noted = Schema.Struct({
  name: Schema.String,
  id: Schema.optionalKey(Schema.String),
  isSent: Schema.optionalKey(Schema.Boolean)
})

export type Noted = typeof Noted.Type

/** The parts of a check. */
export interface Check<E> {
  readonly type: Compliance.Type
  readonly ids: Compliance.Ids
  readonly note: (job: Noted) => Effect.Effect<unknown, E>
  readonly use: (
    results: Stream.Stream<Compliance.Result, Compliance.ResultsError, Client>
  ) => Effect.Effect<unknown, E | Compliance.ResultsError, Client>
  readonly onPhase?: ((phase: Compliance.Progress["phase"], jobId: string) => Effect.Effect<unknown>) | undefined
  /** The longest wait for the job, in milliseconds. Default: 12 hours. */
  readonly maxWait?: number | undefined
}

type Error<E> = E | AnyError | Compliance.CheckError

/** Continues a job, or makes one: sends its ids unless an earlier run has, waits for it, and reads its results. */
export const run = <E>(noted: Noted | undefined, check: Check<E>): Effect.Effect<void, Error<E>, Client> =>
  noted?.isSent !== true ? running(noted, check) : Effect.catchIf(
    running(noted, check),
    // A job of an earlier run may have failed or expired since; of a job of this run, the caller decides.
    (error): error is Extract<Error<E>, ComplianceExpired | ComplianceFailed> =>
      error instanceof ComplianceExpired || error instanceof ComplianceFailed,
    () => running(undefined, check)
  )

const running = Effect.fnUntraced(function*<E>(
  noted: Noted | undefined,
  check: Check<E>
): Effect.fn.Return<void, Error<E>, Client> {
  const { ids, maxWait, note, onPhase = () => Effect.void, use } = check
  const job = yield* jobOf(noted, check)
  if (job.isSent !== true) {
    yield* onPhase("upload", job.id)
    yield* Compliance.upload({ id: job.id }, ids)
    yield* note({ ...job, isSent: true })
  }
  yield* onPhase("wait", job.id)
  const complete = yield* Compliance.wait({ id: job.id }, { maxWait })
  yield* onPhase("results", job.id)
  yield* use(Compliance.results(complete))
})

/** The noted job, or a new one. */
const jobOf: <E>(
  noted: Noted | undefined,
  check: Pick<Check<E>, "type" | "note">
) => Effect.Effect<Noted & { readonly id: string }, E | AnyError, Client> = Effect.fnUntraced(function*(noted, check) {
  const { note, type } = check
  const { id, isSent, name } = noted ?? { name: `postwire-${randomUUID()}` }
  if (id !== undefined) {
    if (isSent === true) return { id, isSent, name }
    const status = (yield* Jobs.getComplianceJob({ id })).data?.status
    if (status === "created") return { id, name }
    // The ids were sent, but the process ended before it was recorded.
    if (status === "in_progress" || status === "complete") return { id, isSent: true, name }
    // It has expired, since nothing was sent in time.
    return yield* jobOf(undefined, check)
  }
  if (noted === undefined) yield* note({ name })
  const found = noted === undefined
    ? undefined
    : (yield* Jobs.getComplianceJobs({ type })).data?.find((job) => job.name === name)
  const job = found ?? (yield* Jobs.createComplianceJob({ type, name })).data
  // A response has either the job or errors, which fail the call.
  if (job === undefined) return yield* Effect.die(new Error("The service created no job and gave no reason"))
  const made = { id: job.id, name }
  yield* note(made)
  return made
})
