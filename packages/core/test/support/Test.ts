/** Tests whose bodies are generators. */
import { it } from "@effect/vitest"
import { Effect, Fiber, type Scope } from "effect"
import { TestClock } from "effect/testing"

type Body<Arguments extends ReadonlyArray<unknown>> = (
  ...args: Arguments
) => Generator<Effect.Effect<unknown, unknown, Scope.Scope>, void, never>

/** A test with the clock of tests; `each` makes one for each row. */
export const test = Object.assign(
  (title: string) => (body: Body<[]>): void => it.effect(title, () => Effect.gen(body)),
  {
    each: <Row>(rows: ReadonlyArray<Row>) => (title: string) => (body: Body<[Row]>): void =>
      it.effect.each(rows)(title, (row) => Effect.gen(() => body(row)))
  }
)

/** Runs an effect while a minute passes. */
export const inMinute = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(effect)
  yield* TestClock.adjust("1 minute")
  return yield* Fiber.join(fiber)
})
