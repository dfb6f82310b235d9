// A program that follows the stream of activity and is killed has every event once, or in a gap that it was told of.
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { bundled } from "../../core/test/support/ProgramFile.ts"
import * as Sandbox from "../src/Sandbox.ts"
import * as Pace from "./support/streams/Pace.ts"
import type { Settings } from "./support/streams/recorder.ts"

const isLong = process.env["POSTWIRE_LONG"] === "1"

const kills = isLong ? 20 : 2

/** Events between two kills, about. */
const events = 100

interface Row {
  readonly text: string
  readonly times: number
}

const prove = async (resume: boolean) => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-activity-"))
  const scope = Scope.makeUnsafe()
  const shared: Pace.Pace = { origin: Date.now(), pace: 20 }
  const clock = Pace.clock(shared)
  let child: ReturnType<typeof spawn> | undefined
  try {
    const sandbox = Context.get(
      await Layer.buildWithScope(Sandbox.layerServer({ posts: 0 }), scope).pipe(
        Effect.provideService(Clock.Clock, clock),
        Effect.runPromise
      ),
      Sandbox.Sandbox
    )
    const bearerToken = Redacted.value(sandbox.seeded.appBearerToken)
    const subscribed = await fetch(`${sandbox.baseUrl}/2/activity/subscriptions`, {
      method: "POST",
      headers: { authorization: `Bearer ${bearerToken}`, "content-type": "application/json" },
      body: JSON.stringify({ event_type: "post.create", filter: { user_id: sandbox.ada.id } })
    })
    assert.strictEqual(subscribed.status, 200)
    const settings: Settings = {
      ...shared,
      baseUrl: sandbox.baseUrl,
      bearerToken,
      resume,
      path: join(folder, "recorded.db")
    }
    const program = await bundled(new URL("support/streams/recorder.ts", import.meta.url), join(folder, "recorder.mjs"))
    const start = () =>
      child = spawn(
        process.execPath,
        ["--disable-warning=ExperimentalWarning", program, JSON.stringify(settings)],
        { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, NODE_COMPILE_CACHE: join(folder, "cache") } }
      )
    const kill = async () => {
      const exit = once(child!, "exit")
      child!.kill("SIGKILL")
      await exit
    }
    const isConnected = () => sandbox.streams.connections().some(({ closedAt }) => closedAt === undefined)
    const posted = new Map<string, number>()
    const post = () => {
      const text = `event ${posted.size + 1}`
      posted.set(text, clock.currentTimeMillisUnsafe())
      sandbox.ada.post(text)
    }
    start()
    while (!isConnected()) await sleep(10)
    for (let killed = 0; killed < kills; killed++) {
      const until = posted.size + Math.ceil(2 * events * Math.random())
      while (posted.size < until) {
        post()
        await sleep(10)
      }
      await kill()
      // Some of the events come while there is no program.
      for (let i = Math.random() * 20; i > 0; i--) post()
      start()
      // It may be killed while it fetches what it missed.
      if (killed % 2 === 0) { while (!isConnected()) await sleep(10) }
    }
    while (!isConnected()) await sleep(10)
    post()
    const recorded = new DatabaseSync(settings.path, { timeout: 5_000 })
    const rowsOf = recorded.prepare("SELECT text, times FROM events")
    const gapsOf = recorded.prepare("SELECT start, stop FROM gaps")
    const outcome = () => {
      const rows = rowsOf.all().map(({ text, times }): Row => ({ text: String(text), times: Number(times) }))
      const gaps = gapsOf.all().map(({ start, stop }) => [Number(start), Number(stop)] as const)
      const has = new Set(rows.map(({ text }) => text))
      const absent = [...posted].filter(([text]) => !has.has(text))
      return {
        events: posted.size,
        recorded: rows.length,
        again: rows.filter(({ times }) => times > 1).length,
        missing: absent.length,
        lost: absent.filter(([, at]) => !gaps.some(([start, stop]) => at >= start && at <= stop)).length
      }
    }
    const deadline = performance.now() + 30_000
    while (outcome().lost > 0 && performance.now() < deadline) await sleep(50)
    const end = outcome()
    recorded.close()
    console.log(JSON.stringify({ resume, kills, ...end }))
    return end
  } finally {
    child?.kill("SIGKILL")
    await Effect.runPromise(Scope.close(scope, Exit.void))
    rmSync(folder, { recursive: true, force: true })
  }
}

describe(`a program that follows the stream of activity, after ${kills} kills`, () => {
  it("has every event once or in a gap, if it resumes", { timeout: 120_000 }, async () => {
    const { again, events, lost, missing, recorded } = await prove(true)
    assert.strictEqual(recorded + missing, events)
    assert.deepStrictEqual({ again, lost }, { again: 0, lost: 0 })
  })

  it("has every event once in its database, if each connection begins five minutes earlier", {
    timeout: 120_000
  }, async () => {
    const { events, lost, missing, recorded } = await prove(false)
    assert.deepStrictEqual({ recorded, missing, lost }, { recorded: events, missing: 0, lost: 0 })
  })
})
