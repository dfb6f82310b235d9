import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Account from "@postwire/core/accounts/Account"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import { Deferred, Effect, Fiber, FileSystem, Layer, Option, Redacted, Ref } from "effect"
import * as SaveAccount from "../src/login/SaveAccount.ts"

const account = (username: string, secret: string): Account.Account & SaveAccount.SignedIn => ({
  version: 1,
  baseUrl: "https://api.example",
  user: { id: "1", username },
  app: { clientId: "app" },
  oauth2: {
    accessToken: Redacted.make(secret),
    refreshToken: Redacted.make(secret),
    scopes: ["users.read"],
    expiresAt: 0,
    renewedAt: 0
  }
})

/** The outcome of a login that is interrupted at one of its steps; it has no name where the login has fewer steps. */
const interruptedAt = Effect.fnUntraced(function*(at: number) {
  const reached = yield* Deferred.make<string>()
  const open = yield* Deferred.make<void>()
  const revoked = yield* Ref.make(0)
  let count = 0
  const gate = (name: string) =>
    Effect.suspend(() =>
      ++count === at ? Effect.andThen(Deferred.succeed(reached, name), Deferred.await(open)) : Effect.void
    )
  const step = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) =>
    Effect.andThen(gate(`before ${name}`), Effect.tap(effect, () => gate(`after ${name}`)))
  const memory = TokenStore.makeMemory()
  yield* Account.write(memory, "other", account("ada", "old"))
  const store = {
    place: "",
    describe: memory.describe,
    names: step("names", memory.names),
    read: (name: string) => step(`read ${name}`, memory.read(name)),
    write: (name: string, text: string | undefined) => step("write", memory.write(name, text)),
    lock: (name: string) => step("lock", Effect.andThen(Effect.addFinalizer(() => gate("release")), memory.lock(name)))
  }
  const grant: SaveAccount.Grant<never, never, never> = {
    signedIn: step("user", Effect.succeed(account("ada", "new"))),
    revoke: Ref.update(revoked, (count) => count + 1)
  }
  const files = FileSystem.layerNoop({
    makeDirectory: () => step("folder", Effect.void),
    writeFileString: () => step("default", Effect.void)
  })
  const login = SaveAccount.save(store, Option.none(), grant, false).pipe(
    Effect.provide(files.pipe(Layer.provideMerge(NodeServices.layer)))
  )
  const fiber = yield* Effect.forkChild(login)
  const name = yield* Effect.raceFirst(Deferred.await(reached), Effect.as(Fiber.await(fiber), undefined))
  fiber.interruptUnsafe()
  yield* Deferred.succeed(open, undefined)
  yield* Fiber.await(fiber)
  return { name, kept: yield* memory.read("ada"), revoked: yield* Ref.get(revoked) }
})

describe("a grant", () => {
  it.effect("is kept or revoked, and never both, whenever its login is interrupted", () =>
    Effect.gen(function*() {
      const outcomes: Array<readonly [string, string]> = []
      for (let at = 1;; at++) {
        const { kept, name, revoked } = yield* interruptedAt(at)
        if (name === undefined) break
        assert.strictEqual(revoked, kept === undefined ? 1 : 0, name)
        outcomes.push([name, kept === undefined ? "revoked" : "kept"])
      }
      const write = outcomes.findIndex(([name]) => name === "before write")
      assert.isAbove(write, 0)
      assert.deepStrictEqual(
        outcomes.map(([, outcome]) => outcome),
        outcomes.map((_, i) => i < write ? "revoked" : "kept")
      )
    }))
})
