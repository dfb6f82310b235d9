/** Pages: reading of posts page by page, beside an async generator written by hand over bare Undici. */
import * as Bodies from "../Bodies.ts"
import * as Checkout from "../Checkout.ts"
import * as Child from "../Child.ts"
import { pagesOf } from "../Generator.ts"
import * as Rounds from "../Rounds.ts"

/** So many posts, with milliseconds of work for each page. */
interface Batch extends Rounds.Task {
  readonly work?: number
  readonly prefetch?: 0 | 1
}

interface Post {
  readonly id: string
}

const { bearerToken, parameters: { page: parameters } } = Bodies

/** The time of a batch starts when its reader does; what it read is checked. */
const reading = (read: (task: Batch, post: (post: Post) => void) => Promise<unknown> | void) => async (task: Batch) => {
  let [count, digits] = [0, 0]
  await read(task, ({ id }) => {
    digits += id.length
    count++
    if (task.work !== undefined && count % 100 === 1) {
      for (const end = performance.now() + task.work; performance.now() < end;);
    }
  })
  if (count !== task.count || digits < count) throw new Error(`${count} of ${task.count} posts`)
}

export const contenders: Rounds.Contenders<Batch> = {
  generator: async ({ url }) =>
    reading(async ({ count }, read) => {
      let left = count
      for await (const { data } of pagesOf(url, "effect")) {
        for (const post of data) {
          if (left-- === 0) return
          read(post)
        }
        if (left === 0) return
      }
    }),
  postwire: async ({ folder, url }) => {
    const [{ createClient }] = await Checkout.modules(folder)("@postwire/node")
    const client = createClient({ baseUrl: url, bearerToken })
    return reading(async ({ count, prefetch = 0 }, read) => {
      for await (const post of client.searchRecentPosts.items(parameters, { limit: count, prefetch })) read(post)
    })
  },
  "postwire effect": async ({ folder, url }) => {
    const [effect, layers, scopes, streams, node, { searchRecentPosts }] = await Checkout.modules(folder)(
      "effect/Effect",
      "effect/Layer",
      "effect/Scope",
      "effect/Stream",
      "@postwire/node/NodeClient",
      "@postwire/core/operations/Search"
    )
    const layer = node.layer({ baseUrl: url, bearerToken })
    const run = effect.runPromiseWith(effect.runSync(layers.buildWithScope(layer, scopes.makeUnsafe())))
    return reading(({ count, prefetch = 0 }, read) =>
      run(
        searchRecentPosts.items(parameters, { limit: count, prefetch }).pipe(
          streams.runForEachArray((posts) => effect.sync(() => posts.forEach(read)))
        )
      )
    )
  },
  "postwire sync": async ({ folder, url }) => {
    const [{ createClientSync }] = await Checkout.modules(folder)("@postwire/sync")
    const client = createClientSync({ baseUrl: url, bearerToken })
    return reading(({ count, prefetch = 0 }, read) => {
      for (const post of client.searchRecentPosts.items(parameters, { limit: count, prefetch })) read(post)
    })
  }
}

const ours = ["postwire", "postwire effect", "postwire sync"]

const run = async (bench: Rounds.Bench, seconds: number): Promise<void> => {
  using server = await Child.start<object, unknown>("Server.ts", "pages")
  const start = (name: string) => Rounds.start<Batch>(bench, "Pages", name, { url: String(server.hello) })
  const names = Rounds.select(bench, ["generator"], ours)
  await Rounds.withAll(names, start, (contenders) =>
    Rounds.compare(bench, {
      section: "pages",
      contenders,
      scenarios: [{ name: "posts in pages of 100", task: { count: 1_000 }, batch: 150 }],
      seconds: bench.full ? seconds / 2 : seconds,
      from: 0,
      share: bench.full ? 0.5 : 1
    }))
  if (bench.full) {
    const posts = bench.rounds === undefined ? 1_000_000 : 100_000
    const at = { section: "pages", scenario: `a post of ${posts.toLocaleString("en")}` }
    await Rounds.long<Batch>(bench, at, names, start, { count: 20_000 }, { count: posts }, 1)
    await overlap(bench, seconds / 4)
  }
}

/** Latency and work for each page, in turn and at the same time. */
const overlap = async (bench: Rounds.Bench, seconds: number): Promise<void> => {
  using slow = await Child.start<object, unknown>("Server.ts", "pages", "20")
  const names = Rounds.select(bench, ["generator"], ours)
  const start = (name: string) => Rounds.start<Batch>(bench, "Pages", name, { url: String(slow.hello) })
  await Rounds.withAll(names, start, (contenders) =>
    Rounds.compare(bench, {
      section: "pages",
      title: "pages, prefetch",
      contenders,
      scenarios: ([0, 1] as const).map((prefetch) => ({
        name: `20 ms of latency, 15 ms of work a page, ${prefetch === 0 ? "in turn" : "prefetch"}`,
        task: { count: 1_000, work: 15, prefetch }
      })),
      seconds,
      from: 0.75,
      share: 0.25
    }))
}

export const section: Rounds.Section = { name: "pages", seconds: 10, fullSeconds: 100, run }
