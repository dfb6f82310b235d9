/** The expected price that `postwire plan` shows, from a sample. */
import { assert, describe, it, layer } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import { join } from "node:path"
import * as Sample from "../src/exporting/Sample.ts"
import * as Commands from "./Commands.ts"

const search = "searchRecentPosts --query effect --expansions"

/** Runs a command of a user that has spent nothing yet. */
const run = Effect.fnUntraced(function*(line: string) {
  const store = join(yield* Commands.folder, "spend.db")
  return yield* Commands.runWith(yield* Commands.variables({ POSTWIRE_SPEND_STORE: store }), ...line.split(" "))
}, Effect.scoped)

layer(Sandbox.layerServer({ posts: 6_000 }), { excludeTestServices: true })("postwire plan", (it) => {
  it.effect("expects about what an export with expansions costs, far below the most", () =>
    Effect.gen(function*() {
      const { bill } = yield* Sandbox.Sandbox
      const out = join(yield* Commands.folder, "a.jsonl")
      for (const expansions of ["author_id", "referenced_posts.id,entities.mentions.username"]) {
        bill.clear()
        const planned = yield* run(`plan ${search} ${expansions} --json`)
        const { dollars, dollarsExpected, sample } = JSON.parse(planned.output)
        assert.deepStrictEqual(sample, { items: 100, dollars: 0.5 })
        assert.match(planned.errors, /^postwire: 100 posts of a sample, 1 request, up to \$0\.50\.$/)
        // Counting costs as well.
        assert.strictEqual(bill.statement().dollars, 0.505)
        bill.clear()
        const exported = yield* run(`export ${search} ${expansions} --out ${out} --force --json`)
        const actual: number = JSON.parse(exported.output).dollars
        assert.closeTo(dollarsExpected / actual, 1, 0.1, `${expansions}: ${dollarsExpected} and ${actual}`)
        assert.isAbove(dollars, 2 * actual)
      }
    }).pipe(Effect.scoped))

  it.effect("shows it beside the most, with what the sample cost, within 80 columns", () =>
    Effect.gen(function*() {
      const { output } = yield* run(`plan ${search} author_id`)
      assert.match(output, /\n {2}price +about \$\d\d, \$\d\d\.\d\d or less, by the prices of /)
      assert.match(output, /\n {2}sample +100 posts for \$0\.\d+, which are not charged again today \(UTC\)\n/)
      for (const line of output.split("\n")) assert.isAtMost(line.length, 80)
    }))

  it.effect("takes no sample that says nothing, is not worth its price, or is not allowed", () =>
    Effect.gen(function*() {
      const { journal } = yield* Sandbox.Sandbox
      for (
        const flags of [
          "searchRecentPosts --query effect",
          `${search} attachments.media_keys`,
          // The authors of posts that are not there.
          `${search} referenced_posts.id.author_id`,
          `${search} author_id --max-spend 0.1`,
          "searchRecentPosts --query effect --start-time 2 --expansions author_id"
        ]
      ) {
        journal.clear()
        const since = new Date(Date.now() - 3_600_000).toISOString()
        const { code, errors, output } = yield* run(`plan ${flags.replace("--start-time 2", `--start-time ${since}`)}`)
        assert.deepStrictEqual([code, errors], [0, ""])
        assert.match(output, /\n {2}price +\$\d+\.\d+ or less/)
        assert.match(output, /\n {2}time +no wait for the limit(\n|$)/)
        assert.notInclude(output, "sample")
        // The count, and the request for the rate limit.
        assert.lengthOf(journal.entries(), 2)
      }
    }))
})

describe("the number of distinct things", () => {
  it("is none of none, all where none is repeated, and those of the sample where all are", () => {
    assert.strictEqual(Sample.distinct([], 100), 0)
    assert.strictEqual(Sample.distinct(Array.from({ length: 100 }, () => 1), 5_000), 5_000)
    assert.strictEqual(Sample.distinct([50, 50], 5_000), 2)
  })

  it("makes a price that is a few percent from that of equal and of very unequal ones", () => {
    // A sample of 100 of 14,791 posts by 275 authors: every author as often, or as 1, 1/2, 1/3, ...
    let state = 1
    const random = () => (state = state * 48_271 % 2_147_483_647) / 2_147_483_647
    const sums = Array.from({ length: 275 }, (_, i) => 1 / (i + 1)).map(((sum) => (share) => sum += share)(0))
    const drawn = {
      equal: () => Math.floor(random() * 275),
      unequal: () => sums.findIndex(((share) => (sum) => sum >= share)(random() * sums.at(-1)!))
    }
    for (const [name, draw] of Object.entries(drawn)) {
      const times = new Map<number, number>()
      for (let i = 0; i < 100; i++) {
        const author = draw()
        times.set(author, (times.get(author) ?? 0) + 1)
      }
      const expected = Sample.distinct([...times.values()], 14_791)
      const dollars = (posts: number, authors: number) => posts * 0.005 + authors * 0.01
      assert.closeTo(dollars(14_791, expected) / dollars(14_791, 275), 1, 0.08, `${name}: ${expected}`)
    }
  })
})
