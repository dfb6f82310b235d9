/** Who is measured. All of them send the same requests to the same server, without TLS. */
import type { Client } from "@postwire/core/Client"
import { getPost } from "@postwire/core/operations/Posts"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import type { Response } from "@postwire/core/Response"
import type { Wire } from "@postwire/core/WireNames"
import { createClient } from "@postwire/node"
import * as NodeClient from "@postwire/node/NodeClient"
import { createClientSync } from "@postwire/sync"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Agent as HttpsAgent } from "node:https"
import * as Net from "node:net"
import { TwitterApi } from "twitter-api-v2"
import { Agent, request } from "undici"
import * as Bodies from "./Bodies.ts"

/** One client on one wire. */
export interface Contender {
  readonly name: string
  /** The parsed body of one request. */
  readonly body: (workload: Bodies.Workload) => Promise<unknown>
  /** Sends `count` requests, of which `inFlight` at most are under way at a time. */
  readonly run: (workload: Bodies.Workload, count: number, inFlight: number) => Promise<void>
}

type AnyResponse = Response<unknown, unknown>

type Calls<A> = Readonly<Record<Bodies.Workload, () => A>>

const bearerToken = "AAAAAAAAAAAAAAAAAAAAAMLheAAAAAAA0000000000000000000000000000000000000000000000"

const postParameters = { id: Bodies.id, post_fields: ["author_id", "created_at"] } as const

const pageParameters = {
  query: Bodies.query,
  max_results: 100,
  expansions: ["author_id"],
  post_fields: Bodies.postFields,
  user_fields: Bodies.userFields
} as const

/** Undici and nothing else: what all others are compared with. */
export const undici = (wire: Wire, port: number): Contender => {
  const dispatcher = new Agent({ allowH2: false, connections: 64 })
  const headers = { authorization: `Bearer ${bearerToken}` }
  const get = (workload: Bodies.Workload) => {
    const url = `http://127.0.0.1:${port}${Bodies.target(wire, workload)}`
    return async (): Promise<unknown> => {
      const { body } = await request(url, { dispatcher, headers })
      return JSON.parse(await body.text())
    }
  }
  return ofPromises("undici", { "one post": get("one post"), "100 posts": get("100 posts") })
}

/** The Promise client. */
export const promise = (wire: Wire, port: number): Contender => {
  const client = createClient({ wire, baseUrl: `http://127.0.0.1:${port}`, bearerToken })
  return ofPromises("postwire", {
    "one post": () => client.getPost(postParameters),
    "100 posts": () => client.searchRecentPosts(pageParameters)
  }, bodyOf)
}

/** The Effect face. A sequence runs in one fiber. */
export const effect = (port: number): Contender => {
  const context = Effect.runSync(
    Layer.buildWithScope(
      NodeClient.layer({ baseUrl: `http://127.0.0.1:${port}`, bearerToken }),
      Scope.makeUnsafe()
    )
  )
  const runPromise = Effect.runPromiseWith(context)
  const calls: Calls<Effect.Effect<AnyResponse, unknown, Client>> = {
    "one post": () => getPost(postParameters),
    "100 posts": () => searchRecentPosts(pageParameters)
  }
  const sequence = Effect.fnUntraced(function*(call: typeof calls[Bodies.Workload], count: number) {
    for (let i = 0; i < count; i++) yield* call()
  })
  return {
    name: "postwire-effect",
    body: (workload) => runPromise(Effect.map(calls[workload](), bodyOf)),
    run: (workload, count, inFlight) =>
      runPromise(
        inFlight === 1
          ? sequence(calls[workload], count)
          : Effect.forEach(Array(count), calls[workload], { concurrency: inFlight, discard: true })
      )
  }
}

/** The synchronous client. It has nothing in flight while its caller waits. */
export const sync = (port: number): Contender => {
  const client = createClientSync({ baseUrl: `http://127.0.0.1:${port}`, bearerToken })
  const calls: Calls<AnyResponse> = {
    "one post": () => client.getPost(postParameters),
    "100 posts": () => client.searchRecentPosts(pageParameters)
  }
  return {
    name: "postwire-sync",
    body: async (workload) => bodyOf(calls[workload]()),
    run: async (workload, count) => {
      const call = calls[workload]
      for (let i = 0; i < count; i++) call()
    }
  }
}

/** The most used client of X. Its address is fixed, so its agent connects elsewhere, in plain TCP. */
export const twitterApiV2 = (port: number): Contender => {
  class PlainAgent extends HttpsAgent {
    override createConnection() {
      return Net.connect({ host: "127.0.0.1", port, noDelay: true })
    }
  }
  // As the agent that it has by default, which keeps connections.
  const httpAgent = new PlainAgent({ keepAlive: true, scheduling: "lifo", timeout: 5000 })
  const client = new TwitterApi(bearerToken, { httpAgent })
  const { id, post_fields } = postParameters
  const { expansions, max_results, query } = pageParameters
  const page = {
    expansions,
    max_results,
    "tweet.fields": Bodies.toX(Bodies.postFields.join(",")),
    "user.fields": Bodies.userFields.join(",")
  }
  return ofPromises<unknown>("twitter-api-v2", {
    "one post": () => client.v2.singleTweet(id, { "tweet.fields": post_fields }),
    "100 posts": async () => (await client.v2.search(query, page)).data
  })
}

const bodyOf = (response: AnyResponse): unknown => response.body

const ofPromises = <A>(
  name: string,
  calls: Calls<Promise<A>>,
  bodyOf: (answer: A) => unknown = (answer) => answer
): Contender => ({
  name,
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
