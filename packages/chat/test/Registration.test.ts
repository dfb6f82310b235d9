import { it } from "@effect/vitest"
import { Client } from "@postwire/core/client/Client"
import * as TokenStore from "@postwire/core/promise/TokenStore"
import { sandboxTest } from "@postwire/sandbox/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import { assert, describe } from "vitest"
import { openChat, registerChat } from "../src/index.ts"
import * as ChatStore from "../src/keys/ChatStore.ts"
import * as Registration from "../src/keys/Registration.ts"
import type { Backup } from "../src/library/Backup.ts"
import * as Library from "../src/library/Library.ts"
import * as Calls from "../src/service/Calls.ts"
import { needsLibrary } from "./support/Needs.ts"
import { memory, person, stranger } from "./support/Scene.ts"

needsLibrary()

const test = sandboxTest({ posts: 0 })

const failure = (promise: Promise<unknown>) =>
  promise.then(() => assert.fail("it succeeded"), (error: unknown) => error)

describe("registration", () => {
  test("private keys are stored before the service gets the public ones", async ({ sandbox }) => {
    const { client, store } = stranger(sandbox, "ada1")
    let stored: string | undefined
    const watched = {
      ...client,
      addPublicKey: (...args: Parameters<typeof client.addPublicKey>) => {
        stored = [...store.texts.values()][0]
        return client.addPublicKey(...args)
      }
    }
    const { keyBlob } = await registerChat(watched, { store })
    assert.include(stored, JSON.stringify(keyBlob))
  })

  test("an interrupted registration is completed with the same keys", async ({ sandbox }) => {
    for (const reset of ["before", "after"] as const) {
      const { client, id, store } = stranger(sandbox, `${reset}1`)
      sandbox.faults.add({ operation: "addPublicKey", times: 3, reset })
      const outcome = await registerChat(client, { store }).then(() => "done", () => "failed")
      assert.strictEqual(outcome, reset === "before" ? "failed" : "done")
      const stored = store.texts.get(`chat-${id}`) ?? ""
      sandbox.faults.clear()
      const { keyBlob = assert.fail() } = await registerChat(client, { store })
      assert.include(stored, JSON.stringify(keyBlob))
      const { data = [] } = await client.getUserPublicKeys({ id, user_auth: false })
      assert.lengthOf(data, 1)
      await using chat = await openChat(client, { store: memory(), keyBlob })
      assert.strictEqual(chat.userId, id)
    }
  })

  it.effect("a create in doubt is repeated only if a check shows that it did not happen", () =>
    Effect.gen(function*() {
      const lost = { _tag: "OutcomeUnknown" } as const
      const refused = { _tag: "InvalidRequest" } as const
      const outcomeOf = Effect.fnUntraced(function*(
        answers: Array<Effect.Effect<void, typeof lost | typeof refused>>,
        checks: Array<Effect.Effect<boolean, string>>
      ) {
        const next = <A, E>(list: Array<Effect.Effect<A, E>>) =>
          Effect.suspend(() => list.shift() ?? Effect.die("one too many"))
        const exit = yield* Calls.confirmed(next(answers), next(checks)).pipe(
          Effect.match({ onFailure: (error) => error._tag, onSuccess: () => "done" })
        )
        assert.isEmpty([...answers, ...checks])
        return exit
      })
      const isUnknown = Effect.fail(lost)
      assert.strictEqual(yield* outcomeOf([isUnknown], [Effect.fail("down")]), "OutcomeUnknown")
      assert.strictEqual(yield* outcomeOf([isUnknown], [Effect.succeed(true)]), "done")
      assert.strictEqual(yield* outcomeOf([isUnknown, Effect.void], [Effect.succeed(false)]), "done")
      const late = [Effect.succeed(false), Effect.succeed(true)]
      assert.strictEqual(yield* outcomeOf([isUnknown, Effect.fail(refused)], late), "done")
      const never = () => [Effect.succeed(false), Effect.succeed(false)]
      assert.strictEqual(yield* outcomeOf([isUnknown, Effect.fail(refused)], never()), "InvalidRequest")
      assert.strictEqual(yield* outcomeOf([isUnknown, isUnknown], never()), "OutcomeUnknown")
    }))

  test("a user whose keys elsewhere do not verify gets no second ones", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    const forged = {
      ...ada.client,
      getUserPublicKeys: async (...args: Parameters<typeof ada.client.getUserPublicKeys>) => {
        const response = await ada.client.getUserPublicKeys(...args)
        for (const record of response.data ?? []) Object.assign(record, { identity_public_key_signature: "AAAA" })
        return response
      }
    }
    const error = await failure(registerChat(forged, { store: memory() }))
    assert.include(error, { _tag: "ChatRefused", fault: "other keys" })
  })

  test("a user with keys elsewhere gets no second ones", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    const error = await failure(registerChat(ada.client, { store: memory() }))
    assert.include(error, { _tag: "ChatRefused", fault: "other keys" })
  })
})

describe("opening", () => {
  test("needs the keys that the service has", async ({ sandbox }) => {
    await using ada = await person(sandbox, "ada1")
    await using ben = await person(sandbox, "ben1")
    const { keyBlob = assert.fail() } = await registerChat(ben.client, { store: ben.store })
    const { client } = stranger(sandbox, "cleo1")
    const store = memory()
    const refusals = [
      [() => openChat(ada.client, { store }), "no private keys"],
      [() => openChat(ada.client, { store, keyBlob }), "other keys"],
      [() => openChat(ada.client, { store, keyBlob: keyBlob.slice(4) }), "unreadable keys"],
      [() => openChat(ada.client, { store, keyBlob: "no base64" }), "unreadable keys"],
      [() => openChat(client, { store, keyBlob }), "unregistered"]
    ] as const
    for (const [open, fault] of refusals) {
      const error = await failure(open())
      assert.include(error, { _tag: "ChatRefused", fault })
      assert.notInclude(inspect(error, { depth: 9, showHidden: true }), keyBlob.slice(4, -4))
    }
  })
})

/** A backup in memory with the behaviour of the realms: it counts wrong passcodes. */
const makeBackup = () => {
  let kept: { readonly pin: string; readonly secret: Uint8Array; guesses: number } | undefined
  const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
  const backup: Backup = {
    register: async (pin, secret, _, guesses) => {
      kept = { pin: textOf(pin), secret: Uint8Array.from(secret), guesses }
    },
    recover: async (pin) => {
      if (kept === undefined) throw { reason: 1 }
      if (kept.pin === textOf(pin)) return Uint8Array.from(kept.secret)
      kept.guesses--
      const { guesses } = kept
      if (guesses === 0) kept = undefined
      throw { reason: 0, guesses_remaining: guesses }
    },
    delete: async () => {}
  }
  return async () => backup
}

describe("a passcode", () => {
  const secret = "correct horse 7"
  const open = (backupOf: () => Promise<Backup>) => Library.open("1", backupOf)

  it("backs the private keys up, and recovers them", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const backupOf = makeBackup()
      const first = yield* open(backupOf)
      const { publicKey } = first.generateKeypairs()
      yield* first.backUp(Redacted.make(secret), { max_guess_count: 3 })
      const second = yield* open(backupOf)
      const wrong = yield* Effect.flip(second.recover(Redacted.make("wrong 1"), {}))
      assert.include(wrong, { fault: "wrong passcode", guessesLeft: 2 })
      yield* second.recover(Redacted.make(secret), {})
      assert.isTrue(second.matchesRegisteredKey(publicKey.publicKey))
      yield* Effect.flip(second.recover(Redacted.make("wrong 2"), {}))
      yield* Effect.flip(second.recover(Redacted.make("wrong 3"), {}))
      const gone = yield* Effect.flip(second.recover(Redacted.make(secret), {}))
      assert.include(gone, { fault: "no backup" })
      for (const error of [wrong, gone]) assert.notInclude(inspect(error, { depth: 9, showHidden: true }), "wrong 1")
    }))))

  it("must not be simple", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const library = yield* open(makeBackup())
      library.generateKeypairs()
      for (const passcode of ["123", "1111", "4567", "9876"]) {
        const error = yield* Effect.flip(library.backUp(Redacted.make(passcode), {}))
        assert.include(error, { fault: "weak passcode" })
        assert.notInclude(inspect(error, { depth: 9, showHidden: true }), passcode)
      }
    }))))

  it("goes to the realms of the service by juicebox-sdk", () =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const library = yield* Library.open("1")
      // Nothing listens there.
      const realms = [{ id: "00".repeat(16), address: "http://127.0.0.1:9/" }]
      const shape = { realms, register_threshold: 1, recover_threshold: 1, pin_hashing_mode: "FastInsecure" }
      for (const config of [{ key_store_token_map_json: JSON.stringify(shape) }, {}, undefined]) {
        const error = yield* Effect.flip(library.recover(Redacted.make(secret), config))
        assert.include(error, { fault: "backup unavailable" })
      }
    }))))

  it.effect("has a time limit, after which a late backup changes nothing", () =>
    Effect.gen(function*() {
      let answer = (_: Backup) => {}
      const registered: Array<string> = []
      const backup: Backup = {
        register: async () => void registered.push("late"),
        recover: async () => new Uint8Array(),
        delete: async () => {}
      }
      const library = yield* open(() => new Promise((resolve) => void (answer = resolve)))
      library.generateKeypairs()
      const fiber = yield* Effect.forkChild(Effect.flip(library.backUp(Redacted.make(secret), {})), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 minute")
      assert.include(yield* Fiber.join(fiber), { fault: "backup unavailable" })
      answer(backup)
      yield* Effect.promise(() => new Promise(setImmediate))
      yield* library.load(yield* library.keyBlob)
      assert.isEmpty(registered)
    }))

  test("of a registration leaves no private keys in the store, once they are backed up", ({ sandbox }) =>
    Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const { client, id, store } = stranger(sandbox, "ada1")
      const backupOf = makeBackup()
      let isThere = false
      const library = yield* open(() => isThere ? backupOf() : Promise.reject(new Error("no realm responds")))
      const parts = { userId: id, library, store: ChatStore.make(TokenStore.toEffect(store), id) }
      const register = Registration.register(parts, Redacted.make(secret)).pipe(
        Effect.updateService(Client, (client) => Calls.withUserAuth(client, false)),
        Effect.provideContext(Calls.ofMethods(client))
      )
      assert.include(yield* Effect.flip(register), { fault: "backup unavailable" })
      assert.include(store.texts.get(`chat-${id}`), "privateKey")
      isThere = true
      const { keyBlob, version } = yield* register
      assert.isUndefined(keyBlob)
      assert.notInclude(store.texts.get(`chat-${id}`), "privateKey")
      const { data } = yield* Effect.promise(() => client.getUserPublicKeys({ id, user_auth: false }))
      assert.deepStrictEqual(data?.map(({ public_key_version }) => public_key_version), [version])
      // Its answer may have been lost.
      assert.deepStrictEqual(yield* register, { userId: id, version, keyBlob: undefined })
    }))))
})
