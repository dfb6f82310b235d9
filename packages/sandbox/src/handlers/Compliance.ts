import * as Effect from "effect/Effect"
import * as ComplianceJobs from "../compliance/ComplianceJobs.ts"
import * as Problem from "../http/Problem.ts"
import type { Handlers } from "./Handler.ts"

/** Compliance jobs. `ComplianceFiles` handles their uploads and downloads. */
export const handlers = {
  createComplianceJob: Effect.fnUntraced(function*({ caller: { appId }, now, parameters, store: { complianceJobs } }) {
    const { name, resumable = false, type } = parameters
    const unfinished = complianceJobs.of(appId, type).find((job) =>
      ["created", "in_progress"].includes(ComplianceJobs.statusOf(job, now))
    )
    if (unfinished !== undefined) {
      return yield* Problem.invalidRequest(`The job [${unfinished.id}] of this type is not finished.`)
    }
    const job = complianceJobs.byId(complianceJobs.insert({ appId, type, name, resumable, createdAt: now }))
    return { data: job && ComplianceJobs.toldOf(job, now) }
  }),

  getComplianceJob: ({ caller: { appId }, now, parameters: { id }, store: { complianceJobs } }) => {
    const job = complianceJobs.byId(id)
    return Effect.succeed(
      job === undefined || job.app_id !== appId
        ? { errors: [Problem.notFound({ kind: "compliance_job", id, parameter: "id" })] }
        : { data: ComplianceJobs.toldOf(job, now) }
    )
  },

  getComplianceJobs: ({ caller: { appId }, now, parameters: { status, type }, store: { complianceJobs } }) => {
    const jobs = complianceJobs.of(appId, type).filter((job) =>
      status === undefined || ComplianceJobs.statusOf(job, now) === status
    )
    return Effect.succeed({
      ...(jobs.length === 0 ? {} : { data: jobs.map((job) => ComplianceJobs.toldOf(job, now)) }),
      meta: { result_count: jobs.length }
    })
  }
} satisfies Partial<Handlers>
