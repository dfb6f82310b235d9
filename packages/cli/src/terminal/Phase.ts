/** Names the current phase on standard error if it takes a while. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Report from "./Report.ts"

/** How long a phase takes before it is named, in milliseconds. */
const moment = 5_000

/** Consecutive phases of a command; the last one ends with the scope. */
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
