/** A call that this server refuses before anything is sent. */
import * as Data from "effect/Data"

/** The reason, and what to do instead, in words for a model. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly reason: string
  readonly advice: string
}> {
  override get message(): string {
    return `${this.reason} ${this.advice}`
  }
}
