import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Redacted } from "effect"
import { spawn } from "node:child_process"
import * as Tables from "../src/Tables.ts"
import * as Workflow from "../src/Workflow.ts"
import * as Worker from "../src/Worker.ts"
import { postgres } from "./support/Postgres.ts"
await using pg = await postgres()
const POSTS = Number(process.argv[2] ?? 5000), PARTS = Number(process.argv[3] ?? 8), WORKERS = Number(process.argv[4] ?? 2)
const program = Effect.gen(function*() {
  const { baseUrl, seeded, journal } = yield* Sandbox.Sandbox
  const env = { ...process.env, POSTWIRE_BASE_URL: baseUrl, POSTWIRE_BEARER_TOKEN: Redacted.value(seeded.appBearerToken), POSTWIRE_CLUSTER_URL: pg.url }
  const t00 = Date.now()
  const kids = Array.from({ length: WORKERS }, () => {
    const k = spawn(process.execPath, ["packages/cli/src/main.ts", "worker", "--host", "127.0.0.1", "--port", "0", "--json"], { env, stdio: ["ignore", "pipe", "inherit"] })
    k.stdout.on("data", (d) => console.log("ready", Date.now() - t00, String(d).trim()))
    k.on("exit", (code, sig) => console.log("exit", code, sig, Date.now() - t00))
    return k
  })
  yield* Effect.gen(function*() {
    const t0 = Date.now()
    const started = yield* Workflow.start({ operation: "searchRecentPosts", parameters: { query: "effect", expansions: "author_id" }, credentials: "default", label: "" }, { parts: PARTS })
    console.log(started.id, Date.now() - t0)
    const tables = yield* Tables.Tables
    let killed = 0
    while (true) {
      const [s] = yield* tables.status(started.id)
      console.log(Date.now() - t0, s!.state, s!.pages, s!.items, s!.parts.map((p) => p.state[0]).join(""), s!.parts.find((p) => p.problem)?.problem ?? s!.problem)
      if (s!.state === "done" || s!.state === "failed") break
      if (s!.pages > 5 && killed++ === 0) { spawn(process.execPath, ["packages/cli/src/main.ts", "status"], { env, stdio: "inherit" }); kids[0]!.kill(process.argv[5] as any ?? "SIGKILL") }
      yield* Effect.sleep(500)
    }
    console.log("429s", journal.entries(0).filter((e) => e.status === 429).length, journal.entries(0).length)
    spawn(process.execPath, ["packages/cli/src/main.ts", "status"], { env, stdio: "inherit" })
    yield* Effect.sleep(2500)
    for (const k of kids) k.kill("SIGTERM")
    yield* Effect.sleep(3000)
    for (const k of kids) k.kill("SIGKILL")
  }).pipe(Effect.provide(Worker.layerClient({ _tag: "Postgres", url: Redacted.make(pg.url) })))
}).pipe(Effect.provide(Sandbox.layerServer({ posts: POSTS })))
await Effect.runPromise(program)
