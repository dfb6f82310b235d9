/** What the system says of what it did not do. */
import * as Predicate from "effect/Predicate"

/** In its words, which Node follows with the path. */
export const saidBy = (cause: unknown): string =>
  Predicate.hasProperty(cause, "errno") && typeof cause.errno === "number" && cause.errno < 0
    ? process.getBuiltinModule("node:util").getSystemErrorMessage(cause.errno)
    : cause instanceof Error
    ? cause.message
    : String(cause)

/** As `ENOENT`. */
export const codeOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : undefined
