import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Redacted } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { freePort } from "../../packages/cluster/test/support/Postgres.ts"
import * as Rig from "../../packages/cluster/test/support/Rig.ts"

const isThere = spawnSync("redis-server", ["--version"]).status === 0

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-bullmq-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const redis = Effect.gen(function*() {
  const port = yield* Effect.promise(freePort)
  const server = yield* Effect.acquireRelease(
    Effect.sync(() => spawn("redis-server", ["--port", `${port}`, "--bind", "127.0.0.1", "--save", ""])),
    (server) => Effect.sync(() => void server.kill("SIGKILL"))
  )
  yield* Effect.promise(() =>
    new Promise<void>((resolve) =>
      server.stdout.on("data", (text) => {
        if (String(text).includes("Ready to accept connections")) resolve()
      })
    )
  )
  return `redis://127.0.0.1:${port}`
})

describe.skipIf(!isThere)(
  isThere ? "BullMQ" : "BullMQ: skipped, it needs redis-server (apt-get install redis-server)",
  () => {
    it.live("drives an export on two machines, of which one is killed", () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        sandbox.faults.add({ delay: 150, times: "always", operation: "searchRecentPosts" })
        const out = yield* folder
        const environment = {
          ...process.env,
          REDIS_URL: yield* redis,
          POSTWIRE_BASE_URL: sandbox.baseUrl,
          POSTWIRE_BEARER_TOKEN: Redacted.value(sandbox.seeded.appBearerToken)
        }
        const start = Effect.acquireRelease(
          Effect.sync(() =>
            spawn(process.execPath, [fileURLToPath(new URL("../bullmq.ts", import.meta.url)), "effect", out], {
              env: environment,
              stdio: ["ignore", "pipe", "inherit"]
            })
          ),
          (child) => Effect.sync(() => void child.kill("SIGKILL"))
        )
        const killed = yield* start
        const other = yield* start
        let said = ""
        other.stdout.setEncoding("utf8").on("data", (text) => said += text)
        const ended = once(killed, "exit")
        const end = once(other, "close")
        while (readdirSync(out).length < 12) yield* Effect.sleep(20)
        killed.kill("SIGKILL")
        yield* Effect.promise(() => ended)
        const [code] = yield* Effect.promise(() => end)
        assert.strictEqual(code, 0)
        const ids = readdirSync(out).filter((file) => file.endsWith(".jsonl")).flatMap((file) =>
          readFileSync(join(out, file), "utf8").split("\n").filter((line) => line !== "").map((line) =>
            JSON.parse(line).id
          )
        )
        assert.deepStrictEqual(Object.keys(Rig.answers(sandbox)).filter((status) => !/200|undefined/.test(status)), [])
        sandbox.faults.clear()
        assert.strictEqual(new Set(ids).size, ids.length)
        assert.sameMembers(ids, [...yield* Rig.expected("effect")])
        assert.strictEqual(said, `${ids.length} posts in ${out}\n`)
      }).pipe(Effect.provide(Sandbox.layerServer({ posts: 4_000 }))), 60_000)
  }
)
