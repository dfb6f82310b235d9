import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { acceptedDeviations, compare } from "./parity/AcceptedDeviations.ts"
import * as Exchange from "./parity/Exchange.ts"
import * as Parity from "./parity/Parity.ts"

describe("the sandbox answers recorded requests", () => {
  it("as recorded, but for the deviations that are accepted, and all of those exist", async () => {
    const measured = await Parity.measure(Exchange.read())
    const { deviating, stale } = compare(measured, acceptedDeviations)
    assert.deepStrictEqual(
      deviating.map(({ deviations, exchange, operation }) => [operation, exchange.from, ...deviations]),
      []
    )
    assert.deepStrictEqual(stale.map(({ deviation, from }) => [deviation, from]), [])
    const recorded = JSON.parse(readFileSync(new URL("../docs/parity.json", import.meta.url), "utf8"))
    assert.deepStrictEqual(Parity.counts(measured), recorded, "run `pnpm parity`")
  }, 300_000)
})

describe("an answer", () => {
  const exchange: Exchange.Exchange = {
    from: "a test",
    method: "GET",
    path: "/2/users/{}",
    query: { "user.fields": "location" },
    status: 200,
    members: Exchange.membersOf({ data: { id: "1", name: "Ada", metrics: { posts: 1 } } })
  }
  const answer = (data: unknown): Parity.Answer => ({ status: 200, body: { data } })

  it.each<readonly [what: string, found: ReadonlyArray<string>, answer: Parity.Answer]>([
    ["of the same form deviates in nothing", [], answer({ id: "2", name: "", metrics: { posts: 2 } })],
    ["deviates in the status", ["status 404, recorded 200"], { status: 404, body: { errors: [] } }],
    ["deviates in what is missing, once", ["data.metrics: missing"], answer({ id: "1", name: "Ada" })],
    [
      "deviates in what was not recorded, but not in what was requested",
      ["data.url: not recorded"],
      answer({
        id: "1",
        name: "Ada",
        metrics: { posts: 1 },
        location: "London",
        url: "/"
      })
    ],
    ["deviates in types", ["data.id: number, recorded string"], answer({ id: 1, name: "Ada", metrics: { posts: 1 } })]
  ])("%s", (_, found, answer) => {
    assert.deepStrictEqual(Parity.deviationsOf(exchange, answer), found)
  })

  it("deviates in what is accepted, and an entry that matches nothing is stale", () => {
    const measured = [{ exchange, operation: "getUser", deviations: ["data.a: missing", "data.b: missing"] }]
    const accepting = (...deviations: ReadonlyArray<string>) =>
      compare(measured, deviations.map((deviation) => ({ deviation, reason: "", date: "" })))
    assert.deepStrictEqual(accepting("data.*", "meta.*").stale.map(({ deviation }) => deviation), ["meta.*"])
    assert.deepStrictEqual(accepting("data.a: *").deviating[0]?.deviations, ["data.b: missing"])
  })
})
