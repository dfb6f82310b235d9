/**
 * Measures how a file of ids is hydrated from a service on this machine, against bare Undici that makes the same requests and
 * appends JSON Lines, without outcomes, checkpoint or counting. Each contender is a process of its own:
 *
 *     pnpm bench:hydrate [--ids <n>] [--concurrency <n>] [--only <contender>] [--json <file>]
 *
 * Memory is the peak of the resident set above what it was when everything was loaded.
 */
import * as Export from "@postwire/export/Export"
import * as Rows from "@postwire/export/rows/Rows"
import * as JsonLines from "@postwire/export/sinks/JsonLines"
import * as Parquet from "@postwire/export/sinks/Parquet"
import * as Hydration from "@postwire/export/sources/Hydration"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Effect from "effect/Effect"
import { fork } from "node:child_process"
import { once } from "node:events"
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import * as fs from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { Agent, request } from "undici"

interface Job {
  readonly baseUrl: string
  readonly ids: string
  readonly out: string
  readonly concurrency: number
}

interface Measured {
  readonly seconds: number
  readonly mebibytes: number
  readonly rows: number
}

const postFields = ["created_at", "public_metrics", "lang"]

const metrics = {
  like_count: 12,
  reply_count: 3,
  repost_count: 4,
  quote_count: 0,
  impression_count: 980,
  bookmark_count: 1
}

/** Responds with the requested posts; every tenth is deleted. */
const serve = () => {
  const server = createServer((incoming, response) => {
    const ids = new URL(incoming.url ?? "", "http://localhost").searchParams.get("ids")?.split(",") ?? []
    const data = ids.filter((id) => !id.endsWith("7")).map((id) => ({
      id,
      text: `What was said in post ${id}, which is about as long as posts are: a hundred characters or some more.`,
      edit_history_post_ids: [id],
      created_at: "2026-11-20T12:00:00.000Z",
      lang: "en",
      public_metrics: metrics
    }))
    const errors = ids.filter((id) => id.endsWith("7")).map((id) => ({
      title: "Not Found Error",
      detail: `Could not find post with ids: [${id}].`,
      type: "https://api.twitter.com/2/problems/resource-not-found",
      resource_type: "post",
      resource_id: id,
      parameter: "ids",
      value: id
    }))
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data, errors }))
  })
  server.listen(0, "127.0.0.1", () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
}

/** So many ids a request, the same number of requests at the same time, the answers appended in their order. */
const bare = async ({ baseUrl, concurrency, ids, out }: Job): Promise<number> => {
  const dispatcher = new Agent({ connections: concurrency })
  const file = await fs.open(out, "w")
  const fields = encodeURIComponent([...postFields, "withheld"].join(","))
  let rows = 0
  const get = async (batch: ReadonlyArray<string>): Promise<ReadonlyArray<object>> => {
    const { body } = await request(`${baseUrl}/2/posts?ids=${batch.join("%2C")}&post.fields=${fields}`, {
      dispatcher,
      headers: { authorization: "Bearer none" }
    })
    const { data = [] } = await body.json() as { readonly data?: ReadonlyArray<object> }
    return data
  }
  const line: Array<Promise<ReadonlyArray<object>>> = []
  const write = async () => {
    const data = await line.shift() ?? []
    rows += data.length
    await file.write(data.map((post) => `${JSON.stringify(post)}\n`).join(""))
  }
  let batch: Array<string> = []
  for await (const id of createInterface({ input: createReadStream(ids) })) {
    if (batch.push(id) < 100) continue
    line.push(get(batch))
    batch = []
    if (line.length === concurrency) await write()
  }
  if (batch.length > 0) line.push(get(batch))
  while (line.length > 0) await write()
  await file.sync()
  await file.close()
  await dispatcher.close()
  return rows
}

const hydrating = (sink: (path: string) => Export.Options["sink"]) => ({ baseUrl, concurrency, ids, out }: Job) =>
  Effect.runPromise(
    Effect.gen(function*() {
      const rows = yield* Rows.open(ids, { kind: Hydration.posts })
      const source = Hydration.source(rows, "posts", { post_fields: postFields }, { concurrency })
      const { progress } = yield* Export.run(source, { sink: sink(out) })
      return progress.items
    }).pipe(Effect.scoped, Effect.provide(NodeClient.layer({ baseUrl, bearerToken: "none" })))
  )

const contenders: Readonly<Record<string, (job: Job) => Promise<number>>> = {
  "bare Undici": bare,
  "hydrate, jsonl": hydrating((path) => JsonLines.make(path)),
  "hydrate, parquet": hydrating((path) => Parquet.make(path))
}

/** Runs a job in this process, and returns its time and memory. */
const measure = async (name: string, job: Job) => {
  const before = process.memoryUsage.rss()
  const start = performance.now()
  const rows = await contenders[name]?.(job) ?? 0
  process.send?.({
    rows,
    seconds: (performance.now() - start) / 1_000,
    // The resident set is in kibibytes.
    mebibytes: (process.resourceUsage().maxRSS * 1_024 - before) / 2 ** 20
  })
  process.disconnect()
}

const main = async () => {
  const { values } = parseArgs({
    options: {
      ids: { type: "string", default: "1000000" },
      concurrency: { type: "string", default: "4" },
      only: { type: "string" },
      json: { type: "string" }
    }
  })
  const count = Number(values.ids)
  const folder = mkdtempSync(join(tmpdir(), "postwire-bench-"))
  const ids = join(folder, "ids.txt")
  const file = await fs.open(ids, "w")
  for (let from = 0; from < count; from += 10_000) {
    const some = Array.from(
      { length: Math.min(10_000, count - from) },
      (_, i) => 1_700_000_000_000_000_000n + BigInt(from + i)
    )
    await file.write(`${some.join("\n")}\n`)
  }
  await file.close()
  const self = fileURLToPath(import.meta.url)
  const service = fork(self, ["serve"])
  try {
    const [baseUrl] = await once(service, "message") as [string]
    const found: Array<Measured & { readonly name: string }> = []
    for (const name of Object.keys(contenders).filter((name) => values.only === undefined || name === values.only)) {
      const job: Job = {
        baseUrl,
        ids,
        out: join(folder, `out ${found.length}`),
        concurrency: Number(values.concurrency)
      }
      const child = fork(self, ["measure", name, JSON.stringify(job)])
      const [measured] = await once(child, "message") as [Measured]
      found.push({ name, ...measured })
      await Promise.all([once(child, "exit"), fs.rm(job.out, { force: true })])
    }
    const [baseline] = found
    console.log(`${count.toLocaleString("en")} ids, ${values.concurrency} requests at the same time`)
    for (const { mebibytes, name, rows, seconds } of found) {
      console.log(
        `  ${name.padEnd(18)}${seconds.toFixed(1).padStart(8)} s  ${
          (seconds / (baseline?.seconds ?? seconds)).toFixed(2)
        }x` +
          `${mebibytes.toFixed(0).padStart(7)} MiB above start  ${rows.toLocaleString("en")} posts`
      )
    }
    if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(found, undefined, 2))
  } finally {
    service.kill()
    rmSync(folder, { recursive: true })
  }
}

const [, , role, name = "", job = "{}"] = process.argv
if (role === "serve") serve()
else if (role === "measure") await measure(name, JSON.parse(job))
else await main()
