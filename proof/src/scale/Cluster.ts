/** Exports of many parts on the engine with its state in SQLite, and how parts are divided among many workers. */
import * as Sqlite from "@postwire/archive/copy/Sqlite"
import { Clients } from "@postwire/cluster/Clients"
import * as Engine from "@postwire/cluster/Engine"
import * as Tables from "@postwire/cluster/Tables"
import * as Workflow from "@postwire/cluster/Workflow"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import type { Partition } from "@postwire/export/Partitions"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import * as HashRing from "effect/HashRing"
import { HttpClient, HttpClientResponse } from "effect/http"
import * as Layer from "effect/Layer"
import * as LayerMap from "effect/LayerMap"
import * as SqlClient from "effect/sql/SqlClient"

const pagesOfPart = 3
const postsOfPage = 10

/** Pages of posts that no other part has. */
const http = HttpClient.make((request, url) => {
  const [part = 0, page = 0] = (url.searchParams.get("next_token") ?? "").split("p").map(Number)
  const own = part > 0 ? part : Date.parse(url.searchParams.get("start_time") ?? "") / 60_000
  const data = Array.from({ length: postsOfPage }, (_, index) => ({
    id: String(own * 100 + page * postsOfPage + index),
    text: "x"
  }))
  const next = page + 1 < pagesOfPart ? { next_token: `${own}p${page + 1}` } : {}
  return Effect.succeed(HttpClientResponse.fromWeb(request, Response.json({ data, meta: next })))
})

const worker = () =>
  Layer.fresh(
    Workflow.layer.pipe(
      Layer.provideMerge(Engine.layerSingle),
      Layer.provideMerge(Layer.effect(
        Clients,
        LayerMap.make((_: string): Layer.Layer<Client.Client, Effect.Error<ReturnType<typeof Clients.contextEffect>>> =>
          Client.layer({ baseUrl: "https://service.test" }).pipe(
            Layer.provide([Credentials.layer({ bearerToken: "one" }), Layer.succeed(HttpClient.HttpClient, http)])
          )
        )
      )),
      Layer.provideMerge(Tables.layer),
      Layer.provideMerge(Sqlite.layer({ path: ":memory:" }))
    )
  )

const minute = (index: number) => `${new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString().slice(0, 19)}Z`

/** The figures of an export. */
export interface Exported {
  /** Seconds of CPU time. */
  readonly cost: number
  readonly messages: number
  readonly pages: number
  readonly rows: number
}

/** Exports so many parts. */
export const exportParts = (parts: number): Promise<Exported> =>
  Effect.runPromise(
    Effect.gen(function*() {
      const tables = yield* Tables.Tables
      const sql = yield* SqlClient.SqlClient
      const { attempt, id } = yield* tables.add({
        operation: "searchAllPosts",
        parameters: { query: "cats", max_results: 10, start_time: minute(0), end_time: minute(parts) },
        credentials: "default",
        label: ""
      }, parts)
      const before = process.cpuUsage()
      yield* tables.plan(
        id,
        Array.from({ length: parts }, (_, index): Partition => ({
          index,
          start_time: minute(index),
          end_time: minute(index + 1),
          posts: pagesOfPart * postsOfPage
        }))
      )
      yield* Workflow.ExportWorkflow.execute({ export: id, attempt }, { discard: true })
      const status = yield* Effect.repeat(Effect.delay(tables.status(id), 100), {
        until: ([status]) => status?.state === "done" || status?.state === "failed"
      })
      const { system, user } = process.cpuUsage(before)
      const count = (table: string) =>
        Effect.map(sql.unsafe<{ readonly n: number }>(`SELECT count(*) AS n FROM ${table}`), ([row]) => Number(row?.n))
      return {
        cost: (system + user) / 1e6,
        messages: yield* count("cluster_messages"),
        pages: status[0]?.pages ?? 0,
        rows: yield* count("postwire_resources")
      }
    }).pipe(Effect.provide(worker()))
  )

/** The shards of the engine. */
const shardCount = 300

const assign = (workers: ReadonlyArray<RunnerAddress.RunnerAddress>): ReadonlyArray<RunnerAddress.RunnerAddress> => {
  const ring = HashRing.make<RunnerAddress.RunnerAddress>()
  for (const worker of workers) HashRing.add(ring, worker)
  return HashRing.getShards(ring, shardCount) ?? []
}

/** How parts are divided among workers. */
export interface Division {
  /** The parts of the busiest worker, relative to an even division. */
  readonly busiest: number
  readonly idle: number
  /** The share of the shards of the remaining workers that move when a quarter of all is killed. */
  readonly moved: number
}

/** Divides parts as the engine does. */
export const divide = async (parts: number, workerCount: number): Promise<Division> => {
  const workers = Array.from({ length: workerCount }, (_, index) => RunnerAddress.make(`10.0.0.${index}`, 34_431))
  const owners = assign(workers)
  const counts = new Map(workers.map((worker) => [worker, 0]))
  for (let part = 0; part < parts; part++) {
    const id = await Effect.runPromise(Workflow.PartWorkflow.executionId({ export: "e", part, attempt: 1 }))
    const worker = owners[Math.abs(Hash.string(id) % shardCount)]
    if (worker !== undefined) counts.set(worker, (counts.get(worker) ?? 0) + 1)
  }
  const killed = new Set(workers.slice(0, Math.ceil(workerCount / 4)))
  const later = assign(workers.filter((worker) => !killed.has(worker)))
  const kept = owners.flatMap((worker, shard) => killed.has(worker) ? [] : [[worker, later[shard]]])
  return {
    busiest: Math.max(...counts.values()) / (parts / workerCount),
    idle: [...counts.values()].filter((count) => count === 0).length,
    moved: kept.filter(([worker, now]) => worker !== now).length / kept.length
  }
}
