/** Members of lists of the sandbox that become others, whatever goes wrong on the way. */
import { assert, describe, it } from "@effect/vitest"
import * as Client from "@postwire/core/client/Client"
import * as Errors from "@postwire/core/errors/Errors"
import * as RateLimit from "@postwire/core/rate-limit/RateLimit"
import type { WireName } from "@postwire/core/schema/WireName"
import * as Journal from "@postwire/core/storage/Journal"
import { names } from "@postwire/core/wire/Wire"
import {
  knownPlan,
  type Outcome,
  planListMembers,
  type SyncedMembers,
  syncListMembers,
  type SyncOptions,
  type Wanted
} from "@postwire/core/workflows/ListMembers"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { make as random } from "../src/text/random.ts"
import * as Requests from "./support/Requests.ts"

const scene = Effect.fnUntraced(function*(people = 8) {
  const bench = yield* Requests.make({ posts: 0 })
  const { sandbox } = bench
  const users = Array.from({ length: people }, (_, i) => sandbox.user({ username: `u${i}` }))
  const at = (...indexes: ReadonlyArray<number>) => indexes.flatMap((i) => users[i] ?? [])
  const list = (...members: ReadonlyArray<number>) => sandbox.ada.list({ name: "Friends", members: at(...members) }).id
  const membersOf = (list: string) => users.flatMap(({ id }, i) => sandbox.store.lists.isMember(list, id) ? [i] : [])
  const journal = Journal.makeMemory()
  const layer = (wire?: WireName) => Layer.mergeAll(bench.client(wire), Layer.succeed(Journal.Journal, journal))
  const sync = (list: string, desired: Iterable<Wanted>, options?: SyncOptions) =>
    Effect.provide(syncListMembers(list, desired, options), layer())
  /** The changes that were asked for. */
  const changes = () =>
    sandbox.requests.flatMap(({ operation, status }) =>
      operation === "addListMember" || operation === "removeListMember" ? [`${operation} ${status}`] : []
    )
  return { ...bench, users, at, list, membersOf, journal, layer, sync, changes }
})

const became = ({ outcomes }: SyncedMembers, what: Outcome["became"]) =>
  outcomes.filter((outcome) => outcome.became === what).map(({ id, refusal, username }) =>
    refusal === undefined ? username ?? id : `${username ?? id} ${refusal.reason}`
  )

describe("the members of a list", () => {
  it.effect.each(names)(
    "become those that are wished for, by id or by name: wire %s",
    (wire) =>
      Effect.gen(function*() {
        const { changes, journal, layer, list, membersOf, sandbox, users } = yield* scene()
        const id = list(0, 1, 2, 3)
        const desired = [users[0]?.id ?? "", "@U1", "u2", "u5", BigInt(users[6]?.id ?? 0), users[6]?.id ?? "", "nobody"]
        const options = { user_auth: false }
        const plan = yield* Effect.provide(planListMembers(id, desired, options), layer(wire))
        assert.deepInclude(plan, { list: id, members: 4, done: 0, requests: 3, duration: 0 })
        assert.deepStrictEqual(
          [plan.remove, plan.add, plan.present, plan.unknown].map((all) => all.length),
          [1, 2, 3, 1]
        )
        assert.deepStrictEqual(membersOf(id), [0, 1, 2, 3])
        // The plan is still good: the list is not read again.
        sandbox.journal.clear()
        const synced = yield* Effect.provide(syncListMembers(id, desired, options), layer(wire))
        assert.deepStrictEqual(changes(), ["removeListMember 200", "addListMember 200", "addListMember 200"])
        assert.lengthOf(sandbox.requests, 3)
        assert.deepStrictEqual(membersOf(id), [0, 1, 2, 5, 6])
        assert.deepInclude(synced, { added: 2, removed: 1, present: 3, kept: 0, refused: 1, resumed: false })
        assert.deepStrictEqual(became(synced, "removed"), ["u3"])
        assert.sameMembers(became(synced, "added"), ["u5", users[6]?.id])
        assert.deepStrictEqual(became(synced, "refused"), ["nobody unknown"])
        assert.isUndefined(yield* journal.read(`members.${id}`))
        // Once more, there is nothing to do.
        const again = yield* Effect.provide(syncListMembers(id, desired.slice(0, 6), options), layer(wire))
        assert.deepInclude(again, { added: 0, removed: 0, present: 5, refused: 0 })
      })
  )

  it.effect("stay with keep, and are not emptied by accident", () =>
    Effect.gen(function*() {
      const { changes, list, membersOf, sync } = yield* scene()
      const id = list(0, 1, 2, 3)
      const kept = yield* sync(id, ["u4"], { keep: true })
      assert.deepInclude(kept, { added: 1, removed: 0, kept: 4 })
      const none = yield* Effect.flip(sync(id, []))
      assert.include(none.message, "maxRemovals must be at least 5: the plan removes 5 of 5 members. Got 0")
      const many = yield* Effect.flip(sync(id, ["u4", "u5"]))
      assert.include(many.message, "maxRemovals must be at least 4: the plan removes 4 of 5 members. Got 2")
      assert.deepStrictEqual(membersOf(id), [0, 1, 2, 3, 4])
      assert.lengthOf(changes(), 1)
      yield* sync(id, ["u4", "u5"], { maxRemovals: 4 })
      assert.deepStrictEqual(membersOf(id), [4, 5])
      yield* sync(id, [], { maxRemovals: 2 })
      assert.deepStrictEqual(membersOf(id), [])
    }))

  it.effect("who are refused do not stop the others, and it is said why", () =>
    Effect.gen(function*() {
      const { ada, at, list, membersOf, sandbox, sync, users } = yield* scene()
      const id = list(0)
      const [blocking, suspended] = at(1, 2)
      blocking?.blocks(ada)
      suspended?.suspended()
      // Of two that fail, one fails again.
      for (const nth of [2, 3, 6]) sandbox.faults.add({ operation: "addListMember", nth, status: 503 })
      const ids = [0, 1, 3, 4].map((i) => users[i]?.id ?? "")
      const told: Array<Outcome> = []
      const onProgress: SyncOptions["onProgress"] = ({ last }) => told.push(last)
      const synced = yield* Fiber.join(
        yield* Effect.tap(
          Effect.forkChild(sync(id, [...ids, "999", "u5", "u2"], { retries: 0, onProgress })),
          () => TestClock.adjust("10 minutes")
        )
      )
      assert.deepStrictEqual(membersOf(id), [0, 4, 5])
      assert.deepInclude(synced, { added: 2, present: 1 })
      assert.sameMembers(became(synced, "refused"), [
        `${ids[1]} blocked`,
        `${ids[2]} failed`,
        "999 unknown",
        "u2 suspended"
      ])
      // Each once, also who was tried twice.
      assert.sameDeepMembers(told, synced.outcomes.filter(({ became, id }) => became !== "present" && id !== undefined))
    }))

  it.effect("who fail twice do not stop the others, however many they are", () =>
    Effect.gen(function*() {
      const { list, membersOf, sandbox, sync, users } = yield* scene()
      const id = list()
      for (const nth of [1, 3, 5, 7, 8, 9]) sandbox.faults.add({ operation: "addListMember", nth, status: 503 })
      const syncing = sync(id, users.slice(0, 6).map(({ id }) => id), { retries: 0 })
      const fiber = yield* Effect.forkChild(syncing)
      yield* TestClock.adjust("10 minutes")
      assert.deepInclude(yield* Fiber.join(fiber), { added: 3, refused: 3 })
      assert.deepStrictEqual(membersOf(id), [1, 3, 5])
    }))

  it.effect("fill a list to its last place, and it is said who did not fit", () =>
    Effect.gen(function*() {
      const { ada, at, changes, list, sandbox, sync, users } = yield* scene(12)
      const id = list()
      // As if it had been filled before.
      sandbox.store.transaction(() => {
        for (let i = 0; i < 4_998; i++) {
          const createdAt = Requests.now - Requests.day
          sandbox.store.lists.setMember(
            id,
            sandbox.store.users.insert({ username: `f${i}`, name: "f", createdAt }),
            true
          )
        }
      })
      sandbox.budget.clear()
      // Neither who failed nor who is refused for another reason has taken a place.
      sandbox.faults.add({ operation: "addListMember", nth: 1, status: 503 })
      at(2)[0]?.blocks(ada)
      const synced = yield* sync(id, users.map(({ id }) => id), { keep: true, retries: 0 })
      assert.deepInclude(synced, { added: 2, kept: 4_998, refused: 10 })
      assert.deepStrictEqual(
        became(synced, "refused").map((text) => text?.split(" ")[1]),
        users.flatMap((_, i) => i === 1 || i === 3 ? [] : [i === 2 ? "blocked" : "full"])
      )
      assert.deepStrictEqual(changes(), [503, 200, 403, 200, 403].map((status) => `addListMember ${status}`))
    }), 20_000)

  it.effect("of a list of somebody else are left as they are", () =>
    Effect.gen(function*() {
      const { at, changes, sandbox, sync, users } = yield* scene()
      const [owner] = at(0)
      const id = owner?.list({ name: "Theirs", members: at(1, 2, 3) }).id ?? ""
      const error = yield* Effect.flip(sync(id, users.slice(1, 6).map(({ id }) => id)))
      assert.instanceOf(error, Errors.Forbidden)
      assert.lengthOf(changes(), 1)
      const gone = yield* Effect.flip(sync("77", ["u1"]))
      assert.include(gone.message, "list must be visible to the caller: Could not find list with id: [77]")
      assert.strictEqual(sandbox.requests.at(-1)?.operation, "getListMembers")
    }))

  it.effect(
    "are changed at the pace of the rate limit, whether the client waits or the call does",
    () =>
      Effect.gen(function*() {
        const { changes, client, journal, list, sync, users } = yield* scene(305)
        const ids = users.map(({ id }) => id)
        for (const waits of [true, false]) {
          const id = list()
          const waiting = Effect.provide(
            syncListMembers(id, ids),
            Layer.mergeAll(client(), Layer.succeed(Journal.Journal, journal)).pipe(
              Layer.provide(Layer.fresh(RateLimit.layerWait()))
            )
          )
          const before = changes().length
          const fiber = yield* Effect.forkChild(waits ? waiting : sync(id, ids))
          yield* TestClock.adjust("14 minutes")
          assert.strictEqual(changes().slice(before).filter((change) => change.endsWith(" 200")).length, 300)
          yield* TestClock.adjust("20 minutes")
          assert.deepInclude(yield* Fiber.join(fiber), { added: 305 })
        }
        assert.isAtMost(changes().filter((change) => change.endsWith(" 429")).length, 2)
      }),
    30_000
  )

  it.effect("are planned, and their owner is looked up, after the rate limits of these reads have reset", () =>
    Effect.gen(function*() {
      const { at, membersOf, ada, list, sandbox, sync, users } = yield* scene()
      const id = list(0)
      at(1)[0]?.blocks(ada)
      for (const operation of ["getListMembers", "getUsers", "getList", "getMe"] as const) {
        sandbox.faults.add({ operation, status: 429, headers: { "retry-after": "600" } })
      }
      const fiber = yield* Effect.forkChild(sync(id, ["u0", users[1]?.id ?? "", "u2"]))
      yield* TestClock.adjust("41 minutes")
      assert.deepInclude(yield* Fiber.join(fiber), { added: 1, present: 1, refused: 1 })
      assert.deepStrictEqual(membersOf(id), [0, 2])
      assert.lengthOf(sandbox.requests.filter(({ status }) => status === 429), 4)
    }))

  it.effect("are refused where the service responds with success but without the change", () =>
    Effect.gen(function*() {
      const { layer, list, users } = yield* scene()
      const ids = users.slice(1, 3).map(({ id }) => id)
      const synced = yield* syncListMembers(list(0), ids, { maxRemovals: 1 }).pipe(
        Effect.updateService(Client.Client, (client) => ({
          ...client,
          read: (definition, response) =>
            Effect.map(client.read(definition, response), (read) =>
              definition.name === "addListMember" || definition.name === "removeListMember"
                ? { ...read, data: { is_member: definition.name === "removeListMember" } }
                : read)
        })),
        Effect.provide(layer())
      )
      assert.deepInclude(synced, { added: 0, removed: 0, refused: 3 })
      assert.deepStrictEqual(became(synced, "refused"), [
        "u0 refused",
        ...ids.map((id) =>
          `${id} refused`
        )
      ])
    }))

  it.effect("tells how long thousands take", () =>
    Effect.gen(function*() {
      const { layer, list } = yield* scene(1)
      const ids = Array.from({ length: 5_000 }, (_, i) => i + 1_000)
      const plan = yield* Effect.provide(planListMembers(list(), ids), layer())
      assert.deepInclude(plan, { requests: 5_000, duration: (4 * 60 + 10) * 60_000 })
    }))

  it.effect("of which another change is wished for are read anew, and so they are after a while", () =>
    Effect.gen(function*() {
      const { layer, list, membersOf, sync } = yield* scene()
      const id = list(0, 1)
      const known = (...desired: ReadonlyArray<Wanted>) => Effect.provide(knownPlan(id, desired), layer())
      yield* Effect.provide(planListMembers(id, ["u0", "u1", "u2"]), layer())
      assert.isDefined(yield* known("u1", "u2", "u0"))
      assert.isUndefined(yield* known("u1", "u2"))
      yield* TestClock.adjust("16 minutes")
      assert.isUndefined(yield* known("u1", "u2", "u0"))
      yield* Effect.provide(planListMembers(id, ["u0", "u1", "u2"]), layer())
      yield* sync(id, ["u0", "u3"])
      assert.deepStrictEqual(membersOf(id), [0, 3])
    }))

  it.effect("are refused by the name of what is wrong", () =>
    Effect.gen(function*() {
      const { sync } = yield* scene(1)
      const message = (effect: ReturnType<typeof sync>) => Effect.map(Effect.flip(effect), ({ message }) => message)
      assert.include(yield* message(sync("1", ["a b"])), "desired[0] must be an id, or a username")
      assert.include(yield* message(sync("1", JSON.parse("null"))), "desired must be an iterable of ids and usernames")
      assert.include(yield* message(sync("list", [])), "list must be an id")
      assert.include(yield* message(sync("1", [], { maxRemovals: -1 })), "maxRemovals must be a whole number from 0")
    }))

  it.effect.each([1, 2, 3])(
    "are those that were wished for in the end, wherever it is interrupted: seed %s",
    (seed) =>
      Effect.gen(function*() {
        const draw = random(seed, "members")
        const { changes, layer, list, membersOf, sandbox, users } = yield* scene(60)
        const some = () => users.flatMap((_, i) => draw.chance(0.5) ? [i] : [])
        const id = list(...some())
        const wish = some()
        sandbox.faults.add({
          operation: "addListMember",
          probability: 0.2,
          oneOf: [{ reset: "after" }, { status: 503 }, { status: 503, after: true }, { reset: "before" }]
        })
        const desired = wish.map((i) => users[i]?.id ?? "")
        const changed = users.filter((_, i) => membersOf(id).includes(i) !== wish.includes(i)).length
        let runs = 0
        for (;; runs++) {
          const fiber = yield* Effect.forkChild(
            Effect.provide(syncListMembers(id, desired, { maxRemovals: 60, retries: 0 }), layer())
          )
          const until = changes().length + draw.below(12)
          while (changes().length < until && fiber.pollUnsafe() === undefined) yield* Effect.yieldNow
          if (fiber.pollUnsafe() === undefined && runs < 20) {
            yield* Fiber.interrupt(fiber)
            continue
          }
          const exit = yield* Fiber.await(fiber)
          if (exit._tag === "Success") {
            if (exit.value.refused === 0) break
          }
          sandbox.faults.clear()
        }
        assert.deepStrictEqual(membersOf(id), wish)
        assert.isAtLeast(changes().length, changed)
        // Each change once, but for what failed and what an interruption left open.
        const failed = changes().filter((change) => !change.endsWith(" 200")).length
        assert.isAtMost(changes().length - failed, changed + runs + 1)
      })
  )
})
