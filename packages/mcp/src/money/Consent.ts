/**
 * The user's consent to a call: to its price, or to a write. A server asks through the host where that is possible; the default
 * refuses, so that nothing happens without a user.
 */
import type { InputRequired, McpRequestContext } from "effect/ai/McpSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { dollars } from "./Dollars.ts"
import { Refused } from "./Refused.ts"

/** What the user is asked. It holds no text of strangers. */
export interface Question {
  readonly kind: "cost" | "write"
  /** The operation or the tool. */
  readonly of: string
  /** The most that it may cost, in micro-dollars. */
  readonly micros: number
}

/** Succeeds if the user agrees. Fails with `InputRequired` where the host asks and calls again. */
export type Ask = (question: Question) => Effect.Effect<void, Refused | InputRequired, McpRequestContext>

const refuse: Ask = ({ kind, micros, of }) =>
  Effect.fail(
    kind === "write"
      ? new Refused({
        reason: `${of} changes something, and this server cannot ask its user to confirm it.`,
        advice: "Nothing was sent. Tell the user what you wanted to do."
      })
      : new Refused({
        reason: `${of} may cost ${dollars(micros)}, more than this server spends without asking its user.`,
        advice: "Nothing was sent. Ask for fewer rows or detail: low, or let the user raise --ask-above."
      })
  )

/** The way to ask. */
export const Consent = Context.Reference<Ask>("@postwire/mcp/money/Consent", { defaultValue: () => refuse })
