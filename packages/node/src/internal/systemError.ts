/** Errors of the system. */
import * as Predicate from "effect/Predicate"

/** The message of the system, without the path that Node appends. */
export const saidBy = (cause: unknown): string =>
  Predicate.hasProperty(cause, "errno") && typeof cause.errno === "number" && cause.errno < 0
    ? process.getBuiltinModule("node:util").getSystemErrorMessage(cause.errno)
    : cause instanceof Error
    ? cause.message
    : String(cause)

/** The code, such as `ENOENT`. */
export const codeOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : undefined

/** The fault of a file, by the code of the system. */
export const faultOf = (cause: unknown) => faults[codeOf(cause) ?? ""] ?? "unavailable"

const faults: Readonly<Record<string, "full" | "forbidden">> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  EACCES: "forbidden",
  EPERM: "forbidden",
  EROFS: "forbidden"
}
