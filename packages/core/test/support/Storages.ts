/** The contract of every storage. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type * as Storage from "../../src/storage/Storage.ts"

/** Makes a client of one storage, as another process has it. */
export class Clients extends Context.Service<Clients, Effect.Effect<Storage.Storage<unknown>>>()(
  "test/Storages/Clients"
) {}

/** The tests of a storage. */
export const suite = (
  name: string,
  clients: Layer.Layer<Clients, unknown>,
  options: { readonly skip?: boolean } = {}
) => {
  let tags = 0
  const run = <A, E, R>(
    test: (one: Storage.Storage<unknown>, other: Storage.Storage<unknown>, tag: string) => Effect.Effect<A, E, R>
  ) =>
    Effect.gen(function*() {
      const client = yield* Clients
      return yield* test(yield* client, yield* client, `tag:{${++tags}}`)
    })

  const texts = ["{}", "quote ' \" \\ emoji 👩🏽‍🚀 line\u2028\n", "x".repeat(100_000)]

  describe.skipIf(options.skip === true)("a storage", () => {
    layer(Layer.orDie(clients))(name, (it) => {
      it.effect("has the texts that a step returned, for every client", () =>
        run(Effect.fnUntraced(function*(one, other, tag) {
          const keys = [`${tag}:a`, `${tag}:b`, `${tag}:c`]
          assert.deepStrictEqual((yield* one.get(keys)).texts, [undefined, undefined, undefined])
          assert.deepStrictEqual((yield* one.get([])).texts, [])
          const result = yield* one.modify({ texts: keys }, ({ texts: before }) => ({ result: before, texts }))
          assert.deepStrictEqual(result, [undefined, undefined, undefined])
          assert.deepStrictEqual((yield* other.get([...keys].reverse())).texts, [...texts].reverse())
          yield* other.modify({ texts: keys }, () => ({ result: 1, texts: [undefined, "new"] }))
          yield* other.modify({ texts: keys }, () => ({ result: 1 }))
          assert.deepStrictEqual((yield* one.get(keys)).texts, [texts[0], "new", texts[2]])
        })))

      it.effect("removes a text by an empty one, in a step of any length, and lists the keys that are left", () =>
        run(Effect.fnUntraced(function*(one, other, tag) {
          const keys = [`${tag}:a`, `${tag}:b`]
          yield* one.modify({ texts: keys }, () => ({ result: 1, texts }))
          assert.deepStrictEqual([...(yield* other.keys(`${tag}:`))].sort(), keys)
          yield* other.modify({ texts: keys }, () => ({ result: 1, texts: ["", "new"] }))
          assert.deepStrictEqual((yield* one.get(keys)).texts, [undefined, "new"])
          assert.deepStrictEqual(yield* one.keys(`${tag}:`), [`${tag}:b`])
          const steps = ["1", "", "2", ""].map((text) =>
            one.modify({ texts: keys }, ({ texts: [before] }) => ({ result: before, texts: [text] }))
          )
          const seen = yield* Effect.all(steps, { concurrency: "unbounded" })
          const [last, second] = (yield* other.get(keys)).texts
          // The order of concurrent steps is open, but each text is read by exactly one step, and the last one is kept.
          assert.deepStrictEqual([...seen, last].map((text) => text ?? "").sort(), ["", "", "", "1", "2"])
          assert.strictEqual(second, "new")
        })))

      it.effect("loses none of the steps that clients make together", () =>
        run(Effect.fnUntraced(function*(one, other, tag) {
          const target = { texts: [tag] }
          const increment = ({ texts: [text = "0"] }: Storage.Before) => ({
            result: text,
            texts: [`${Number(text) + 1}`]
          })
          const seen = yield* Effect.forEach(
            Array.from({ length: 150 }, (_, index) => index % 2 === 0 ? one : other),
            (storage) => storage.modify(target, increment),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(new Set(seen).size, 150)
          assert.deepStrictEqual((yield* one.get([tag])).texts, ["150"])
        })))

      it.effect("adds a member to a set once, and only in a step that changes a text", () =>
        run(Effect.fnUntraced(function*(one, other, tag) {
          const add = (storage: Storage.Storage<unknown>, changes: boolean, ...members: ReadonlyArray<string>) =>
            storage.modify(
              { texts: [tag], sets: [{ key: `${tag}:set`, members }, { key: `${tag}:own`, members: ["1"] }] },
              ({ absent }) => ({
                result: [...absent[0] ?? []].sort(),
                ...(changes ? { texts: [String(Math.random())] } : {})
              })
            )
          const ids = ["007", "1460323737035677698", "x y"]
          assert.deepStrictEqual(yield* add(one, false, ...ids), ids)
          assert.deepStrictEqual(yield* add(one, true, ...ids, ...ids), ids)
          assert.deepStrictEqual(yield* add(other, true, ...ids, "7"), ["7"])
          const found = yield* Effect.forEach(
            Array.from({ length: 20 }, (_, index) => index % 2 === 0 ? one : other),
            (storage) => add(storage, true, "together"),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(found.flat(), ["together"])
        })))

      it.effect("adds a member in a step that returns the texts that there are", () =>
        run(Effect.fnUntraced(function*(one, other, tag) {
          const add = (storage: Storage.Storage<unknown>, member: string) =>
            storage.modify(
              { texts: [tag], sets: [{ key: `${tag}:set`, members: [member] }] },
              ({ absent }) => ({ result: absent[0]?.size, texts: ["the same"] })
            )
          for (const member of ["1", "2"]) {
            assert.strictEqual(yield* add(one, member), 1)
            assert.strictEqual(yield* add(other, member), 0)
          }
        })))

      it.effect("has one clock, which does not run backwards", () =>
        run(Effect.fnUntraced(function*(one, other, tag) {
          let last = 0
          for (const storage of [one, other, one, other]) {
            const now = yield* storage.modify({ texts: [tag] }, ({ now }) => ({ result: now, texts: [`${now}`] }))
            assert.isAtLeast(now, last)
            last = now
          }
        })))
    })
  })
}
