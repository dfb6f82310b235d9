/** A call that this server refuses before anything is sent. */
import * as Data from "effect/Data"

/** The server refuses a call of a tool, or its user declines it. The refused request was not sent. */
export class Refused extends Data.TaggedError("Refused")<{
  /** The reason, in words for a model. */
  readonly reason: string
  /** The alternative, in words for a model. */
  readonly advice: string
}> {
  override get message(): string {
    return `${this.reason} ${this.advice}`
  }
}
