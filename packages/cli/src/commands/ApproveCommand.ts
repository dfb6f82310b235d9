/** `postwire approve`: the user agrees to what an agent has prepared. */
import * as Book from "@postwire/mcp/writing/Book"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Connection from "../connection/Connection.ts"
import * as Variables from "../connection/Variables.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Prompt from "../terminal/Prompt.ts"
import * as Report from "../terminal/Report.ts"
import { Terminal } from "../terminal/Terminal.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

export const command = Command.make(
  "approve",
  {
    handle: Argument.String("handle").pipe(
      Argument.withDescription("The handle; without one, everything that waits is shown"),
      Argument.optional
    )
  },
  ({ handle }) =>
    Effect.gen(function*() {
      const variables = Variables.all(yield* Variables.places(Option.none()))
      yield* approve(handle).pipe(
        Effect.catchTag("Refused", ({ advice, reason }) => ErrorReport.refuse(reason, advice)),
        Effect.provide(Connection.layerJournal(variables))
      )
    })
).pipe(
  Args.help(
    "Approve what an agent wants to do through postwire mcp, where its host cannot ask you. Shows exactly what would be sent and " +
      "what it costs, and asks. An approval is valid for 10 minutes, once.",
    lines.approve,
    {
      "postwire approve": "Show every waiting write, and approve or decline each",
      "postwire approve 3f9a60c2d1b84e57a0c9e4f1b2d3c4a5": "One handle"
    }
  )
)

const approve = Effect.fnUntraced(function*(handle: Option.Option<string>) {
  const waiting = yield* Book.waiting
  const entries = Option.isNone(handle) ? waiting : waiting.filter((entry) => entry.handle === handle.value)
  if (entries.length === 0) {
    return yield* Option.isNone(handle)
      ? Report.say("Nothing waits for approval.")
      : ErrorReport.refuse(
        "Nothing waits under this handle",
        "It may have expired after 10 minutes, or be decided. Let the agent prepare it again."
      )
  }
  if (!(yield* Prompt.isPossible)) {
    return yield* ErrorReport.refuse("An approval needs a terminal", "Run this command yourself, in a terminal.")
  }
  for (const entry of entries) yield* decide(entry)
})

const decide = Effect.fnUntraced(function*({ contents: { as, kind, lines, micros, of }, handle }: Book.Entry) {
  const { errors } = yield* Terminal
  errors.write(`${handle}\n${lines.map((line) => `  ${line}\n`).join("")}`)
  const price = Text.dollars(micros)
  const act = kind === "cost"
    ? `Let ${of} spend ${micros === 0 ? "an unknown amount" : `up to ${price}`}`
    : `Allow ${of}${micros === 0 ? "" : `, for up to ${price}`}`
  const isAllowed = yield* Prompt.confirm(`${act}${as === undefined ? "" : `, as ${as}`}?`)
  if (!(yield* Book.move(handle, ["waiting"], isAllowed ? "approved" : undefined))) {
    return yield* ErrorReport.refuse("It has expired meanwhile", "Let the agent prepare it again.")
  }
  yield* Report.say(isAllowed ? "Approved. The agent can repeat its call." : "Declined: the agent cannot do this.")
})
