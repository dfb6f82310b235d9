/**
 * Processes that share an account, in any order of what may happen to them: whatever that is, the login is alive at the end, and
 * no refresh token was used that the service does not forgive.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Context, Effect, Exit, Fiber, Layer, Schema, Scope, Semaphore } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { catalogue } from "../src/Catalogue.ts"
import type * as Client from "../src/client/Client.ts"
import * as Errors from "../src/errors/Errors.ts"
import type * as TokenStore from "../src/storage/TokenStore.ts"
import * as Grants from "./support/Grants.ts"

const { createPost } = catalogue

/** The processes that ask for tokens, and the most at one time. */
class Asking extends Set<object> {
  most = 0
}

interface Process {
  readonly client: Context.Context<Client.Client>
  readonly close: Effect.Effect<void>
  /** Nothing that it does has an effect any more, and its lock is free. */
  readonly kill: Effect.Effect<void>
}

/** Starts one on the store of all, which takes its time. */
const start = Effect.fnUntraced(function*(
  grants: Grants.Service,
  lock: Semaphore.Semaphore,
  asking: Asking,
  isFull: () => boolean
): Effect.fn.Return<Process, Errors.InvalidSettings> {
  let isAlive = true
  let holds = 0
  /** What was begun goes on, but a dead process neither begins anything nor hears of its end. */
  const alive = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => isAlive ? Effect.onExit(effect, () => isAlive ? Effect.void : Effect.never) : Effect.never)
  const slow = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    alive(Effect.sleep(10)).pipe(Effect.andThen(alive(effect)), Effect.tap(() => alive(Effect.sleep(10))))
  const full = new Errors.StorageFailure({ kind: "token store", place: "a", fault: "full", action: "write" })
  const store: TokenStore.Store = {
    ...grants.store,
    read: (name) => slow(grants.store.read(name)),
    write: (name, text) => slow(Effect.suspend(() => isFull() ? Effect.fail(full) : grants.store.write(name, text))),
    lock: () =>
      alive(Effect.asVoid(Effect.acquireRelease(
        Effect.flatMap(Semaphore.take(lock, 1), () => {
          if (isAlive) return Effect.sync(() => void holds++)
          return Effect.andThen(Semaphore.release(lock, 1), Effect.never)
        }),
        () => Effect.suspend(() => Semaphore.release(lock, isAlive ? holds-- : 0)),
        { interruptible: true }
      )))
  }
  const scope = yield* Scope.make()
  const self = {}
  const http = HttpClient.transform(grants.http, (response, { url }) =>
    alive(Effect.suspend(() => {
      if (!url.endsWith("/token")) return response
      asking.add(self)
      asking.most = Math.max(asking.most, asking.size)
      return Effect.ensuring(response, Effect.sync(() => asking.delete(self)))
    })))
  return {
    client: yield* Layer.buildWithScope(grants.layer({ store, http }), scope),
    close: Scope.close(scope, Exit.void),
    kill: Effect.suspend(() => {
      isAlive = false
      asking.delete(self)
      return Semaphore.release(lock, holds)
    })
  }
})

const which = Schema.Literals([0, 1, 2])

const Step = Schema.Union([
  Schema.TaggedStruct("call", { process: which }),
  /** Each process makes a call. */
  Schema.TaggedStruct("calls", {}),
  Schema.TaggedStruct("interrupt", {}),
  Schema.TaggedStruct("pass", { millis: Schema.Literals([5, 15, 25, 50, 100, 300, 1000, 4000, 20_000]) }),
  /** By the clock of the service alone, or of all. */
  Schema.TaggedStruct("expire", { isKnown: Schema.Boolean }),
  Schema.TaggedStruct("fate", {
    fate: Schema.Literals(["cut", "failed", "failed late", "unsent", "unreadable", "limited", "forbidden"])
  }),
  Schema.TaggedStruct("kill", { process: which }),
  Schema.TaggedStruct("close", { process: which }),
  Schema.TaggedStruct("login", {}),
  Schema.TaggedStruct("full", {})
])

const run = Effect.fnUntraced(function*(steps: ReadonlyArray<typeof Step.Type>) {
  const grants = yield* Grants.make()
  const lock = yield* Semaphore.make(1)
  let isFull = false
  let windows = 0
  /** Each is a reason to ask for tokens once, or once more. */
  let reasons = 0
  grants.state.before = Effect.sleep(20)
  grants.state.after = Effect.sleep(20)
  const asking = new Asking()
  const begin = start(grants, lock, asking, () => isFull)
  const processes = [yield* begin, yield* begin, yield* begin]
  const calls: Array<Fiber.Fiber<unknown, Errors.AnyError>> = []
  for (const step of steps) {
    switch (step._tag) {
      case "call":
      case "calls":
        for (const { client } of step._tag === "call" ? [processes[step.process]!] : processes) {
          calls.push(
            yield* Effect.forkDetach(Effect.provideContext(createPost({ text: "a", user_auth: false }), client))
          )
        }
        yield* Effect.yieldNow
        break
      case "interrupt": {
        const call = calls.shift()
        if (call !== undefined) yield* Effect.forkDetach(Fiber.interrupt(call))
        break
      }
      case "pass":
        yield* TestClock.adjust(step.millis)
        break
      case "expire":
        reasons++
        if (step.isKnown) yield* TestClock.adjust(Grants.lifeMillis)
        else grants.state.offset += Grants.lifeMillis
        break
      case "fate":
        reasons++
        grants.state.fates.push(step.fate)
        break
      case "kill":
      case "close":
        reasons++
        yield* step._tag === "kill"
          ? processes[step.process]!.kill
          : Effect.forkDetach(processes[step.process]!.close)
        processes[step.process] = yield* begin
        break
      case "login":
        reasons++
        // As the command does it: with the lock.
        yield* Effect.forkDetach(
          Semaphore.withPermit(lock, Effect.suspend(() => grants.keep(grants.login())))
        )
        break
      case "full":
        // Twice in a row is more than anybody can be helped with.
        if (++windows <= 2) isFull = !isFull
        reasons++
    }
  }
  isFull = false
  grants.state.fates.length = 0
  yield* TestClock.adjust("2 minutes")
  for (const { client } of processes) {
    const call = yield* Effect.forkDetach(Effect.provideContext(createPost({ text: "a", user_auth: false }), client))
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(call)
  }
  assert.isAtMost(asking.most, 1)
  assert.strictEqual(grants.state.reuses, 0)
  assert.isAtMost(grants.state.given, 1 + reasons)
  for (const { close } of processes) yield* Effect.forkDetach(close)
  yield* TestClock.adjust("1 minute")
})

describe("processes that share an account", () => {
  it.effect.prop(
    "keep it signed in, whatever happens to them",
    { steps: Schema.Array(Step).check(Schema.isMinLength(10), Schema.isMaxLength(40)) },
    ({ steps }) => run(steps),
    { arbitrary: { runs: process.env["POSTWIRE_LONG"] === "1" ? 1000 : 50 } }
  )
})
