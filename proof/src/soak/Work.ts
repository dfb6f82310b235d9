/** The work of a soak: calls, a stream, exports and syncs by one process. */
import * as Copy from "@postwire/archive/copy/Copy"
import * as Sync from "@postwire/archive/sync/Sync"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as Export from "@postwire/export/Export"
import * as JsonLines from "@postwire/export/sinks/JsonLines"
import * as Source from "@postwire/export/sources/Source"
import { createClient } from "@postwire/node"
import * as NodeClient from "@postwire/node/NodeClient"
import { Cause, Effect, Exit, type Layer, ManagedRuntime, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Ready } from "./Server.ts"

/** One piece of work. */
type Unit = () => Promise<void>

/** The work by name, and the end of all that it holds. */
export interface Work {
  /** Whole pieces, the same each time. */
  readonly units: Readonly<Record<"calls" | "export" | "sync", Unit>>
  /** A sync that finds only what is new. */
  readonly resync: Unit
  /** Follows the stream until the work is closed. */
  readonly follow: () => Promise<void>
  /** Does calls until the stream has delivered one of their posts. */
  readonly streamed: Unit
  readonly counts: Counts
  readonly close: () => Promise<void>
}

/** The pieces of work that succeeded, and those that failed, by the names of errors. */
export interface Counts {
  readonly done: Record<string, number>
  readonly failed: Record<string, number>
}

const add = (counts: Record<string, number>, name: string, by = 1): void =>
  void (counts[name] = (counts[name] ?? 0) + by)

const nameOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : String(error)

/** Opens the clients. `folder` is for the exports and the copies. */
export const open = ({ settings, userId }: Ready, folder: string): Work => {
  const counts: Counts = { done: {}, failed: {} }
  const client = createClient(settings)
  const { baseUrl, bearerToken } = settings
  const runtime = ManagedRuntime.make(NodeClient.layer({ baseUrl, bearerToken: Redacted.make(bearerToken) }))
  let ids: ReadonlyArray<string> = []
  let writes = 0
  let closed = false

  const attempt = async (name: string, call: () => Promise<unknown>): Promise<void> => {
    try {
      await call()
      add(counts.done, name)
    } catch (error) {
      add(counts.failed, `${name}: ${nameOf(error)}`)
    }
  }

  const effect = async <A, E>(
    name: string,
    effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof NodeClient.layer>>>
  ) => {
    const exit = await runtime.runPromiseExit(effect)
    if (Exit.isSuccess(exit)) add(counts.done, name)
    else add(counts.failed, `${name}: ${nameOf(Cause.squash(exit.cause))}`)
  }

  const calls: Unit = async () => {
    await attempt("search", async () => {
      const { data = [] } = await client.searchRecentPosts({ query: "lang:en", max_results: 100 })
      ids = data.map(({ id }) => id)
    })
    const some = async (from: number) => {
      for (let i = from; i < 200; i += 8) {
        if (i % 20 === 3) {
          await attempt("write", async () => {
            const { data } = await client.createPost({ text: `soak ${++writes}` })
            if (data !== undefined) await client.deletePost({ id: data.id })
          })
        } else if (i % 10 === 5) {
          await attempt("user", () => client.getUser({ id: userId, user_fields: ["public_metrics"] }))
        } else {await attempt("post", () =>
            client.getPost({ id: ids[i % ids.length] ?? "1", post_fields: ["created_at"] }))}
      }
    }
    await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(some))
  }

  /** Passes a new folder, and removes it. */
  const inside = async (work: (path: string) => Promise<void>): Promise<void> => {
    const path = mkdtempSync(join(folder, "unit-"))
    await work(path)
    rmSync(path, { recursive: true })
  }

  const exported: Unit = async () => {
    const source = Source.make(searchRecentPosts, {
      query: "lang:en",
      max_results: 100,
      post_fields: ["created_at", "author_id"],
      expansions: ["author_id"]
    })
    await inside((path) =>
      effect("export", Export.run(source, { sink: JsonLines.make(join(path, "posts.jsonl")), limit: 1_000 }))
    )
  }

  const settled = [{ kind: "mentions" }, { kind: "search", query: "sourdough" }] as const
  const sync = (file: string, sources: Sync.Options["sources"]) =>
    effect("sync", Sync.run({ sources }).pipe(Effect.provide(Copy.layerSqlite(file))))

  return {
    units: {
      calls,
      export: exported,
      // Without the posts of the user: those whose answers were lost stay, so that there are more with time.
      sync: () => inside((path) => sync(join(path, "own.sqlite"), settled))
    },
    resync: () => sync(join(folder, "own.sqlite"), [{ kind: "posts" }, ...settled]),
    follow: async () => {
      await client.syncRules([{ value: `from:${userId} soak`, tag: "own" }])
      try {
        for await (const _ of client.streamPosts()) add(counts.done, "stream")
      } catch (error) {
        if (!closed) add(counts.failed, `stream: ${nameOf(error)}`)
      }
    },
    streamed: async () => {
      const before = counts.done["stream"]
      // A connection that was refused several times waits minutes for the next attempt.
      const end = performance.now() + 330_000
      while (counts.done["stream"] === before && performance.now() < end) {
        await calls()
        await new Promise((resolve) => setTimeout(resolve, 500))
      }
      if (counts.done["stream"] === before) add(counts.failed, "stream: silent")
    },
    counts,
    close: async () => {
      closed = true
      await client.close()
      await runtime.dispose()
    }
  }
}
