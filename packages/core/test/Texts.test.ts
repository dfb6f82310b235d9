import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Storage from "../src/storage/Storage.ts"
import * as Texts from "../src/storage/Texts.ts"

/** A storage of one program, and clients that can be cut off from it. */
const makeClients = () => {
  const storage = Storage.makeMemory()
  return (lease?: number) => {
    const link = { fault: undefined as Storage.StorageUnavailable["fault"] | "unavailable", steps: 0 }
    const linked = <A>(step: Effect.Effect<A>): Effect.Effect<A, Storage.StorageUnavailable> =>
      Effect.suspend((): Effect.Effect<A, Storage.StorageUnavailable> => {
        link.steps++
        return link.fault === undefined
          ? step
          : Effect.fail(
            new Storage.StorageUnavailable({
              fault: link.fault === "unavailable" ? undefined : link.fault,
              reason: "cut off"
            })
          )
      })
    const own: Storage.Storage = {
      get: (keys) => linked(storage.get(keys)),
      modify: (target, f) => linked(storage.modify(target, f)),
      keys: (prefix) => linked(storage.keys(prefix))
    }
    return { link, texts: Texts.fromStorage(own, { place: "P", lease }) }
  }
}

/** Acquires a lock, and returns its release. */
const hold = Effect.fnUntraced(function*({ lock }: Texts.Texts, name: string) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  yield* Effect.provideService(lock(name), Scope.Scope, scope)
  return () => Scope.close(scope, Exit.void)
})

describe("the lock of a text on a storage", () => {
  it.effect("is kept by its holder for longer than a lease, and waited for half a minute", () =>
    Effect.gen(function*() {
      const client = makeClients()
      const [one, other] = [client(), client()]
      const release = yield* hold(one.texts, "ada")
      yield* TestClock.adjust("1 minute")
      const waiting = yield* Effect.forkScoped(other.texts.write("ada", "b"))
      yield* TestClock.adjust("29 seconds")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(
        (yield* Effect.flip(Fiber.join(waiting))).message,
        "The token store account ada in P cannot be locked: it is locked (for 30 s). Another process keeps it locked: " +
          "wait for it, or end it."
      )
      yield* one.texts.write("ada", "still ours")
      yield* release()
      yield* other.texts.write("ada", "b")
      assert.strictEqual(yield* one.texts.read("ada"), "b")
    }))

  it.effect("lapses when its holder is cut off: others write, and it overwrites and releases nothing of theirs", () =>
    Effect.gen(function*() {
      const client = makeClients()
      const [late, other] = [client(), client()]
      const release = yield* hold(late.texts, "ada")
      late.link.fault = "unavailable"
      const writing = yield* Effect.forkScoped(other.texts.write("ada", "newer"))
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(writing.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(writing)
      late.link.fault = undefined
      const error = yield* Effect.flip(late.texts.write("ada", "older"))
      assert.strictEqual(
        error.message,
        "The token store account ada in P cannot be written: it is locked (our lock lapsed after 10 s without news of " +
          "us, and another may have it). Another process keeps it locked: wait for it, or end it."
      )
      const releaseOther = yield* hold(other.texts, "ada")
      yield* release()
      const waiting = yield* Effect.forkScoped(late.texts.write("ada", "newest"))
      yield* TestClock.adjust("5 seconds")
      assert.isUndefined(waiting.pollUnsafe())
      assert.strictEqual(yield* late.texts.read("ada"), "newer")
      yield* releaseOther()
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(waiting)
      assert.strictEqual(yield* other.texts.read("ada"), "newest")
    }))

  it.effect("stays valid after its lease for a holder whom nobody has replaced, as after a standstill", () =>
    Effect.gen(function*() {
      const { link, texts } = makeClients()()
      yield* hold(texts, "ada")
      link.fault = "unavailable"
      yield* TestClock.adjust("1 minute")
      link.fault = undefined
      yield* texts.write("ada", "not lost")
      assert.strictEqual(yield* texts.read("ada"), "not lost")
    }))

  it.effect("does not outlive a clock that is set back", () =>
    Effect.gen(function*() {
      const storage = Storage.makeMemory()
      const ahead = ({ now }: Storage.Before) => ({ result: 0, texts: [`dead ${now + 86_400_000} 10000`] })
      yield* storage.modify({ texts: ["lock:{ada}"] }, ahead)
      yield* Texts.fromStorage(storage, { place: "P" }).write("ada", "a")
    }))

  it.effect("is released, or not acquired, when its caller is interrupted", () =>
    Effect.gen(function*() {
      const client = makeClients()
      const [one, other] = [client(), client()]
      const release = yield* hold(one.texts, "ada")
      const waiting = yield* Effect.forkScoped(Effect.scoped(other.texts.lock("ada")))
      const behind = yield* Effect.forkScoped(Effect.scoped(other.texts.lock("ada")))
      yield* TestClock.adjust(100)
      yield* Fiber.interrupt(waiting)
      yield* release()
      yield* TestClock.adjust(100)
      yield* Fiber.join(behind)
    }))
})

it.effect("a lock in memory is waited for as long as its holder works", () =>
  Effect.gen(function*() {
    const texts = Texts.makeMemory()
    const release = yield* hold(texts, "ada")
    const waiting = yield* Effect.forkScoped(Effect.scoped(texts.lock("ada")))
    yield* TestClock.adjust("10 minutes")
    assert.isUndefined(waiting.pollUnsafe())
    yield* release()
    yield* Fiber.join(waiting)
  }))

it.effect("a step on a storage that is unavailable is repeated: a write for ten seconds, others for less", () =>
  Effect.gen(function*() {
    const { link, texts } = makeClients()()
    yield* texts.write("ada", "a")
    for (const fault of ["unavailable", "full"] as const) {
      yield* hold(texts, fault)
      link.fault = fault
      link.steps = 0
      const read = yield* Effect.forkScoped(Effect.flip(texts.read("ada")))
      yield* TestClock.adjust(200)
      assert.deepInclude(yield* Fiber.join(read), { action: "read", fault, place: "account ada in P" })
      assert.strictEqual(link.steps, fault === "full" ? 1 : 3)
      const write = yield* Effect.forkScoped(Effect.exit(texts.write(fault, "b")))
      yield* TestClock.adjust(9_000)
      assert.strictEqual(write.pollUnsafe() === undefined, fault === "unavailable")
      link.fault = undefined
      yield* TestClock.adjust(1_000)
      assert.strictEqual((yield* Fiber.join(write))._tag, fault === "unavailable" ? "Success" : "Failure")
    }
  }))
