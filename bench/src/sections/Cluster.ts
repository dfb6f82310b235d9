/**
 * A long export on four workers under the limits of the live service (300 requests in 15 minutes, one a second), of which two
 * are killed and the database once, and whether every post is there once.
 */
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import { searchAllPosts } from "@postwire/core/operations/Search"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Workflow from "../../../packages/cluster/src/Workflow.ts"
import { missing, postgres } from "../../../packages/cluster/test/support/Postgres.ts"
import * as Rig from "../../../packages/cluster/test/support/Rig.ts"
import * as Programs from "../../../scripts/programs.ts"
import * as Rounds from "../Rounds.ts"

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

const program = (bench: Rounds.Bench, posts: number, parts: number) =>
  Effect.gen(function*() {
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
    yield* Effect.gen(function*() {
      const { id } = yield* Workflow.start({
        operation: "searchAllPosts",
        parameters: { ...span, max_results: pageSize },
        credentials: "default",
        label: ""
      }, { parts })
      // Some seven of ten posts are found.
      const pages = Math.max(parts, posts * 0.7 / pageSize)
      const events: ReadonlyArray<readonly [number, string, () => void]> = [
        [pages * 0.15, "a worker is killed", () => workers[1]?.child.kill("SIGKILL")],
        [pages * 0.4, "the database crashes and starts again", server.restart],
        [pages * 0.6, "another worker is killed", () => workers[3]?.child.kill("SIGKILL")]
      ]
      for (const [i, [after, what, act]] of events.entries()) {
        const status = yield* Rig.until(id, (status) => status.pages >= after)
        act()
        bench.say(`cluster: ${status.pages} pages, ${what}`, (i + 1) / 4)
      }
      const status = yield* Rig.until(id, Rig.isDone)
      const ids = yield* Rig.idsOf(id)
      const own = yield* expected(span)
      const kept = new Set(ids)
      const missed = own.filter((id) => !kept.has(id)).length
      const time = ((yield* Clock.currentTimeMillis) - now) * 1000
      const reading = {
        missing: missed,
        "rows twice": ids.length - kept.size,
        rows: ids.length,
        pages: status.pages,
        time
      }
      const at = { section: "cluster", scenario: `${posts.toLocaleString("en")} posts, two workers killed` }
      bench.add(...Rounds.rowsOf(at, new Map([["four workers", [reading]]])))
    }).pipe(Effect.provide(Rig.client(server.url)))
  }).pipe(Effect.scoped, Effect.provide(Sandbox.layerServer({ posts, seed: 1 })))

const run = async (bench: Rounds.Bench): Promise<void> => {
  if (missing !== undefined) return console.error(`Without PostgreSQL: it ${missing}.`)
  // By its name with --full, it is as long as the windows of the service are.
  const [posts, parts] = bench.full && bench.sections.includes("cluster") ? [255_000, 40] : [20_000, 8]
  await Programs.bundle()
  await Effect.runPromise(program(bench, posts, parts))
}

export const section: Rounds.Section = { name: "cluster", seconds: 120, fullSeconds: 120, isExtra: true, run }
