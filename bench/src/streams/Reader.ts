/** The process of one reader: `node Reader.ts <name> <wire> <port>`. It reads the requested number of lines. */
import type { WireName } from "@postwire/core/schema/WireName"
import { streamPosts } from "@postwire/core/streams/operations/Streams"
import { createClient } from "@postwire/node"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Agent, request } from "undici"
import * as Child from "../Child.ts"

/** How much is read. */
export interface Task {
  readonly items: number
  /** True to measure memory after a collection, which takes time. */
  readonly memory: boolean
}

/** The time, in milliseconds. */
export interface Reading {
  readonly wall: number
  readonly cpu: number
  /** Resident memory in bytes, after every tenth of the items. */
  readonly memory: ReadonlyArray<number>
}

export type Name = "bare" | "stream" | "promise"

const [name, wire, port] = process.argv.slice(2) as [Name, WireName, string]
const settings = { baseUrl: `http://127.0.0.1:${port}`, bearerToken: "A".repeat(112), wire }
const parameters = { expansions: ["author_id"], post_fields: ["lang"] } as const
const options = { recover: "none" } as const

interface Delivered {
  readonly post: { readonly id: string }
}

const make = (): (items: number, read: (item: Delivered) => void) => Promise<unknown> => {
  switch (name) {
    // The obvious program: bytes to text, text to lines, lines to objects.
    case "bare": {
      const dispatcher = new Agent({ allowH2: false, bodyTimeout: 0 })
      return async (items, read) => {
        const { body } = await request(`${settings.baseUrl}/2/posts/search/stream`, { dispatcher })
        const decoder = new TextDecoder()
        let rest = ""
        let count = 0
        for await (const chunk of body) {
          const lines = (rest + decoder.decode(chunk, { stream: true })).split("\r\n")
          rest = lines.pop()!
          for (const line of lines) {
            if (line === "") continue
            if (count++ === items) return
            read({ post: JSON.parse(line).data })
          }
        }
      }
    }
    case "stream": {
      const layer = NodeClient.layer(settings)
      const runPromise = Effect.runPromiseWith(Effect.runSync(Layer.buildWithScope(layer, Scope.makeUnsafe())))
      return (items, read) =>
        runPromise(
          streamPosts(parameters, options).pipe(
            Stream.take(items),
            Stream.runForEachArray((delivered) =>
              Effect.sync(() => {
                for (const item of delivered) read(item)
              })
            )
          )
        )
    }
    case "promise": {
      const client = createClient(settings)
      return async (items, read) => {
        let count = 0
        for await (const item of client.streamPosts(parameters, options)) {
          read(item)
          if (++count === items) return
        }
      }
    }
  }
}

const run = make()

Child.answer("ready", async ({ items, memory: looks }: Task): Promise<Reading> => {
  const memory: Array<number> = []
  const every = Math.max(1, Math.floor(items / 10))
  let count = 0
  let digits = 0
  const start = performance.now()
  const before = process.cpuUsage()
  await run(items, ({ post }) => {
    digits += post.id.length
    count++
    if (looks && count % every === 0) {
      // Free memory is released, so that the rest is in use.
      void globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" })
      memory.push(process.memoryUsage.rss())
    }
  })
  const { system, user } = process.cpuUsage(before)
  const wall = performance.now() - start
  if (count !== items || digits < items) throw new Error(`${name}: ${count} of ${items} lines`)
  return { wall, cpu: (user + system) / 1000, memory }
})
