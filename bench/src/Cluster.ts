/**
 * A long export on four workers under the limits of the live service (300 requests in 15 minutes, one a second), of
 * which two are killed and the database once, and whether every post is there once:
 *
 *     pnpm bench:cluster [--posts <n>] [--parts <n>] [--seed <n>]
 */
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import { searchAllPosts } from "@postwire/core/operations/Search"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Clock, Effect, Layer, Stream } from "effect"
import { parseArgs } from "node:util"
import * as Workflow from "../../packages/cluster/src/Workflow.ts"
import { missing, postgres } from "../../packages/cluster/test/support/Postgres.ts"
import * as Rig from "../../packages/cluster/test/support/Rig.ts"

const { values } = parseArgs({
  options: {
    posts: { type: "string", default: "255000" },
    parts: { type: "string", default: "40" },
    seed: { type: "string", default: "1" }
  }
})
const posts = Number(values.posts)
const seed = Number(values.seed)

const pageSize = 500

/** The ids that the sandbox itself gives, its limits lifted. */
const expected = (parameters: { readonly query: string; readonly start_time: string; readonly end_time: string }) =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    sandbox.budget.clear()
    return yield* searchAllPosts.pages({ ...parameters, max_results: pageSize }).pipe(
      Stream.tap(() => Effect.sync(sandbox.budget.clear)),
      Stream.flatMap(({ data = [] }) => Stream.fromIterable(data)),
      Stream.map(({ id }) => id),
      Stream.runCollect,
      Effect.provide(
        Client.layer({ baseUrl: sandbox.baseUrl }).pipe(
          Layer.provide([Credentials.layer({ bearerToken: sandbox.seeded.appBearerToken }), UndiciHttpClient.layer()])
        )
      )
    )
  })

const program = Effect.gen(function*() {
  const begun = yield* Clock.currentTimeMillis
  const say = (...words: ReadonlyArray<unknown>) =>
    Effect.map(
      Clock.currentTimeMillis,
      (now) => console.log(`${((now - begun) / 1000).toFixed(1).padStart(7)} s `, ...words)
    )
  const sandbox = yield* Sandbox.Sandbox
  const server = yield* Effect.acquireRelease(
    Effect.promise(postgres),
    (server) => Effect.promise(() => server[Symbol.asyncDispose]())
  )
  const environment = Rig.environmentOf(sandbox, server.url)
  const workers = yield* Effect.all(Array.from({ length: 4 }, () => Rig.worker(environment)), {
    concurrency: "unbounded"
  })
  const now = yield* Clock.currentTimeMillis
  const secondsOf = (millis: number) => `${new Date(millis).toISOString().slice(0, 19)}Z`
  const span = { query: "effect", start_time: secondsOf(now - 730 * 86_400_000), end_time: secondsOf(now - 60_000) }
  yield* say(`four workers are ready; ${posts} posts in the sandbox`)
  yield* Effect.gen(function*() {
    const { id } = yield* Workflow.start({
      operation: "searchAllPosts",
      parameters: { ...span, max_results: pageSize },
      credentials: "default",
      label: ""
    }, { parts: Number(values.parts) })
    const [first, second] = [seed % 4, (seed + 1 + seed % 3) % 4]
    const events: ReadonlyArray<readonly [number, string, () => void]> = [
      [60, "one worker is killed", () => workers[first]?.child.kill("SIGKILL")],
      [150, "the database crashes and starts again", server.restart],
      [220, "another worker is killed", () => workers[second]?.child.kill("SIGKILL")]
    ]
    for (const [pages, what, act] of events) {
      const status = yield* Rig.until(id, (status) => status.pages >= pages)
      act()
      yield* say(`${status.pages} pages: ${what}`)
    }
    yield* Effect.sleep(10_000)
    console.log((yield* Rig.run(environment, "status")).output)
    const status = yield* Rig.until(id, Rig.isDone)
    yield* say(`done: ${status.items} items on ${status.pages} pages of ${status.parts.length} parts`)
    yield* say("answers to searches by status", Rig.answers(sandbox))
    const ids = yield* Rig.idsOf(id)
    const own = yield* expected(span)
    const kept = new Set(ids)
    const missed = own.filter((id) => !kept.has(id)).length
    yield* say(`${ids.length} rows, ${kept.size} ids; the sandbox gives ${own.length}; ${missed} are missing`)
    for (const { errors, name } of workers) if (errors() !== "") console.log(name, errors().slice(0, 2_000))
    console.log((yield* Rig.run(environment, "status")).output)
  }).pipe(Effect.provide(Rig.client(server.url)))
}).pipe(Effect.scoped, Effect.provide(Sandbox.layerServer({ posts, seed })))

if (missing === undefined) await Effect.runPromise(program)
else console.error(`It ${missing}.`)
