/** The contract of logs of shared streams. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import * as StreamLog from "../../src/streams/shared/StreamLog.ts"

const entry = (id: number, at = id * 1_000): StreamLog.Entry => ({ id: String(id), at, text: `text ${id}` })

const entries = (...ids: ReadonlyArray<number>) => ids.map((id) => entry(id))

const numbers = (placed: ReadonlyArray<StreamLog.Placed>) => placed.map(({ id }) => Number(id))

/** Long enough for each step of a test on a busy machine. */
const longMillis = 60_000

/** Tests a store. Each test uses its own stream. */
export const suite = (
  name: string,
  store: Layer.Layer<StreamLog.StreamLog, unknown>,
  options: { readonly skip?: boolean } = {}
) => {
  let streams = 0
  const run = <A, E>(test: (store: StreamLog.Store, stream: string) => Effect.Effect<A, E>) =>
    Effect.flatMap(StreamLog.StreamLog, (store) => test(store, `stream ${++streams}`))

  /** Takes a free seat, and returns the token. */
  const take = Effect.fnUntraced(
    function*(store: StreamLog.Store, seat: StreamLog.Seat, holder: string, millis = longMillis) {
      const lease = yield* store.acquire(seat, holder, millis)
      if (lease._tag === "Taken") return yield* Effect.die(new Error(`taken for ${lease.millis} ms`))
      return lease.token
    }
  )

  /** Waits for a seat, and returns the token. */
  const await_ = Effect.fnUntraced(function*(store: StreamLog.Store, seat: StreamLog.Seat, holder: string) {
    while (true) {
      const lease = yield* store.acquire(seat, holder, longMillis)
      if (lease._tag === "Held") return lease.token
      assert.isAtLeast(lease.millis, 0)
      yield* Effect.sleep(lease.millis)
    }
  })

  const lost = <E>(effect: Effect.Effect<unknown, E>) =>
    Effect.map(Effect.flip(effect), (error) => assert.instanceOf(error, StreamLog.LeaseLost))

  describe.skipIf(options.skip === true)("a log of shared streams", () => {
    layer(Layer.orDie(store), { excludeTestServices: true })(name, (it) => {
      it.effect("gives the connection to one holder at a time, with increasing tokens", () =>
        run(Effect.fnUntraced(function*(store, stream) {
          const one = yield* take(store, { stream }, "one")
          assert.strictEqual(yield* take(store, { stream }, "one"), one)
          const refused = yield* store.acquire({ stream }, "other", longMillis)
          if (refused._tag !== "Taken") return assert.fail("it was had twice")
          assert.isAtMost(refused.millis, longMillis)
          assert.isAtLeast(refused.millis, longMillis / 2)
          yield* store.release({ stream }, one - 1)
          assert.strictEqual((yield* store.acquire({ stream }, "other", longMillis))._tag, "Taken")
          yield* store.release({ stream }, one)
          assert.isAbove(yield* take(store, { stream }, "other"), one)
          // Each consumer has its own seat, regardless of its name.
          const consumers = ["line", "", "\0", "\ud800", "\udfff"]
          for (const consumer of consumers) yield* take(store, { stream, consumer }, "one")
          for (const consumer of consumers) {
            assert.strictEqual((yield* store.acquire({ stream, consumer }, "another", 1))._tag, "Taken")
          }
          yield* take(store, { stream, consumer: "b" }, "other")
          assert.strictEqual((yield* store.acquire({ stream, consumer: "b" }, "one", 1))._tag, "Taken")
        })))

      it.effect("gives an expired seat to another holder, and refuses writes of the first one", () =>
        run(Effect.fnUntraced(function*(store, stream) {
          const one = yield* take(store, { stream }, "one", 50)
          const first = yield* store.append(stream, one, 0, entries(1), 1_000)
          const other = yield* await_(store, { stream }, "other")
          assert.isAbove(other, one)
          yield* lost(store.append(stream, one, first, entries(2), 2_000))
          yield* lost(store.append(stream, one, first, [], 9_000))
          yield* lost(store.prolong({ stream }, one, longMillis))
          yield* store.release({ stream }, one)
          const last = yield* store.append(stream, other, first, entries(3), 3_000)
          assert.deepStrictEqual(yield* store.extent(stream), { last, until: 3_000 })
          const all = yield* store.read(stream, 0, 10)
          assert.deepStrictEqual(numbers(all), [1, 3])
          // Each holder starts at a place that no earlier holder can have used.
          assert.deepStrictEqual(all.map(({ follows, position }) => [follows, position]), [[0, one], [one, other]])
        })))

      it.effect("refuses to add entries after a place that it does not have", () =>
        run(Effect.fnUntraced(function*(store, stream) {
          const token = yield* take(store, { stream }, "one")
          yield* lost(store.append(stream, token, 1, entries(1), 1_000))
          const last = yield* store.append(stream, token, 0, entries(1), 1_000)
          yield* lost(store.append(stream, token, last + 1, entries(2), 2_000))
          yield* lost(store.append(stream, token, last + 1, [], 2_000))
          assert.deepStrictEqual(yield* store.extent(stream), { last, until: 1_000 })
        })))

      it.effect("gives a forgotten seat a higher token", () =>
        run(Effect.fnUntraced(function*(store, stream) {
          const seat = { stream, consumer: "a" }
          const one = yield* take(store, seat, "one")
          yield* store.release(seat, one)
          yield* store.forget(stream, "a")
          yield* Effect.sleep(1)
          assert.isAbove(yield* take(store, seat, "one"), one)
          yield* lost(store.commit(stream, "a", one, { position: 1, at: 1 }))
        })))

      it.effect("extends leases, even late", () =>
        run(Effect.fnUntraced(function*(store, stream) {
          const token = yield* take(store, { stream }, "one", 1)
          yield* Effect.sleep(5)
          yield* store.prolong({ stream }, token, longMillis)
          assert.strictEqual((yield* store.acquire({ stream }, "other", longMillis))._tag, "Taken")
          yield* store.append(stream, token, 0, entries(1), 1_000)
        })))

      it.effect("has each entry once, in order", () =>
        run(Effect.fnUntraced(function*(store, stream) {
          assert.deepStrictEqual(yield* store.extent(stream), { last: 0, until: undefined })
          assert.deepStrictEqual(yield* store.read(stream, 0, 10), [])
          const token = yield* take(store, { stream }, "one")
          const text = JSON.stringify("\u0000 \ud800 é 🎉 \"\\ '\n")
          const first = [{ id: "1", at: 1_001, text }, { id: "", at: 1_002, text: "" }]
          const second = yield* store.append(stream, token, 0, first, 1_003)
          // The response may be lost.
          assert.strictEqual(yield* store.append(stream, token, 0, first, 1_003), second)
          assert.strictEqual(yield* store.append(stream, token, second, [], 1_500), second)
          const third = yield* store.append(stream, token, second, entries(3), 1_400)
          const last = yield* store.append(stream, token, third, entries(4, 5), undefined)
          assert.deepStrictEqual(yield* store.extent(stream), { last, until: 1_500 })
          assert.deepStrictEqual(yield* store.read(stream, 0, 2), [
            { position: token, follows: 0, id: "1", at: 1_001, text },
            { position: second, follows: token, id: "", at: 1_002, text: "" }
          ])
          assert.deepStrictEqual(numbers(yield* store.read(stream, second, 2)), [3, 4])
          assert.deepStrictEqual(numbers(yield* store.read(stream, last - 1, 2)), [5])
          assert.deepStrictEqual(yield* store.read(stream, last, 2), [])
          assert.sameMembers([...(yield* store.idsSince(stream, 1_001))], ["1", "3", "4", "5"])
          assert.sameMembers([...(yield* store.idsSince(stream, 4_000))], ["4", "5"])
          // Streams are independent.
          assert.deepStrictEqual(yield* store.read(`${stream} too`, 0, 10), [])
        })))

      it.effect("holds large batches", () =>
        run(Effect.fnUntraced(function*(store, stream) {
          const token = yield* take(store, { stream }, "one")
          const batch = Array.from({ length: 3_000 }, (_, index) => ({ ...entry(index + 1), text: "é".repeat(500) }))
          yield* store.append(stream, token, 0, batch, 1_000)
          const last = yield* store.read(stream, token + 2_989, 100)
          assert.deepStrictEqual(numbers(last), Array.from({ length: 10 }, (_, index) => 2_991 + index))
          assert.strictEqual(last.at(-1)?.text, batch.at(-1)?.text)
          assert.lengthOf(yield* store.idsSince(stream, 0), 3_000)
        })))

      it.effect("wakes readers that wait for entries", () =>
        run(Effect.fnUntraced(function*(store, stream) {
          const token = yield* take(store, { stream }, "one")
          const reader = yield* Effect.forkChild(Effect.gen(function*() {
            while (true) {
              const found = yield* store.read(stream, token, 10)
              if (found.length > 0) return found
              yield* store.wait(stream, token)
            }
          }))
          yield* store.append(stream, token, 0, entries(1), 1_000)
          yield* Effect.sleep(20)
          yield* store.append(stream, token, token, entries(2), 2_000)
          assert.deepStrictEqual(numbers(yield* Fiber.join(reader)), [2])
          // There already is an entry, so this does not wait.
          yield* store.wait(stream, token)
        })))

      it.effect("moves cursors forward, for the holders of their seats", () =>
        run(Effect.fnUntraced(function*(store, stream) {
          const seat = { stream, consumer: "a" }
          assert.isUndefined(yield* store.cursor(stream, "a"))
          const one = yield* take(store, seat, "one", 50)
          yield* store.commit(stream, "a", one, { position: 5, at: 5_000 })
          yield* store.commit(stream, "a", one, { position: 3, at: 3_000 })
          assert.deepStrictEqual(yield* store.cursor(stream, "a"), { position: 5, at: 5_000 })
          const other = yield* await_(store, seat, "other")
          yield* lost(store.commit(stream, "a", one, { position: 7, at: 7_000 }))
          yield* lost(store.prolong(seat, one, longMillis))
          yield* store.commit(stream, "a", other, { position: 6, at: 6_000 })
          assert.deepStrictEqual(yield* store.cursor(stream, "a"), { position: 6, at: 6_000 })
          assert.isUndefined(yield* store.cursor(stream, "b"))
          yield* store.forget(stream, "a")
          assert.isUndefined(yield* store.cursor(stream, "a"))
          // The holder keeps the seat.
          yield* store.commit(stream, "a", other, { position: 1, at: 1_000 })
          assert.deepStrictEqual(yield* store.cursor(stream, "a"), { position: 1, at: 1_000 })
        })))

      it.effect("deletes entries that are old, too many, or read by all consumers", () =>
        run(Effect.fnUntraced(function*(store, stream) {
          const token = yield* take(store, { stream }, "one")
          const former = yield* store.append(stream, token, 0, entries(1, 2, 3, 4, 5), 5_000)
          yield* store.release({ stream }, token)
          // Places between the entries of two holders are unused.
          const other = yield* take(store, { stream }, "other")
          const tenth = yield* store.append(stream, other, former, entries(6, 7, 8, 9, 10), 10_000)
          const left = () => Effect.map(store.read(stream, 0, 100), numbers)
          yield* store.trim(stream, { before: 0, keep: 100, readBefore: 9_999_999 })
          assert.lengthOf(yield* left(), 10)
          yield* store.trim(stream, { before: 3_000, keep: 100, readBefore: 0 })
          assert.deepStrictEqual(yield* left(), [3, 4, 5, 6, 7, 8, 9, 10])
          yield* store.trim(stream, { before: 0, keep: 7, readBefore: 0 })
          assert.deepStrictEqual(yield* left(), [4, 5, 6, 7, 8, 9, 10])
          const a = yield* take(store, { stream, consumer: "a" }, "one")
          const b = yield* take(store, { stream, consumer: "b" }, "one")
          yield* store.commit(stream, "a", a, { position: tenth - 1, at: 9_000 })
          yield* store.commit(stream, "b", b, { position: tenth - 4, at: 6_000 })
          yield* store.trim(stream, { before: 0, keep: 100, readBefore: 6_000 })
          assert.deepStrictEqual(yield* left(), [6, 7, 8, 9, 10])
          yield* store.trim(stream, { before: 0, keep: 100, readBefore: 99_000 })
          assert.deepStrictEqual(yield* left(), [7, 8, 9, 10])
          yield* store.forget(stream, "b")
          yield* store.trim(stream, { before: 0, keep: 100, readBefore: 99_000 })
          assert.deepStrictEqual(yield* left(), [10])
          yield* store.trim(stream, { before: 99_000, keep: 100, readBefore: 0 })
          assert.deepStrictEqual(yield* left(), [])
          // Places continue to increase.
          yield* store.append(stream, other, tenth, entries(11), 11_000)
          assert.deepStrictEqual(yield* left(), [11])
        })))
    })
  })
}
