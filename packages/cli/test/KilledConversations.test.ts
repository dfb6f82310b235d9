import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { environmentOf } from "../src/commands/SandboxCommand.ts"
import * as Processes from "./support/Processes.ts"

const isLong = process.env["POSTWIRE_LONG"] === "1"

const hour = 3_600_000

describe.runIf(isLong)("an export of a conversation that is killed: npm run test:long", () => {
  it("goes on after every page, and has each post once", async () => {
    const folder = mkdtempSync(join(tmpdir(), "postwire-conversations-"))
    await using sandbox = await Sandbox.start({ posts: 0 })
    const now = sandbox.clock.now()
    const at = (hours: number) => new Date(now - hours * hour)
    const users = Array.from({ length: 5 }, () => sandbox.user())
    const root = sandbox.ada.post({ text: "root", at: at(300) })
    // Out of the search's reach, and replied to by what is not.
    const posts = [root]
    for (let i = 0; i < 150; i++) {
      const author = users[i % users.length] ?? sandbox.ada
      posts.push(author.reply(posts[(i * 31) % posts.length] ?? root, { text: `old ${i}`, at: at(290 - i / 10) }))
    }
    for (let i = 0; i < 450; i++) {
      const author = users[i % users.length] ?? sandbox.ada
      posts.push(author.reply(posts[(i * 7919) % posts.length] ?? root, { text: `new ${i}`, at: at(100 - i / 10) }))
    }
    const env = {
      ...process.env,
      ...environmentOf(sandbox.baseUrl, sandbox.seeded),
      POSTWIRE_TOKEN_STORE: join(folder, "accounts"),
      POSTWIRE_JOURNAL: join(folder, "journal")
    }
    const start = (out: string) =>
      Processes.start(["conversation", root.id, "--out", join(folder, out), "--resume"], env, "ignore")
    const idsIn = (out: string): ReadonlyArray<string> =>
      readFileSync(join(folder, out), "utf8").trim().split("\n").map((line) => JSON.parse(line).id)
    try {
      await once(start("whole.jsonl"), "close")
      const whole = idsIn("whole.jsonl")
      assert.lengthOf(new Set(whole), whole.length)
      assert.isAbove(whole.length, 500)
      sandbox.faults.add({ operation: ["searchRecentPosts", "getPosts"], probability: 1, delay: 60 })
      let kills = 0
      for (let pages = 2;; pages++) {
        const before = sandbox.requests.length
        const child = start("pieces.jsonl")
        const closed = once(child, "close")
        // Opening it takes one request and its count another: it is killed at its first or second page.
        while (child.exitCode === null && sandbox.requests.length < before + 2 + pages % 2 + 1) await delay(5)
        if (kills < 12 && child.exitCode === null) {
          await delay(20 * (pages % 5))
          if (child.kill("SIGKILL")) kills++
        }
        await closed
        if (child.signalCode === null) break
      }
      assert.deepStrictEqual(idsIn("pieces.jsonl"), whole)
      assert.isAtLeast(kills, 3)
      console.log(JSON.stringify({ posts: whole.length, kills }))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }, 300_000)
})
