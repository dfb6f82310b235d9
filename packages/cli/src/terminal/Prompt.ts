/** Prompts on standard error, so that standard output has results only. */
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Input from "effect/Terminal"
import * as ErrorReport from "./ErrorReport.ts"
import { Terminal } from "./Terminal.ts"
import * as Text from "./Text.ts"

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

/** Has the user agree to deletions that make a service what a file says. `isMeant`: the file is not empty, or may be. */
export const agreeToDeletions = Effect.fnUntraced(
  function*(deletions: number, all: number, nouns: string, isMeant: boolean, yes: boolean) {
    if (deletions === 0) return
    const what = `${Text.count(deletions)} of ${Text.quantity(all, nouns)}`
    if (!isMeant) {
      return yield* ErrorReport.refuse(
        `The file has no ${nouns}, and ${what} would be deleted`,
        "Pass --allow-empty if this is intended. Nothing was changed."
      )
    }
    if (yes || (yield* confirm(`Delete ${what}?`))) return
    return yield* ErrorReport.refuse(
      `${what} would be deleted`,
      "They are shown above. --yes deletes them, --keep keeps them. Nothing was changed."
    )
  }
)
