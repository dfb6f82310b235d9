// An application on Effect, with Promises beside it: the same client, the same errors, whichever package they are from.
import * as Core from "@postwire/core/errors/Errors"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import { getUser } from "@postwire/core/operations/Users"
import * as promises from "@postwire/node"
import * as postwire from "@postwire/node/EffectClient"
import { Effect, Stream } from "effect"
import assert from "node:assert/strict"
import { scenario, settingsOf } from "./scenario.ts"

const settings = settingsOf(process.env)

const program = Effect.gen(function*() {
  const { data: ada } = yield* getUser({ username: "ada" })
  const posts = yield* Stream.runCollect(searchRecentPosts.items({ query: "effect", max_results: 10 }, { limit: 25 }))
  return `${ada?.username} ${posts.length}`
})
const client = postwire.createClient(settings)
assert.equal(await client.effect.runPromise(program), "ada 25")
assert.equal(await Effect.runPromise(Effect.provide(program, client.effect.layer)), "ada 25")

const stranger = postwire.createClient({ ...settings, bearerToken: "nobody-knows-this-token" })
const caught = program.pipe(Effect.catchTag("Unauthorized", ({ status }) => Effect.succeed(`status ${status}`)))
assert.equal(await stranger.effect.runPromise(caught), "status 401")

// A copy of its own, as Node loads it; its errors are known everywhere.
const other = promises.createClient({ ...settings, bearerToken: "nobody-knows-this-token" })
const failed = await other.getUser({ username: "ada" }).catch((error: unknown) => error)
for (const { Unauthorized } of [Core, promises, postwire]) assert.ok(failed instanceof Unauthorized)
for (const each of [client, stranger, other]) await each.close()

console.log(JSON.stringify(await scenario(postwire, settings)))
