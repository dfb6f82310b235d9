/**
 * The user's consent to a call: to its price, or to a write. A server asks through the host where that is possible; the default
 * refuses, so that nothing happens without a user.
 */
import type { InputRequired, McpRequestContext } from "effect/ai/McpSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dollars } from "./Dollars.ts"
import { Refused } from "./Refused.ts"

/** A question to the user. Texts of strangers in it are fenced. */
export interface Question {
  readonly kind: "cost" | "write"
  /** The operation or the tool. */
  readonly of: string
  /** The most that it may cost, in micro-dollars. */
  readonly micros: number
  /** Everything that the call does, for a write. */
  readonly lines: ReadonlyArray<string>
  /** The handle of the prepared write. */
  readonly handle?: string | undefined
}

/** Succeeds if the user agrees. Fails with `InputRequired` where the host asks and calls again. */
export type Ask = (question: Question) => Effect.Effect<void, Refused | InputRequired, McpRequestContext>

/** The refusal where no user can be asked. */
export const refusal = ({ kind, micros, of }: Question, otherwise: string): Refused =>
  kind === "write"
    ? new Refused({
      reason: `${of} changes something, and this host cannot ask its user to confirm it.`,
      advice: `Nothing was sent. ${otherwise}`
    })
    : new Refused({
      reason: `${of} may cost ${dollars(micros)}, more than this server spends without asking its user.`,
      advice: `Nothing was sent. Request fewer rows or detail: low. Otherwise: ${otherwise}`
    })

const refuse: Ask = (question) => Effect.fail(refusal(question, "Tell the user what you wanted to do."))

/** The way to ask. */
export const Consent = Context.Reference<Ask>("@postwire/mcp/money/Consent", { defaultValue: () => refuse })
