/** The process of one reader: `node Reader.ts <name> <port>`. It reads the requested number of posts. */
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { createClient } from "@postwire/node"
import * as NodeClient from "@postwire/node/NodeClient"
import { createClientSync } from "@postwire/sync"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Agent, request } from "undici"
import * as Bodies from "../Bodies.ts"
import * as Child from "../Child.ts"

/** The job of a reader. */
export interface Task {
  readonly items: number
  /** Milliseconds of work for each page. */
  readonly work: number
  readonly prefetch: 0 | 1
  /** True to measure memory after a collection, which takes time. */
  readonly memory: boolean
}

/** The measured cost. */
export interface Reading {
  readonly wall: number
  readonly cpu: number
  /** Resident memory in bytes, after every tenth of the items. */
  readonly memory: ReadonlyArray<number>
}

export const names = ["generator", "promise", "stream", "blocking"] as const
export type Name = typeof names[number]

const [name, port] = process.argv.slice(2) as [Name, string]
const baseUrl = `http://127.0.0.1:${port}`
const bearerToken = "A".repeat(112)
const parameters = {
  query: Bodies.query,
  max_results: 100,
  expansions: ["author_id"],
  post_fields: Bodies.postFields,
  user_fields: Bodies.userFields
} as const

interface Post {
  readonly id: string
}

/** The obvious program. */
async function* generator(limit: number): AsyncGenerator<Post> {
  const dispatcher = new Agent({ allowH2: false, connections: 64 })
  const headers = { authorization: `Bearer ${bearerToken}` }
  let token: string | undefined
  let count = 0
  do {
    const url = baseUrl + Bodies.target("neutral", "100 posts") + (token === undefined ? "" : `&next_token=${token}`)
    const { body, statusCode } = await request(url, { dispatcher, headers })
    if (statusCode !== 200) throw new Error(String(statusCode))
    const page = JSON.parse(await body.text())
    for (const post of page.data) {
      if (count++ === limit) return
      yield post
    }
    token = page.meta.next_token
  } while (token !== undefined)
}

const spin = (millis: number) => {
  for (const end = performance.now() + millis; performance.now() < end;);
}

/** Does the work of each page, and looks at the memory now and then. */
const meter = ({ items, memory: looks, work }: Task) => {
  const memory: Array<number> = []
  const every = Math.max(1, Math.floor(items / 10))
  let count = 0
  let digits = 0
  return {
    memory,
    read: (post: Post) => {
      digits += post.id.length
      count++
      if (work > 0 && count % 100 === 1) spin(work)
      if (looks && count % every === 0) {
        // Free memory is released, so that the rest is in use.
        void globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" })
        memory.push(process.memoryUsage.rss())
      }
    },
    check: () => {
      if (count !== items || digits < items) throw new Error(`${name}: ${count} of ${items} posts`)
    }
  }
}

const make = (): (task: Task, read: (post: Post) => void) => Promise<void> | void => {
  switch (name) {
    case "generator":
      return async ({ items }, read) => {
        for await (const post of generator(items)) read(post)
      }
    case "promise": {
      const client = createClient({ baseUrl, bearerToken })
      return async ({ items, prefetch }, read) => {
        for await (const post of client.searchRecentPosts.items(parameters, { limit: items, prefetch })) read(post)
      }
    }
    case "stream": {
      const layer = NodeClient.layer({ baseUrl, bearerToken })
      const runPromise = Effect.runPromiseWith(Effect.runSync(Layer.buildWithScope(layer, Scope.makeUnsafe())))
      return ({ items, prefetch }, read) =>
        runPromise(
          searchRecentPosts.items(parameters, { limit: items, prefetch }).pipe(
            Stream.runForEachArray((posts) =>
              Effect.sync(() => {
                for (const post of posts) read(post)
              })
            )
          )
        )
    }
    case "blocking": {
      const client = createClientSync({ baseUrl, bearerToken })
      return ({ items, prefetch }, read) => {
        for (const post of client.searchRecentPosts.items(parameters, { limit: items, prefetch })) read(post)
      }
    }
  }
}

const run = make()

Child.answer("ready", async (task: Task): Promise<Reading> => {
  const { check, memory, read } = meter(task)
  const start = performance.now()
  const before = process.cpuUsage()
  await run(task, read)
  const { system, user } = process.cpuUsage(before)
  const wall = performance.now() - start
  check()
  return { wall, cpu: (user + system) / 1000, memory }
})
