/** The sandbox: how long a state takes to make, a page to answer, and what load one process holds. */
import * as Running from "@postwire/sandbox/Sandbox"
import { join } from "node:path"
import { Agent, request } from "undici"
import * as Checkout from "../Checkout.ts"
import * as Child from "../Child.ts"
import * as Rounds from "../Rounds.ts"
import type { Ready, Usage } from "../SandboxServer.ts"

/** Requests one after the other, or so many under way at a time. */
interface Batch extends Rounds.Task {
  readonly requestOf: (i: number) => Sent
  readonly inFlight?: number
}

interface Sent {
  readonly path: string
  readonly body?: object
}

interface Item {
  readonly id: string
  readonly author_id: string
  readonly conversation_id: string
}

interface Answer {
  readonly data?: ReadonlyArray<Item>
  readonly meta?: { readonly next_token?: string }
}

/** A sandbox that runs, with what is needed to measure it. */
export interface Sandbox extends AsyncDisposable {
  readonly ready: Ready
  readonly send: (sent: Sent) => Promise<Answer>
  readonly ask: (task: Batch) => Promise<Rounds.Reading>
}

/** The ids of posts come from the time at which the state is made, so that all sandboxes have the same. */
const now = Date.now()

/** Starts a sandbox of a checkout; with a file, its state is in it. */
export const start = async (
  bench: Pick<Rounds.Bench, "before">,
  name: string,
  posts: number,
  file?: string
): Promise<Sandbox> => {
  const folder = name.endsWith(" before") ? bench.before?.folder ?? "" : Checkout.own
  const child = await Child.start<{ readonly collects?: boolean }, Usage>(
    "SandboxServer.ts",
    folder,
    String(posts),
    String(now),
    ...file === undefined ? [] : [file]
  )
  // The type of the message is that of its sender.
  const ready = child.hello as Ready
  const dispatcher = new Agent({ allowH2: false, connections: 64 })
  const headers = { authorization: `Bearer ${ready.token}`, "content-type": "application/json" }
  const send = async ({ body, path }: Sent): Promise<Answer> => {
    const response = await request(ready.url + path, {
      dispatcher,
      method: body === undefined ? "GET" : "POST",
      headers,
      body: body === undefined ? null : JSON.stringify(body)
    })
    const text = await response.body.text()
    if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${text}`)
    return JSON.parse(text)
  }
  return {
    ready,
    send,
    ask: async ({ count, inFlight = 1, requestOf }) => {
      const before = await child.ask({})
      let [i, time] = [0, 0]
      await Promise.all(Array.from({ length: inFlight }, async () => {
        while (i < count) {
          const sent = requestOf(i++)
          // It has a window of one second.
          if (sent.path.includes("/all?")) await child.ask({})
          const begun = performance.now()
          await send(sent)
          time += performance.now() - begun
        }
      }))
      return { CPU: ((await child.ask({})).CPU - before.CPU) / count, time: time * 1000 / count / inFlight }
    },
    [Symbol.asyncDispose]: async () => {
      child[Symbol.dispose]()
      await dispatcher.close()
    }
  }
}

const fields = "expansions=author_id&post.fields=created_at,public_metrics"

const search = (operation: "recent" | "all", query: string, order = "recency"): string =>
  `/2/posts/search/${operation}?max_results=${operation === "all" ? 500 : 100}&sort_order=${order}&query=${
    encodeURIComponent(query)
  }`

/** The user with most of the latest posts, and a conversation. */
const lookAround = async ({ send }: Sandbox) => {
  const { data: latest = [] } = await send({ path: `${search("recent", "effect")}&post.fields=author_id` })
  const { data: replies = [] } = await send({ path: `${search("recent", "is:reply")}&post.fields=conversation_id` })
  const counts = Map.groupBy(latest, ({ author_id }) => author_id)
  const [busiest = ""] = [...counts.keys()].toSorted((a, b) => counts.get(b)!.length - counts.get(a)!.length)
  return { busiest, ids: latest.map(({ id }) => id), root: replies[0]?.conversation_id ?? "1" }
}

/** The request for the page that comes after so many others. */
const late = async ({ ask, send }: Sandbox, path: string, parameter: string, pages: number): Promise<string> => {
  let target = path
  // A batch begins all windows anew.
  await ask({ count: 0, requestOf: () => ({ path }) })
  for (let page = 0; page < pages; page++) {
    const token = (await send({ path: target })).meta?.next_token
    if (token === undefined) return target
    target = `${path}&${parameter}=${token}`
  }
  return target
}

/** The paths of pages by their names. */
export const pathsOf = async (sandbox: Sandbox, full: boolean): Promise<Readonly<Record<string, string>>> => {
  const { busiest, root } = await lookAround(sandbox)
  const home = `/2/users/${sandbox.ready.userId}/timelines/reverse_chronological?max_results=100`
  const queries: Readonly<Record<string, string>> = {
    "common word": "effect",
    "rare conjunction": "effect lang:en is:verified has:media",
    ...(full
      ? {
        phrase: "\"the whole team\"",
        "from:": `from:${busiest}`,
        "lang:": "lang:ja",
        negation: "-effect lang:en",
        OR: "effect OR team OR lang:de",
        "conversation_id:": `conversation_id:${root}`
      }
      : {})
  }
  const searches = Object.entries(queries).flatMap(([name, query]) => [
    [`page of 100: ${name}`, search("recent", query)],
    [`page of 500: ${name}`, search("all", query)],
    ...full ? [[`page of 500 by relevancy: ${name}`, search("all", query, "relevancy")]] : []
  ])
  return {
    ...Object.fromEntries(searches),
    "page of 100: timeline": `/2/users/${busiest}/posts?max_results=100`,
    "page of 100: home": home,
    ...(full
      ? {
        "page 101 of 100 posts": await late(sandbox, search("recent", "effect"), "next_token", 100),
        "last page of 100: home": await late(sandbox, home, "pagination_token", 7),
        "counts of 7 days by hour": "/2/posts/counts/recent?granularity=hour&query=effect"
      }
      : {})
  }
}

/** Of 100 requests, 40 look up posts, 25 search, 20 read timelines and 15 write. */
const mixOf = async (sandbox: Sandbox): Promise<(i: number) => Sent> => {
  const { busiest, ids } = await lookAround(sandbox)
  const { userId } = sandbox.ready
  const id = (i: number) => ids[i % ids.length]!
  return (i) => {
    const kind = (i * 37) % 100
    if (kind < 30) return { path: `/2/posts/${id(i)}?${fields}` }
    if (kind < 40) {
      return { path: `/2/posts?ids=${Array.from({ length: 20 }, (_, n) => id(i + n * 4)).join()}&${fields}` }
    }
    if (kind < 65) return { path: `${search("recent", i % 2 === 0 ? "effect" : "lang:ja")}&${fields}` }
    if (kind < 75) return { path: `/2/users/${busiest}/posts?max_results=100&${fields}` }
    if (kind < 85) return { path: `/2/users/${userId}/timelines/reverse_chronological?max_results=100&${fields}` }
    return kind < 93
      ? { path: "/2/posts", body: { text: `load ${performance.now()} ${i} @ada #effect` } }
      : { path: `/2/users/${userId}/likes`, body: { post_id: id(i) } }
  }
}

/** Starting and stopping a sandbox of a thousand posts, as a test does. */
const startAndStop = async (bench: Rounds.Bench): Promise<void> => {
  const readings: Array<Rounds.Reading> = []
  for (let i = 0; i <= (bench.rounds ?? 20); i++) {
    const [begun, before] = [performance.now(), process.cpuUsage()]
    await (await Running.start()).stop()
    const { system, user } = process.cpuUsage(before)
    readings.push({ CPU: user + system, time: (performance.now() - begun) * 1000 })
  }
  const at = { section: "sandbox", scenario: "start and stop, 1,000 posts" }
  bench.add(...Rounds.rowsOf(at, new Map([["the first", readings.slice(0, 1)], ["others", readings.slice(1)]])))
}

const run = async (bench: Rounds.Bench, seconds: number): Promise<void> => {
  const posts = bench.rounds === undefined ? bench.full ? 1_000_000 : 50_000 : 5_000
  await startAndStop(bench)
  const names = ["in a file", ...bench.before === undefined ? [] : ["in a file before"]]
  bench.say(`sandbox: making ${posts.toLocaleString("en")} posts`, 0.05)
  await using all = new AsyncDisposableStack()
  const sandboxes = await Promise.all(
    names.map(async (name) => all.use(await start(bench, name, posts, join(bench.place, `${name}.sqlite`))))
  )
  bench.say(`sandbox: making ${posts.toLocaleString("en")} posts in memory`, 0.25)
  const inMemory = await start(bench, "in memory", posts)
  await inMemory[Symbol.asyncDispose]()
  const readings = [
    ...names.map((name, i) => [name, sandboxes[i]!.ready] as const),
    ["in memory", inMemory.ready] as const
  ]
  const at = { section: "sandbox", scenario: `making ${posts.toLocaleString("en")} posts` }
  bench.add(...Rounds.rowsOf(at, new Map(readings.map(([name, { made }]) => [name, [made]]))))
  const contenders = new Map(names.map((name, i) => [name, sandboxes[i]!]))
  const compare = (scenarios: ReadonlyArray<Rounds.Scenario<Batch>>, from: number, share: number) =>
    Rounds.compare(bench, { section: "sandbox", contenders, scenarios, seconds: seconds * share, from, share })
  // A page of one commit is at the same place in the other: all of it comes from the seed.
  const paths = Object.entries(await pathsOf(sandboxes[0]!, bench.full))
  await compare(paths.map(([name, path]) => ({ name, task: { count: 10, requestOf: () => ({ path }) } })), 0.4, 0.4)
  const mix = await mixOf(sandboxes[0]!)
  await compare(
    [1, 10].map((inFlight) => ({
      name: `reads and writes, ${inFlight} in flight`,
      task: { count: 100, inFlight, requestOf: mix }
    })),
    0.8,
    0.2
  )
}

export const section: Rounds.Section = { name: "sandbox", seconds: 13, fullSeconds: 120, run }
