/** The sandbox that is measured, a process of its own: `node SandboxServer.ts <posts> [<file>]`. */
import { scopes } from "@postwire/core/schema/Scopes"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { statSync } from "node:fs"
import * as Query from "../../packages/sandbox/src/search/Query.ts"
import * as Child from "./Child.ts"

/** The message that it prints once it serves. */
export interface Ready {
  readonly baseUrl: string
  /** How long it took to make the state, in seconds. */
  readonly seconds: number
  /** The processor's part of it. */
  readonly cpu: number
  /** The most memory that the process has held so far, in MB. */
  readonly peak: number
  /** The size of the file and its log, in MB. */
  readonly size: number | undefined
  /** Tokens of one user, each of an app of its own, so that no window is spent. */
  readonly tokens: ReadonlyArray<string>
  readonly userId: string
  /** The user with the most of the latest posts. */
  readonly busiest: string
  /** Posts to look up. */
  readonly postIds: ReadonlyArray<string>
  /** A post that starts a conversation. */
  readonly root: string
}

const [posts = "", file] = process.argv.slice(2)

const start = performance.now()
const layer = Sandbox.layerServer({ posts: Number(posts), file })
const context = await Effect.runPromise(Layer.buildWithScope(layer, Scope.makeUnsafe()))
const seconds = (performance.now() - start) / 1000
const { system, user } = process.cpuUsage()
const { baseUrl, seeded: { ada }, store } = Context.get(context, Sandbox.Sandbox)

const tokens = Array.from({ length: 3_000 }, (_, i) => `bench-${i}`)
store.transaction(() => {
  for (const token of tokens) {
    const rights = "read-write-directmessages"
    const appId = store.credentials.insertApp({
      name: token,
      access: "research",
      rights,
      consumerKey: token,
      consumerSecret: Redacted.make(token),
      createdAt: 0
    })
    store.credentials.insertBearerToken({ token: Redacted.make(token), appId, userId: ada.id, rights, scopes })
  }
})

const find = (source: string) =>
  store.posts.search({ query: Result.getOrThrow(Query.parse(source)), limit: 1_000, viewer: { userId: ada.id } }).items
const latest = find("effect")
const counts = new Map<string, number>()
for (const { author_id } of latest) counts.set(author_id, (counts.get(author_id) ?? 0) + 1)

const ready: Ready = {
  baseUrl,
  seconds,
  cpu: (system + user) / 1e6,
  peak: process.resourceUsage().maxRSS / 1024,
  size: file === undefined ? undefined : (statSync(file).size + statSync(`${file}-wal`).size) / 1e6,
  tokens,
  userId: ada.id,
  busiest: [...counts].reduce((most, entry) => entry[1] > most[1] ? entry : most)[0],
  postIds: latest.map(({ id }) => id),
  root: find("is:reply")[0]?.conversation_id ?? "1"
}

Child.answer(ready, async () => {})
