/** Prompts on standard error, so that standard output has results only. */
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Input from "effect/Terminal"
import * as ErrorReport from "./ErrorReport.ts"
import { Terminal } from "./Terminal.ts"

export const line = Effect.fnUntraced(function*(what: string, question: string) {
  const { errors } = yield* Terminal
  const input = yield* Input.Terminal
  errors.write(`${question} `)
  const typed = yield* Effect.mapError(input.readLine, () => {
    errors.write("\n")
    return new ErrorReport.Failure({
      message: `Standard input ended before ${what} came`,
      advice: "Run the command on a terminal, or send the input to it."
    })
  })
  return typed.trim()
})

/** Checks whether a user can answer prompts. */
export const isPossible = Effect.gen(function*() {
  const { errors } = yield* Terminal
  return errors.isTerminal && (yield* (yield* Stdio.Stdio).stdinIsTerminal)
})

/** Asks for confirmation; `false` without a user. */
export const confirm = Effect.fnUntraced(function*(question: string) {
  if (!(yield* isPossible)) return false
  return /^y(es)?$/i.test(yield* Effect.orElseSucceed(line("an answer", `${question} [y/N]`), () => ""))
})
