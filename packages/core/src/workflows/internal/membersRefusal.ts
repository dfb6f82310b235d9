/** Reasons why the service refuses to change the members of a list: its own text, and one of our codes. */
import type { BadRequest, Forbidden, NotFound } from "../../errors/Errors.ts"
import type { Problem } from "../../schema/models/Problem.ts"
import type { Refusal, RefusalReason } from "../ListMembersOptions.ts"

/** Checks for an error about the list, not about one user. */
export const isAboutList = (error: BadRequest | Forbidden | NotFound): boolean =>
  saidBy(error).some(({ resource_type }) => resource_type === "list")

/** The problems in an error. */
export const saidBy = ({ detail, problems, title, type }: BadRequest | Forbidden | NotFound): ReadonlyArray<Problem> =>
  problems.length > 0 ? problems : [{
    ...(detail === undefined ? {} : { detail }),
    ...(title === undefined ? {} : { title }),
    ...(type === undefined ? {} : { type })
  }]

/** The texts of problems. */
export const saidIn = (problems: ReadonlyArray<Problem>): ReadonlyArray<string> =>
  problems.flatMap(({ detail, message, title }) => message ?? detail ?? title ?? [])

/** The refusal in problems about a user; its reason is `otherwise` unless the text names another. */
export const refusalOf = (otherwise: RefusalReason, problems: ReadonlyArray<Problem>): Refusal => {
  const text = saidIn(problems).join("; ")
  const isUnknown = problems.some(({ type = "" }) => type.endsWith("/resource-not-found"))
  const reason = /\bsuspended\b/i.test(text)
    ? "suspended"
    : /\bblock/i.test(text)
    ? "blocked"
    : /\bprotected\b/i.test(text)
    ? "protected"
    : isUnknown || /\bfind specified user\b/i.test(text)
    ? "unknown"
    : otherwise
  return { reason, ...(text === "" ? {} : { detail: text.slice(0, 300) }) }
}
