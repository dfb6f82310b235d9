/** What every store of bills does: each is held against the rules, and against the one in memory. */
import { assert, describe, layer } from "@effect/vitest"
import { Arbitrary, Context, Effect, Layer, Schema } from "effect"
import { DatabaseSync } from "node:sqlite"
import type * as Bill from "../../src/spend/Bill.ts"
import * as SpendStore from "../../src/spend/SpendStore.ts"

const day = "2026-11-22"

const purpose = { day, operation: "getPosts", account: "ada" }

const reservation = (micros: number, changes: Partial<Bill.Purpose> = {}): Bill.Reservation => ({
  ...purpose,
  ...changes,
  micros
})

const charge = (changes: Partial<Bill.Charge> = {}): Bill.Charge => ({
  ...purpose,
  micros: 0,
  isCharged: false,
  inDoubt: false,
  resources: [],
  ...changes
})

const posts = (...ids: ReadonlyArray<string>) => [{ kind: "post" as const, micros: 5_000, ids, unnamed: 0 }]

const sum = (entries: ReadonlyArray<Bill.Entry>) => {
  const of = (name: keyof Bill.Amounts) => entries.reduce((sum, entry) => sum + entry[name], 0)
  return { spent: of("spent"), inDoubt: of("inDoubt"), reserved: of("reserved") }
}

/** The steps of a store, any of which another process might make. */
const Step = Schema.Union([
  Schema.Struct({
    step: Schema.Literal("reserve"),
    lease: Schema.Literals(["a", "b", "c", "d"]),
    micros: Schema.Literals([1_000, 5_000, 20_000]),
    day: Schema.Literals(["2026-11-30", "2026-12-01"])
  }),
  Schema.Struct({
    step: Schema.Literal("settle"),
    lease: Schema.Literals(["a", "b", "c", "d"]),
    day: Schema.Literals(["2026-11-30", "2026-12-01"]),
    ids: Schema.UniqueArray(Schema.Literals(["1", "2", "1460323737035677698", "1DXxyRYNejbKM", "007"])),
    inDoubt: Schema.Boolean,
    operation: Schema.Literals(["getPost", "searchRecentPosts"])
  })
])

/** The text of the reservations of a bill, made so much earlier. */
export const aged = (text: string, millis: number): string => {
  const open: Bill.Open = JSON.parse(text)
  const held = Object.entries(open.held).map(([lease, own]) => [lease, { ...own, at: own.at - millis }])
  return JSON.stringify({ ...open, held: Object.fromEntries(held) })
}

/** Makes all reservations in an SQLite file so much earlier. */
export const ageFile = (path: string, millis: number): void => {
  using database = new DatabaseSync(path)
  for (
    const { key, text } of database.prepare("SELECT key, text FROM postwire_texts_1 WHERE key LIKE '%:open'").all()
  ) {
    database.prepare("UPDATE postwire_texts_1 SET text = ? WHERE key = ?").run(aged(String(text), millis), String(key))
  }
}

/** Makes all reservations of a store a quarter of an hour older, and more. */
export class Aging extends Context.Service<Aging, Effect.Effect<void>>()("test/SpendStores/Aging") {}

export const agingMillis = 16 * 60_000

/** The tests of a store, which is made anew, and empty, for each bill. */
export const suite = (
  name: string,
  store: Layer.Layer<SpendStore.SpendStore | Aging, unknown>,
  options: { readonly skip?: boolean } = {}
) => {
  let bills = 0
  const newBill = () => `https://service.test/${++bills}`
  const run = <A, E, R>(test: (store: SpendStore.Store, bill: string) => Effect.Effect<A, E, R>) =>
    Effect.flatMap(SpendStore.SpendStore, (store) => test(store, newBill()))

  describe.skipIf(options.skip === true)("a store of bills", () => {
    layer(Layer.orDie(store))(name, (it) => {
      it.effect("charges a resource once a day", () =>
        run(Effect.fnUntraced(function*(store, bill) {
          for (const lease of ["a", "b", "c"]) yield* store.reserve(bill, lease, reservation(20_000), {})
          assert.deepStrictEqual(
            yield* store.settle(bill, "a", charge({ resources: posts("1", "2", "1460323737035677698") })),
            { micros: 15_000, charged: 3, repeats: 0 }
          )
          assert.deepStrictEqual(
            yield* store.settle(bill, "b", charge({ resources: posts("2", "3") })),
            { micros: 5_000, charged: 1, repeats: 1 }
          )
          // The next day begins anew.
          assert.deepStrictEqual(
            yield* store.settle(bill, "c", charge({ day: "2026-11-23", resources: posts("2", "3") })),
            { micros: 10_000, charged: 2, repeats: 0 }
          )
          assert.deepStrictEqual(yield* store.read(bill, day, day), [
            { ...purpose, spent: 20_000, inDoubt: 0, reserved: 0, charged: 4, repeats: 1 }
          ])
          assert.deepStrictEqual(sum(yield* store.read(bill, "2026-11-01", "2026-11-30")).spent, 30_000)
          assert.deepStrictEqual(yield* store.read(bill, "2026-11-24", "2027-01-01"), [])
        })))

      it.effect("settles a lease once, and none that it does not hold", () =>
        run(Effect.fnUntraced(function*(store, bill) {
          yield* store.reserve(bill, "a", reservation(15_000), {})
          yield* store.reserve(bill, "a", reservation(15_000), {})
          assert.strictEqual(sum(yield* store.read(bill, day, day)).reserved, 15_000)
          const settled = charge({ micros: 15_000, isCharged: true })
          assert.strictEqual((yield* store.settle(bill, "a", settled)).micros, 15_000)
          assert.strictEqual((yield* store.settle(bill, "a", settled)).micros, 0)
          assert.strictEqual((yield* store.settle(bill, "b", settled)).micros, 0)
          assert.deepStrictEqual(sum(yield* store.read(bill, day, day)), { spent: 15_000, inDoubt: 0, reserved: 0 })
        })))

      it.effect("counts what is spent, in doubt and in flight towards the limits of day and month", () =>
        run(Effect.fnUntraced(function*(store, bill) {
          const limits = { perDay: 30_000, perMonth: 50_000 }
          yield* store.reserve(bill, "spent", reservation(10_000), limits)
          yield* store.settle(bill, "spent", charge({ resources: posts("1", "2") }))
          yield* store.reserve(bill, "doubt", reservation(10_000), limits)
          yield* store.settle(bill, "doubt", charge({ micros: 10_000, inDoubt: true }))
          yield* store.reserve(bill, "flight", reservation(5_000), limits)
          const amounts = { spent: 10_000, inDoubt: 10_000, reserved: 5_000 }
          assert.deepStrictEqual(
            yield* store.reserve(bill, "more", reservation(6_000), limits),
            { refused: "day", newest: day, day: amounts, month: amounts }
          )
          assert.deepStrictEqual((yield* store.reserve(bill, "exact", reservation(5_000), limits)).refused, undefined)
          const next = { day: "2026-11-23" }
          assert.deepStrictEqual(
            (yield* store.reserve(bill, "next", reservation(20_000, next), limits)).refused,
            undefined
          )
          yield* store.settle(bill, "next", charge({ ...next, micros: 20_000, isCharged: true }))
          assert.deepStrictEqual(
            (yield* store.reserve(bill, "month", reservation(1_000, { day: "2026-11-24" }), limits)).refused,
            "month"
          )
          assert.deepStrictEqual(
            (yield* store.reserve(bill, "other", reservation(1_000, { day: "2026-12-01" }), limits)).refused,
            undefined
          )
          // Another bill has nothing to do with it.
          assert.deepStrictEqual(
            (yield* store.reserve(newBill(), "own", reservation(30_000), limits)).refused,
            undefined
          )
        })))

      it.effect("counts what is in flight for every day, and knows the newest day with a charge", () =>
        run(Effect.fnUntraced(function*(store, bill) {
          const limits = { perDay: 10_000, perMonth: 10_000 }
          const on = (day: string, micros: number) => ({ ...reservation(micros, { day }) })
          const first = yield* store.reserve(bill, "a", on("2026-11-30", 6_000), limits)
          assert.strictEqual(first.newest, undefined)
          const other = yield* store.reserve(bill, "b", on("2026-12-02", 5_000), limits)
          assert.deepInclude(other, { refused: "day", day: { spent: 0, inDoubt: 0, reserved: 6_000 } })
          // The service says that it was another day.
          yield* store.settle(bill, "a", charge({ day: "2026-12-01", resources: posts("1") }))
          assert.deepInclude(yield* store.reserve(bill, "b", on("2026-12-02", 5_000), limits), {
            refused: undefined,
            newest: "2026-12-01",
            day: { spent: 0, inDoubt: 0, reserved: 0 },
            month: { spent: 5_000, inDoubt: 0, reserved: 0 }
          })
          yield* store.settle(bill, "b", charge({ day: "2026-11-30", resources: posts("2") }))
          assert.strictEqual((yield* store.reserve(bill, "c", on("2026-12-01", 1_000), limits)).newest, "2026-12-01")
        })))

      it.effect("counts a reservation in doubt for its day and the next, and for their months", () =>
        run(Effect.fnUntraced(function*(store, bill) {
          yield* store.reserve(bill, "of a killed process", reservation(6_000, { day: "2026-11-30" }), {})
          yield* yield* Aging
          const inDoubt = { spent: 0, inDoubt: 6_000, reserved: 0 }
          const none = { spent: 0, inDoubt: 0, reserved: 0 }
          for (
            const [day, ofDay, ofMonth] of [
              ["2026-11-29", none, inDoubt],
              ["2026-11-30", inDoubt, inDoubt],
              ["2026-12-01", inDoubt, inDoubt],
              ["2026-12-02", none, inDoubt],
              ["2027-01-01", none, none]
            ] as const
          ) {
            const limits = { perDay: ofDay.inDoubt, perMonth: 1_000_000 }
            assert.deepStrictEqual(
              yield* store.reserve(bill, "later", reservation(1_000, { day }), limits),
              { refused: "day", newest: undefined, day: ofDay, month: ofMonth },
              day
            )
          }
          // It is told once.
          assert.deepStrictEqual(sum(yield* store.read(bill, "2026-11-01", "2026-12-31")), inDoubt)
        })))

      it.effect("charges a resource once a day also after a charge of a day that never comes", () =>
        run(Effect.fnUntraced(function*(store, bill) {
          const settled = []
          for (const on of ["9999-06-01", day, day, "2026-11-21", "2026-11-21"]) {
            yield* store.reserve(bill, "a", reservation(5_000, { day: on }), {})
            settled.push(yield* store.settle(bill, "a", charge({ day: on, resources: posts("1") })))
          }
          assert.deepStrictEqual(settled.map(({ repeats }) => repeats), [0, 0, 1, 0, 1])
        })))

      it.effect("passes no limit, however many reserve at once", () =>
        run(Effect.fnUntraced(function*(store, bill) {
          const decisions = yield* Effect.forEach(
            Array.from({ length: 40 }, (_, index) => `lease ${index}`),
            (lease) => store.reserve(bill, lease, reservation(7_000), { perDay: 50_000 }),
            { concurrency: "unbounded" }
          )
          assert.lengthOf(decisions.filter(({ refused }) => refused === undefined), 7)
        })))

      it.effect.prop(
        "does in any order what the one in memory does",
        { steps: Arbitrary.array(Arbitrary.schema(Step), { maxLength: 12 }) },
        ({ steps }) =>
          run(Effect.fnUntraced(function*(store, bill) {
            const memory = SpendStore.makeMemory()
            const limits = { perDay: 60_000, perMonth: 90_000 }
            for (const step of steps) {
              const does = (store: SpendStore.Store) => {
                if (step.step === "reserve") {
                  return store.reserve(bill, step.lease, reservation(step.micros, { day: step.day }), limits)
                }
                const { day, ids, inDoubt, lease, operation } = step
                return store.settle(
                  bill,
                  lease,
                  charge(
                    inDoubt
                      ? { day, operation, inDoubt, micros: 20_000 }
                      : { day, operation, resources: posts(...ids), isCharged: true, micros: 1_000 }
                  )
                )
              }
              assert.deepStrictEqual(yield* does(store), yield* does(memory))
            }
            assert.deepStrictEqual(
              yield* store.read(bill, "2026-11-01", "2026-12-31"),
              yield* memory.read(bill, "2026-11-01", "2026-12-31")
            )
          }))
      )
    })
  })
}
