/** Workers that run the same parts of an export at the same time, as those that have lost their lease and do not know it. */
import * as Sqlite from "@postwire/archive/copy/Sqlite"
import { Clients } from "@postwire/cluster/Clients"
import * as Tables from "@postwire/cluster/Tables"
import * as Workflow from "@postwire/cluster/Workflow"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import type { InvalidSettings, StorageFailure } from "@postwire/core/errors/Errors"
import type { Partition } from "@postwire/export/Partitions"
import type { ConfigError } from "effect/Config"
import * as Context from "effect/Context"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LayerMap from "effect/LayerMap"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import * as WorkflowEngine from "effect/workflow/WorkflowEngine"
import { createHash } from "node:crypto"
import * as Network from "./Network.ts"
import type { Place, Scenario, Subject } from "./Schedule.ts"
import type { Process } from "./World.ts"

const partCount = 2
const pages = 5
const perPage = 3
const workers = 3

const query = {
  operation: "searchAllPosts",
  parameters: { query: "cats", max_results: 10, start_time: "2026-01-01T00:00:00Z", end_time: "2026-03-01T00:00:00Z" },
  credentials: "default",
  label: ""
}

/** The spans of the parts. */
const spans: ReadonlyArray<Partition> = [
  { index: 0, start_time: "2026-01-01T00:00:00Z", end_time: "2026-02-01T00:00:00Z", posts: 1 },
  { index: 1, start_time: "2026-02-01T00:00:00Z", end_time: "2026-03-01T00:00:00Z", posts: 1 }
]

const answer = ({ query }: Network.Received): Network.Answer => {
  const part = query.get("start_time")?.includes("-01-01") === true ? 0 : 1
  const page = Number(/(\d+)$/.exec(query.get("next_token") ?? query.get("pagination_token") ?? "")?.[1] ?? 0)
  const data = Array.from({ length: perPage }, (_, index) => ({
    id: String(10_000 * (part + 1) + page * perPage + index),
    text: "x"
  }))
  const next_token = page + 1 < pages ? { next_token: `page${page + 1}` } : {}
  return { body: { data, meta: { result_count: perPage, ...next_token } } }
}

/** The tables in a database of the schedule, and how a worker reaches them. */
const open = async ({ database }: Place) => {
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(
    Layer.buildWithScope(Layer.provideMerge(Tables.layer, Sqlite.layer({ path: ":memory:" })), scope)
  )
  const tables = Context.get(context, Tables.Tables)
  const away = (reason: string) =>
    new SqlError({ reason: new UnknownError({ cause: new Error(reason), message: reason, operation: "execute" }) })
  const over = <A>(actor: Process, step: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    database.ask<Effect.Effect<A, SqlError>>(actor, (reply) => reply(Effect.runSync(Effect.exit(step)))).pipe(
      Effect.mapError(({ reason }) => away(reason)),
      Effect.flatten
    )
  const of = (actor: Process): Tables.Tables["Service"] => ({
    ...tables,
    begin: (...given) => over(actor, tables.begin(...given)),
    cursor: (...given) => over(actor, tables.cursor(...given)),
    commit: (...given) => over(actor, tables.commit(...given)),
    note: (...given) => over(actor, tables.note(...given))
  })
  return { sql: Context.get(context, SqlClient.SqlClient), tables, of }
}

/** The platform digests in another thread, whose time no seed decides. */
const webCrypto: Crypto = Object.create(globalThis.crypto, {
  subtle: {
    value: {
      digest: (_: unknown, data: Uint8Array) =>
        Promise.resolve(new Uint8Array(createHash("sha256").update(data).digest()).buffer)
    }
  }
})

const prepare = async (place: Place): Promise<Scenario> => {
  const { draw } = place
  const { of, sql, tables } = await open(place)
  const { id } = Effect.runSync(tables.add(query, partCount))
  Effect.runSync(tables.plan(id, spans))
  const failed: Array<string> = []
  const clientOf = (actor: Process): Layer.Layer<Client.Client, InvalidSettings | StorageFailure | ConfigError> =>
    Client.layer({ baseUrl: Network.baseUrl, retries: 1 }).pipe(
      Layer.provide([Credentials.layer({ bearerToken: "one" }), Network.layer(place, actor, answer)])
    )
  return {
    processes: workers,
    main: (actor) =>
      Effect.forEach(draw.chance(0.5) ? [0, 1] : [1, 0], (part) =>
        Effect.andThen(
          Effect.sleep(draw.below(2_000)),
          Workflow.PartWorkflow.execute({ export: id, part, attempt: 1 }).pipe(
            Effect.catch(({ reason }) => Effect.sync(() => void failed.push(reason)))
          )
        )).pipe(
          Effect.provide(Layer.fresh(
            Workflow.layer.pipe(
              Layer.provideMerge(WorkflowEngine.layerMemory),
              Layer.provideMerge(Layer.effect(Clients, LayerMap.make(() => clientOf(actor)))),
              Layer.provideMerge(Layer.succeed(Tables.Tables, of(actor)))
            )
          )),
          Effect.provideService(WebCrypto, webCrypto)
        ),
    broken: () => {
      const rows = Effect.runSync(
        sql<{ readonly id: string }>`SELECT id FROM postwire_resources WHERE export = ${id}`
      )
      const [status] = Effect.runSync(tables.status(id))
      const wanted = partCount * pages * perPage
      return [
        ...failed.slice(0, 1),
        ...rows.length === wanted && status?.items === wanted && status.pages === partCount * pages
          ? []
          : [`${rows.length} rows, ${status?.items} counted in ${status?.pages} pages, of ${wanted}`]
      ]
    }
  }
}

export const subject: Subject = {
  name: "parts of a cluster",
  holds: "every page is stored and counted once, although all workers run every part",
  turns: true,
  prepare
}
