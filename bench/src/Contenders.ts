/** The contenders. All of them send the same requests to the same server, without TLS. */
import type { Settings as Credentials } from "@postwire/core/auth/Credentials"
import type { Client } from "@postwire/core/client/Client"
import type { Response } from "@postwire/core/schema/Response"
import type { WireName } from "@postwire/core/schema/WireName"
import { Client as XdkClient } from "@xdevplatform/xdk"
import type * as Effect from "effect/Effect"
import { Agent as HttpsAgent } from "node:https"
import * as Net from "node:net"
import { createSyncFn, TsRunner } from "synckit"
import { TwitterApi } from "twitter-api-v2"
import { Agent, request } from "undici"
import * as BarePair from "./BarePair.ts"
import * as Bodies from "./Bodies.ts"
import type { Checkout } from "./Checkout.ts"

/** Every contender that is a module. */
export const names = [
  "undici",
  // The same again: its difference from itself shows how reliable the figures of this run are.
  "undici again",
  "dispatch",
  "fetch",
  "bare pair",
  "postwire",
  "postwire-oauth1",
  "postwire-effect",
  "postwire-sync",
  "synckit",
  "twitter-api-v2",
  "xdk"
] as const

export type ModuleName = typeof names[number]

/** Those of ours that another checkout has too, under the names of its own. */
export const earlier = {
  "postwire before": "postwire",
  "effect before": "postwire-effect",
  "sync before": "postwire-sync"
} as const satisfies Readonly<Record<string, ModuleName>>

export type EarlierName = keyof typeof earlier

/** Every contender. */
export type Name = ModuleName | EarlierName | "tweepy"

export const isEarlier = (name: Name): name is EarlierName => name in earlier

/** A client of one service. */
export interface Contender {
  /** The parsed body of one request. */
  readonly body: (workload: Bodies.Workload) => Promise<unknown>
  /** Sends `count` requests, of which at most `inFlight` are under way at a time. */
  readonly run: (workload: Bodies.Workload, count: number, inFlight: number) => Promise<void>
}

type AnyResponse = Response<unknown, unknown>

type Calls<A> = Readonly<Record<Bodies.Workload, () => A>>

/** No token of anybody. */
export const bearerToken = "A".repeat(112)

const onePost = { id: Bodies.id, post_fields: ["author_id", "created_at"] } as const

const page = {
  query: Bodies.query,
  max_results: 100,
  expansions: ["author_id"],
  post_fields: Bodies.postFields,
  user_fields: Bodies.userFields
} as const

/** The data from which a contender that is not a module sends the same, with the field names of X. */
export const requests: Readonly<Record<Bodies.Workload, object>> = {
  "one post": onePost,
  "100 posts": { ...page, post_fields: Bodies.toX(page.post_fields.join(",")).split(",") }
}

const bodyOf = (response: AnyResponse): unknown => response.body

const both = <A>(call: (workload: Bodies.Workload) => () => A): Calls<A> => ({
  "one post": call("one post"),
  "100 posts": call("100 posts")
})

const ofPromises = <A>(calls: Calls<Promise<A>>, bodyOf: (answer: A) => unknown): Contender => ({
  body: async (workload) => bodyOf(await calls[workload]()),
  run: async (workload, count, inFlight) => {
    const call = calls[workload]
    let left = count
    const sequence = async () => {
      while (left-- > 0) await call()
    }
    await Promise.all(Array.from({ length: inFlight }, sequence))
  }
})

/** A caller that blocks has nothing else in flight. */
const ofBlocking = <A>(calls: Calls<A>, bodyOf: (answer: A) => unknown): Contender => ({
  body: async (workload) => bodyOf(calls[workload]()),
  run: async (workload, count) => {
    const call = calls[workload]
    for (let i = 0; i < count; i++) call()
  }
})

const bareUndici = (wire: WireName, baseUrl: string): Contender => {
  const options = {
    dispatcher: new Agent({ allowH2: false, connections: 64 }),
    headers: { authorization: `Bearer ${bearerToken}` }
  }
  const get = (workload: Bodies.Workload) => {
    const url = baseUrl + Bodies.target(wire, workload)
    return async (): Promise<unknown> => JSON.parse(await (await request(url, options)).body.text())
  }
  return ofPromises(both(get), (body) => body)
}

const ofPostwire = (credentials: Credentials, form: { readonly user_auth?: true }) =>
(
  wire: WireName,
  baseUrl: string,
  { createClient }: Checkout
): Contender => {
  const client = createClient({ wire, baseUrl, ...credentials })
  const parameters = { onePost: { ...onePost, ...form }, page: { ...page, ...form } }
  return ofPromises<AnyResponse>({
    "one post": () => client.getPost(parameters.onePost),
    "100 posts": () => client.searchRecentPosts(parameters.page)
  }, bodyOf)
}

/** Makes a contender; those of ours from the modules of a checkout. */
export const make: Readonly<Record<ModuleName, (wire: WireName, baseUrl: string, checkout: Checkout) => Contender>> = {
  // Undici and nothing else: what the others are compared with.
  undici: bareUndici,
  "undici again": bareUndici,

  // The least that Undici can do: no stream for the body, one promise.
  dispatch: (wire, baseUrl) => {
    const dispatcher = new Agent({ allowH2: false, connections: 64 })
    const headers = { authorization: `Bearer ${bearerToken}` }
    const get = (workload: Bodies.Workload) => {
      const path = Bodies.target(wire, workload)
      return () =>
        new Promise<unknown>((resolve, reject) => {
          const chunks: Array<Buffer> = []
          dispatcher.dispatch({ origin: baseUrl, path, method: "GET", headers }, {
            onRequestStart: () => {},
            onResponseStart: () => {},
            onResponseData: (_, chunk) => void chunks.push(chunk),
            onResponseEnd: () =>
              resolve(JSON.parse((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString())),
            onResponseError: (_, error) => reject(error)
          })
        })
    }
    return ofPromises(both(get), (body) => body)
  },

  fetch: (wire, baseUrl) => {
    const init = { headers: { authorization: `Bearer ${bearerToken}` } }
    const get = (workload: Bodies.Workload) => {
      const url = baseUrl + Bodies.target(wire, workload)
      return async (): Promise<unknown> => (await fetch(url, init)).json()
    }
    return ofPromises(both(get), (body) => body)
  },

  // The least that a blocking call can do: a worker sends, its caller sleeps.
  "bare pair": (wire, baseUrl) => {
    const get = BarePair.make()
    const calls = both((workload) => () =>
      get(baseUrl + Bodies.target(wire, workload), { authorization: `Bearer ${bearerToken}` })
    )
    return ofBlocking(calls, (body) => body)
  },

  postwire: ofPostwire({ bearerToken }, {}),
  "postwire-oauth1": ofPostwire(
    {
      consumerKey: "C".repeat(25),
      consumerSecret: "S".repeat(50),
      accessToken: `2244994945-${"T".repeat(40)}`,
      accessTokenSecret: "U".repeat(45)
    },
    { user_auth: true }
  ),

  // One request after the other is one fiber.
  "postwire-effect": (wire, baseUrl, { Effect, getPost, Layer, NodeClient, Scope, searchRecentPosts }) => {
    const layer = NodeClient.layer({ wire, baseUrl, bearerToken })
    const runPromise = Effect.runPromiseWith(Effect.runSync(Layer.buildWithScope(layer, Scope.makeUnsafe())))
    const calls: Calls<Effect.Effect<AnyResponse, unknown, Client>> = {
      "one post": () => getPost(onePost),
      "100 posts": () => searchRecentPosts(page)
    }
    const sequence = Effect.fnUntraced(function*(call: typeof calls[Bodies.Workload], count: number) {
      for (let i = 0; i < count; i++) yield* call()
    })
    return {
      body: (workload) => runPromise(Effect.map(calls[workload](), bodyOf)),
      run: (workload, count, inFlight) =>
        runPromise(
          inFlight === 1
            ? sequence(calls[workload], count)
            : Effect.forEach(new Array(count), calls[workload], { concurrency: inFlight, discard: true })
        )
    }
  },

  // Its caller waits, so there is nothing else in flight.
  "postwire-sync": (wire, baseUrl, { createClientSync }) => {
    const client = createClientSync({ wire, baseUrl, bearerToken })
    return ofBlocking<AnyResponse>({
      "one post": () => client.getPost(onePost),
      "100 posts": () => client.searchRecentPosts(page)
    }, bodyOf)
  },

  // The same client behind the bridge that most packages use.
  synckit: (wire, baseUrl) => {
    const call = createSyncFn(new URL("Synckit.ts", import.meta.url), { tsRunner: TsRunner.Node })
    const settings = { wire, baseUrl, bearerToken }
    return ofBlocking<unknown>({
      "one post": () => call(settings, "getPost", onePost),
      "100 posts": () => call(settings, "searchRecentPosts", page)
    }, (body) => body)
  },

  // Its address is fixed, so its agent connects elsewhere, in plain TCP. Otherwise the agent is as Node's own, which
  // this client uses when it is given none.
  "twitter-api-v2": (_, baseUrl) => {
    class PlainAgent extends HttpsAgent {
      override createConnection() {
        return Net.connect({ host: "127.0.0.1", port: Number(new URL(baseUrl).port), noDelay: true })
      }
    }
    const httpAgent = new PlainAgent({ keepAlive: true, scheduling: "lifo", timeout: 5000 })
    const { v2 } = new TwitterApi(bearerToken, { httpAgent })
    const { id, post_fields } = onePost
    const { expansions, max_results, query, user_fields } = page
    const options = {
      max_results,
      expansions: [...expansions],
      "tweet.fields": Bodies.toX(page.post_fields.join(",")),
      "user.fields": [...user_fields]
    }
    return ofPromises<unknown>({
      "one post": () => v2.singleTweet(id, { "tweet.fields": [...post_fields] }),
      "100 posts": async () => (await v2.search(query, options)).data
    }, (body) => body)
  },

  // It renames every member, so of its bodies only the ids are looked at. Its types lack two of the fields.
  xdk: (_, baseUrl) => {
    const { posts } = new XdkClient({ baseUrl, bearerToken })
    const { id, post_fields } = onePost
    const { expansions, max_results, query, user_fields } = page
    return ofPromises<unknown>({
      "one post": () => posts.getById(id, { postFields: post_fields.filter((name) => name !== "author_id") }),
      "100 posts": () =>
        posts.searchRecent(query, {
          maxResults: max_results,
          expansions: [...expansions],
          postFields: page.post_fields.filter((name) => name !== "author_id" && name !== "referenced_posts"),
          userFields: [...user_fields]
        })
    }, (body) => body)
  }
}
