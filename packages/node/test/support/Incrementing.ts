/**
 * A program that raises a number in a store of tokens, so often, and prints each number once it is written. Who has lost the
 * lock begins the step again.
 */
import * as TokenStore from "@postwire/core/storage/TokenStore"
import { Effect, type Layer } from "effect"

export const increment = (layer: Layer.Layer<TokenStore.TokenStore, unknown>, times: number): Promise<void> =>
  Effect.gen(function*() {
    const store = yield* TokenStore.TokenStore
    const step = Effect.scoped(Effect.gen(function*() {
      yield* store.lock("counter")
      const next = 1 + Number((yield* store.read("counter")) ?? "0")
      yield* store.write("counter", String(next))
      // A pipe is written at once.
      process.stdout.write(`${next}\n`)
    }))
    for (let done = 0; done < times; done++) {
      yield* Effect.retry(step, { while: ({ action, fault }) => action === "write" && fault === "locked" })
    }
  }).pipe(Effect.provide(layer), Effect.runPromise)
