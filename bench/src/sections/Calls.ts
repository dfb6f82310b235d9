/** Calls: the clients of this and of other projects, with the same requests to the same server, without TLS. */
import type { Settings as Credentials } from "@postwire/core/auth/Credentials"
import type { Client } from "@postwire/core/client/Client"
import type { Response } from "@postwire/core/schema/Response"
import type * as Effect from "effect/Effect"
import { deepStrictEqual } from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { Agent as HttpsAgent } from "node:https"
import * as Net from "node:net"
import { fileURLToPath } from "node:url"
import { Agent, request } from "undici"
import * as Bodies from "../Bodies.ts"
import * as Checkout from "../Checkout.ts"
import * as Child from "../Child.ts"
import * as Rounds from "../Rounds.ts"

/** A batch of calls, of which so many are under way at a time. */
interface Batch extends Rounds.Task {
  readonly workload: Bodies.Workload
  readonly inFlight: number
}

type Calls<A> = Readonly<Record<Bodies.Workload, () => A>>

type AnyResponse = Response<unknown, unknown>

const { onePost, page } = Bodies.parameters
const { bearerToken } = Bodies
const headers = { authorization: `Bearer ${bearerToken}` }

const both = <A>(call: (workload: Bodies.Workload) => () => A): Calls<A> => ({
  "one post": call("one post"),
  "100 posts": call("100 posts")
})

const ids = (body: unknown): unknown => JSON.stringify(body).match(/"id":"\d+"/g)

const whole = (body: unknown): unknown => body

/** Batches of calls whose answers have been looked at once. */
const checked = async <A>(
  calls: Calls<A>,
  wire: Rounds.Settings["wire"],
  bodyOf: (answer: Awaited<A>) => unknown,
  view = whole
) => {
  for (const workload of Bodies.workloads) {
    const expected: unknown = JSON.parse(Bodies.text(wire === "x" ? "x" : "neutral", workload))
    deepStrictEqual(view(bodyOf(await calls[workload]())), view(expected))
  }
  return calls
}

const awaited = async <A>(
  wire: Rounds.Settings["wire"],
  calls: Calls<Promise<A>>,
  bodyOf: (answer: A) => unknown = whole,
  view = whole
) => {
  await checked(calls, wire, (answer) => bodyOf(answer as A), view)
  return async ({ count, inFlight, workload }: Batch): Promise<void> => {
    const call = calls[workload]
    let left = count
    const sequence = async () => {
      while (left-- > 0) await call()
    }
    await Promise.all(Array.from({ length: inFlight }, sequence))
  }
}

/** A caller that blocks has nothing else in flight. */
const blocking = async <A>(calls: Calls<A>, bodyOf: (answer: Awaited<A>) => unknown = whole) => {
  await checked(calls, "neutral", bodyOf)
  return ({ count, workload }: Batch): void => {
    const call = calls[workload]
    for (let i = 0; i < count; i++) call()
  }
}

const bodyOf = ({ body }: AnyResponse): unknown => body

const postwire =
  (credentials: Credentials, form: { readonly user_auth?: true }) => async ({ folder, url, wire }: Rounds.Settings) => {
    const [{ createClient }] = await Checkout.modules(folder)("@postwire/node")
    const client = createClient({ wire, baseUrl: url, ...credentials })
    const parameters = { onePost: { ...onePost, ...form }, page: { ...page, ...form } }
    return awaited<AnyResponse>("neutral", {
      "one post": () => client.getPost(parameters.onePost),
      "100 posts": () => client.searchRecentPosts(parameters.page)
    }, bodyOf)
  }

export const contenders: Rounds.Contenders<Batch> = {
  // Undici and nothing else: what the others are compared with.
  undici: ({ url, wire }) => {
    const options = { dispatcher: new Agent({ allowH2: false, connections: 64 }), headers }
    const get = (workload: Bodies.Workload) => {
      const target = url + Bodies.target(wire, workload)
      return async (): Promise<unknown> => JSON.parse(await (await request(target, options)).body.text())
    }
    return awaited(wire, both(get))
  },

  // The least that Undici can do: no stream for the body, one promise.
  dispatch: ({ url, wire }) => {
    const dispatcher = new Agent({ allowH2: false, connections: 64 })
    const get = (workload: Bodies.Workload) => {
      const path = Bodies.target(wire, workload)
      return () =>
        new Promise<unknown>((resolve, reject) => {
          const chunks: Array<Buffer> = []
          dispatcher.dispatch({ origin: url, path, method: "GET", headers }, {
            onRequestStart: () => {},
            onResponseStart: () => {},
            onResponseData: (_, chunk) => void chunks.push(chunk),
            onResponseEnd: () =>
              resolve(JSON.parse((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString())),
            onResponseError: (_, error) => reject(error)
          })
        })
    }
    return awaited(wire, both(get))
  },

  fetch: ({ url, wire }) => {
    const get = (workload: Bodies.Workload) => {
      const target = url + Bodies.target(wire, workload)
      return async (): Promise<unknown> => (await fetch(target, { headers })).json()
    }
    return awaited(wire, both(get))
  },

  // The least that a blocking call can do: a worker sends, its caller sleeps.
  "bare pair": async ({ url }) => {
    const get = (await import("../BarePair.ts")).make()
    return blocking(both((workload) => () => get(url + Bodies.target("neutral", workload), headers)))
  },

  postwire: postwire({ bearerToken }, {}),

  "postwire oauth1": postwire(
    {
      consumerKey: "C".repeat(25),
      consumerSecret: "S".repeat(50),
      accessToken: `2244994945-${"T".repeat(40)}`,
      accessTokenSecret: "U".repeat(45)
    },
    { user_auth: true }
  ),

  // One request after the other is one fiber.
  "postwire effect": async ({ folder, url, wire }) => {
    const [effect, layers, scopes, node, { getPost }, { searchRecentPosts }] = await Checkout.modules(folder)(
      "effect/Effect",
      "effect/Layer",
      "effect/Scope",
      "@postwire/node/NodeClient",
      "@postwire/core/operations/Posts",
      "@postwire/core/operations/Search"
    )
    const layer = node.layer({ wire, baseUrl: url, bearerToken })
    const run = effect.runPromiseWith(effect.runSync(layers.buildWithScope(layer, scopes.makeUnsafe())))
    const calls: Calls<Effect.Effect<AnyResponse, unknown, Client>> = {
      "one post": () => getPost(onePost),
      "100 posts": () => searchRecentPosts(page)
    }
    await checked(both((workload) => () => run(calls[workload]())), "neutral", bodyOf)
    const sequence = effect.fnUntraced(function*(call: typeof calls[Bodies.Workload], count: number) {
      for (let i = 0; i < count; i++) yield* call()
    })
    return ({ count, inFlight, workload }) =>
      run(
        inFlight === 1
          ? sequence(calls[workload], count)
          : effect.forEach(new Array(count), calls[workload], { concurrency: inFlight, discard: true })
      )
  },

  "postwire sync": async ({ folder, url, wire }) => {
    const [{ createClientSync }] = await Checkout.modules(folder)("@postwire/sync")
    const client = createClientSync({ wire, baseUrl: url, bearerToken })
    return blocking<AnyResponse>({
      "one post": () => client.getPost(onePost),
      "100 posts": () => client.searchRecentPosts(page)
    }, bodyOf)
  },

  // The same client behind the bridge that most packages use.
  synckit: async ({ url, wire }) => {
    const { createSyncFn, TsRunner } = await import("synckit")
    const call = createSyncFn(new URL("../Synckit.ts", import.meta.url), { tsRunner: TsRunner.Node })
    const settings = { wire, baseUrl: url, bearerToken }
    return blocking<unknown>({
      "one post": () => call(settings, "getPost", onePost),
      "100 posts": () => call(settings, "searchRecentPosts", page)
    })
  },

  // Its address is fixed, so its agent connects elsewhere, in plain TCP. Otherwise the agent is as Node's own, which
  // this client uses when it is given none.
  "twitter-api-v2": async ({ url, wire }) => {
    const { TwitterApi } = await import("twitter-api-v2")
    class PlainAgent extends HttpsAgent {
      override createConnection() {
        return Net.connect({ host: "127.0.0.1", port: Number(new URL(url).port), noDelay: true })
      }
    }
    const httpAgent = new PlainAgent({ keepAlive: true, scheduling: "lifo", timeout: 5000 })
    const { v2 } = new TwitterApi(bearerToken, { httpAgent })
    const { expansions, max_results, query, user_fields } = page
    const options = {
      max_results,
      expansions: [...expansions],
      "tweet.fields": Bodies.toX(page.post_fields.join(",")),
      "user.fields": [...user_fields]
    }
    return awaited<unknown>(wire, {
      "one post": () => v2.singleTweet(onePost.id, { "tweet.fields": [...onePost.post_fields] }),
      "100 posts": async () => (await v2.search(query, options)).data
    })
  },

  // It renames every member, so of its bodies only the ids are looked at. Its types lack two of the fields.
  xdk: async ({ url, wire }) => {
    const { posts } = new (await import("@xdevplatform/xdk")).Client({ baseUrl: url, bearerToken })
    const { expansions, max_results, query, user_fields } = page
    return awaited<unknown>(
      wire,
      {
        "one post": () =>
          posts.getById(onePost.id, { postFields: onePost.post_fields.filter((name) => name !== "author_id") }),
        "100 posts": () =>
          posts.searchRecent(query, {
            maxResults: max_results,
            expansions: [...expansions],
            postFields: page.post_fields.filter((name) => name !== "author_id" && name !== "referenced_posts"),
            userFields: [...user_fields]
          })
      },
      whole,
      ids
    )
  }
}

/** The first interpreter that has tweepy: the one on the path need not be the one that packages are for. */
const python = (): string | undefined =>
  ["python3", "/usr/bin/python3"].find((command) =>
    spawnSync(command, ["-c", "import tweepy"], { stdio: "ignore" }).status === 0
  )

const scenarioOf = (prefix: string, workload: Bodies.Workload, inFlight: number): Rounds.Scenario<Batch> => ({
  name: `${prefix}${workload}, ${inFlight === 1 ? "one by one" : `${inFlight} in flight`}`,
  task: { workload, inFlight, count: 50 },
  takes: (contender) => inFlight === 1 || contender !== "tweepy",
  batch: 60
})

const run = async (bench: Rounds.Bench, seconds: number): Promise<void> => {
  const interpreter = python()
  if (interpreter === undefined) console.error("Without tweepy: no python3 here can import it.")
  const { full } = bench
  const groups = [
    {
      prefix: "",
      wire: "neutral",
      names: Rounds.select(
        bench,
        ["undici"],
        ["postwire", "postwire effect", ...full ? ["postwire oauth1"] : []],
        full ? ["dispatch"] : []
      ),
      inFlight: [1, 50]
    },
    {
      prefix: "X: ",
      wire: "x",
      names: Rounds.select(bench, ["undici"], ["postwire"], [
        "fetch",
        "twitter-api-v2",
        "xdk",
        ...interpreter === undefined ? [] : ["tweepy"]
      ]),
      inFlight: [1, 50]
    },
    {
      prefix: "blocking: ",
      wire: "neutral",
      names: Rounds.select(bench, ["postwire", "undici", "bare pair"], ["postwire sync"], ["synckit"]),
      inFlight: [1]
    }
  ] as const
  using server = await Child.start<object, unknown>("Server.ts", "calls")
  const url = String(server.hello)
  const start = (name: string, wire: Rounds.Settings["wire"]) =>
    name === "tweepy" && interpreter !== undefined
      ? Child.startProgram<Batch, Rounds.Reading>(
        interpreter,
        fileURLToPath(new URL("../tweepy_client.py", import.meta.url)),
        url,
        JSON.stringify({ ...page, ...onePost, bearerToken, page_fields: Bodies.toX(page.post_fields.join(",")) })
      )
      : Rounds.start<Batch>(bench, "Calls", name, { url, wire })
  const shares = [0.4, 0.4, 0.2]
  for (const [i, { inFlight, names, prefix, wire }] of groups.entries()) {
    const scenarios = Bodies.workloads.flatMap((workload) => inFlight.map((many) => scenarioOf(prefix, workload, many)))
    await Rounds.withAll(names, (name) => start(name, wire), (contenders) =>
      Rounds.compare(bench, {
        section: "calls",
        title: `calls${prefix === "" ? "" : `, ${prefix.slice(0, -2)}`}`,
        contenders,
        scenarios,
        seconds: seconds * shares[i]!,
        from: shares.slice(0, i).reduce((sum, share) => sum + share, 0),
        share: shares[i]!,
        isAllocating: true
      }))
  }
}

export const section: Rounds.Section = { name: "calls", seconds: 34, fullSeconds: 240, run }
