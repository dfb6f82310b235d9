/** What a command is busy with while no page comes: named on standard error where it takes longer than a moment. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Report from "./Report.ts"

/** A phase is named after so many milliseconds. */
const moment = 5_000

/** Phases of a command, one after the other; the last one ends with the scope. */
export const make = Effect.gen(function*() {
  const scope = yield* Effect.scope
  let naming: Fiber.Fiber<void> | undefined
  const leave = Effect.suspend(() => naming === undefined ? Effect.void : Fiber.interrupt(naming))
  const enter = Effect.fnUntraced(function*(name: string) {
    yield* leave
    naming = yield* Effect.forkIn(Effect.delay(Report.say(name), moment), scope)
  })
  return { enter, leave }
})
