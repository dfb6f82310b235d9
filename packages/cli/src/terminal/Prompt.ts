/** Prompts on standard error, so that standard output has results only. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
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

/** Reads a secret, which is not shown. Without a terminal it is the next line of standard input. */
export const secret = Effect.fnUntraced(function*(what: string, question: string) {
  if (!(yield* isPossible)) return Redacted.make(yield* line(what, question))
  const { errors } = yield* Terminal
  const keys = yield* (yield* Input.Terminal).readInput
  errors.write(`${question} `)
  let typed = ""
  return yield* Effect.gen(function*() {
    for (;;) {
      const { input, key } = yield* Queue.take(keys)
      if (key.name === "return" || key.name === "enter") return Redacted.make(typed)
      typed = key.name === "backspace" ? typed.slice(0, -1) : typed + Option.getOrElse(input, () => "")
    }
  }).pipe(
    Effect.mapError(() =>
      new ErrorReport.Failure({
        message: `The prompt ended before ${what} came`,
        advice: "Run the command again."
      })
    ),
    Effect.ensuring(Effect.sync(() => errors.write("\n")))
  )
}, Effect.scoped)

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
