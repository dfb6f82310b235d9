/** The end of a budget. */
import { SpendLimitReached } from "@postwire/core/errors/Errors"

/** Tests whether a limit leaves too little. A limit that cannot be enforced is another failure. */
export const isUsedUp = (error: object): error is SpendLimitReached =>
  error instanceof SpendLimitReached && error.unavailable === undefined && error.needed !== Infinity
