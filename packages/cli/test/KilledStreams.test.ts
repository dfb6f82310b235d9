import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Redacted } from "effect"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { allIdsIn, linesOf } from "../../export/test/support/Archives.ts"
import * as Processes from "./support/Processes.ts"

const isLong = process.env["POSTWIRE_LONG"] === "1"

/** A kill takes some seconds on a machine that does nothing else. */
const kills = Number(process.env["POSTWIRE_KILLS"] ?? 4)

// What was missed is searched for half a minute later, by which time the service has it for sure.
describe.runIf(isLong)("postwire stream, killed over and over", () => {
  it(
    `has every post that matches once, or tells that it is missing, after ${kills} kills`,
    async () => {
      const root = mkdtempSync(join(tmpdir(), "postwire-streams-"))
      const archive = join(root, "archive")
      const out = join(archive, "posts.jsonl")
      await using sandbox = await Sandbox.start({ posts: 0 })
      try {
        const token = Redacted.value(sandbox.seeded.appBearerToken)
        const env = {
          ...process.env,
          POSTWIRE_BASE_URL: sandbox.baseUrl,
          POSTWIRE_BEARER_TOKEN: token,
          POSTWIRE_SPEND_STORE: join(root, "spend.db"),
          NODE_COMPILE_CACHE: join(root, "cache")
        }
        const made = await fetch(`${sandbox.baseUrl}/2/posts/search/stream/rules`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify({ add: [{ value: "effect" }] })
        })
        assert.isTrue(made.ok)
        sandbox.streams.record()
        const load = sandbox.load({ perSecond: 40 })
        mkdirSync(archive)
        const start = () => Processes.start(["stream", "--out", out, "--rotate-every", "20s"], env, "ignore")
        const begun = `${out}.postwire/stream.json`
        const isOpen = () => sandbox.streams.connections().some(({ closedAt }) => closedAt === undefined)
        for (let killed = 0; killed < kills; killed++) {
          const child = start()
          const ended = once(child, "close")
          while (!isOpen()) await delay(10)
          // The first one writes something: before that there is nothing to go on with.
          while (!existsSync(begun)) await delay(10)
          await delay(Math.random() * 2_500)
          child.kill("SIGKILL")
          const [, signal] = await ended
          assert.strictEqual(signal, "SIGKILL")
          sandbox.budget.clear()
          while (isOpen()) await delay(10)
        }
        const gapsFile = `${out}.postwire/gaps.jsonl`
        const gaps = () => existsSync(gapsFile) ? linesOf(readFileSync(gapsFile, "utf8")) : []
        const known = gaps().length
        const last = start()
        const ended = once(last, "close")
        while (gaps().length === known) await delay(200)
        load.stop()
        await delay(2_000)
        last.kill("SIGINT")
        const [code] = await ended
        assert.strictEqual(code, 130)

        const [first] = linesOf(readFileSync(`${out}.postwire/files.jsonl`, "utf8"))
        const since = Date.parse(String(first?.["from"]))
        const missing = gaps().filter(({ filledBy }) => filledBy === undefined)
        const isTold = (at: number) =>
          missing.some(({ from, to }) => at >= Date.parse(String(from)) && at <= Date.parse(String(to)))
        const ids = await allIdsIn(archive)
        const written = new Set(ids)
        const expected = sandbox.streams.ledger().made.filter(({ at, rules }) => at >= since && rules.length > 0)
        assert.isAbove(expected.length, 100)
        assert.strictEqual(written.size, ids.length, "none twice")
        const lost = expected.filter(({ at, id }) => !written.has(id) && !isTold(at))
        console.log(
          `${kills} kills: ${expected.length} posts, ${ids.length} lines, ${lost.length} lost, ${
            ids.length - written.size
          } twice, ${missing.length} gaps that stay`
        )
        assert.deepStrictEqual(lost, [])
      } finally {
        rmSync(root, { recursive: true, force: true })
      }
    },
    1_800_000
  )
})
