/**
 * Hydration of a file of ids, beside bare Undici that makes the same requests and appends JSON Lines, without outcomes,
 * checkpoint or counting.
 */
import { createReadStream } from "node:fs"
import { mkdir, open, rm } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Agent, request } from "undici"
import * as Bodies from "../Bodies.ts"
import * as Checkout from "../Checkout.ts"
import * as Child from "../Child.ts"
import * as Rounds from "../Rounds.ts"

/** So many ids, in a file. */
interface Batch extends Rounds.Task {
  readonly ids: string
}

const concurrency = 4
const fields = ["created_at", "public_metrics", "lang"]

/** So many ids a request, the same number of requests at the same time, the answers appended in their order. */
const bare = async ({ place, url }: Rounds.Settings) => async ({ count, ids }: Batch): Promise<void> => {
  const dispatcher = new Agent({ connections: concurrency })
  const file = await open(join(place, `bare ${process.pid}`), "w")
  const target = `&post.fields=${encodeURIComponent([...fields, "withheld"].join(","))}`
  let rows = 0
  const get = async (batch: ReadonlyArray<string>): Promise<ReadonlyArray<object>> => {
    const { body } = await request(`${url}/2/posts?ids=${batch.join("%2C")}${target}`, {
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
  if (rows < count * 0.85) throw new Error(`${rows} of ${count} posts`)
}

const postwire = (name: "JsonLines" | "Parquet") => async ({ folder, place, url }: Rounds.Settings) => {
  const [effect, node, Export, Rows, Hydration, { make }] = await Checkout.modules(folder)(
    "effect/Effect",
    "@postwire/node/NodeClient",
    "@postwire/export/Export",
    "@postwire/export/rows/Rows",
    "@postwire/export/sources/Hydration",
    `@postwire/export/sinks/${name}`
  )
  const layer = node.layer({ baseUrl: url, bearerToken: Bodies.bearerToken })
  let number = 0
  return async ({ count, ids }: Batch) => {
    const path = join(place, `${process.pid}-${++number}`)
    await mkdir(path)
    const { progress } = await effect.runPromise(
      effect.gen(function*() {
        const rows = yield* Rows.open(ids, { kind: Hydration.posts })
        const source = Hydration.source(rows, "posts", { post_fields: fields }, { concurrency })
        return yield* Export.run(source, { sink: make(join(path, "out")) })
      }).pipe(effect.scoped, effect.provide(layer))
    )
    if (progress.items < count * 0.85) throw new Error(`${progress.items} of ${count} posts`)
    await rm(path, { recursive: true, force: true })
  }
}

export const contenders: Rounds.Contenders<Batch> = {
  "bare Undici": bare,
  "JSON Lines": postwire("JsonLines"),
  Parquet: postwire("Parquet")
}

/** A file of so many ids. */
export const idsIn = async (place: string, count: number): Promise<Batch> => {
  const ids = join(place, `ids ${count}`)
  await using file = await open(ids, "w")
  for (let from = 0; from < count; from += 10_000) {
    const some = Array.from(
      { length: Math.min(10_000, count - from) },
      (_, i) => 1_700_000_000_000_000_000n + BigInt(from + i)
    )
    await file.write(`${some.join("\n")}\n`)
  }
  return { count, ids }
}

const run = async (bench: Rounds.Bench, seconds: number): Promise<void> => {
  using server = await Child.start<object, unknown>("Server.ts", "lookups")
  const start = (name: string) => Rounds.start<Batch>(bench, "Hydrate", name, { url: String(server.hello) })
  const names = Rounds.select(bench, ["bare Undici"], ["JSON Lines", "Parquet"])
  const small = await idsIn(bench.place, bench.rounds === undefined ? 10_000 : 2_000)
  await Rounds.withAll(names, start, (contenders) =>
    Rounds.compare(bench, {
      section: "hydrate",
      contenders,
      scenarios: [{ name: `an id of ${small.count.toLocaleString("en")}`, task: small }],
      seconds: bench.full ? seconds / 4 : seconds,
      from: 0,
      share: bench.full ? 0.25 : 1
    }))
  if (bench.full) {
    for (const count of bench.rounds === undefined ? [100_000, 1_000_000] : [10_000]) {
      const at = { section: "hydrate", scenario: `an id of ${count.toLocaleString("en")}` }
      await Rounds.long<Batch>(bench, at, names, start, small, await idsIn(bench.place, count), 1)
    }
  }
}

export const section: Rounds.Section = { name: "hydrate", seconds: 10, fullSeconds: 180, run }
