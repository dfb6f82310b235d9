// #region follow
import { createClient } from "@postwire/node"

await using client = createClient()
// Without `keep`, syncRules deletes the app's other rules.
await client.syncRules([{ value: "effect", tag: "effect" }], { keep: true })

const posts = client.streamPosts({ post_fields: ["author_id"], expansions: ["author_id"] })
for await (const received of posts) {
  const { author, item: post } = received.joined()
  console.log(author?.username, post.text, received.matchingRules.map(({ tag }) => tag))
  if (post.text.includes("Effect")) break
}
// #endregion

// #region events
const signal = AbortSignal.timeout(60_000)
for await (const event of client.streamPosts.events({}, { signal })) {
  if (event._tag === "Delivered") {
    console.log(event.item.post.text)
    if (event.item.post.text.includes("Effect")) break
  }
  if (event._tag === "Connected") console.log("connected")
  if (event._tag === "Reconnecting") console.log(event.why, "again in", event.wait, "ms")
  if (event._tag === "Gap" && event.filledBy === undefined) console.log("missed", event.from, event.to, event.why)
}
// #endregion

// #region resume
import { readFile, writeFile } from "node:fs/promises"

export const resume = async (file: string) => {
  const saved: { at: string; ids: Array<string> } | undefined = await readFile(file, "utf8").then(JSON.parse, () => {})
  let { at, ids }: { at?: Date; ids: Array<string> } = saved === undefined
    ? { ids: [] }
    : { at: new Date(saved.at), ids: saved.ids }
  const resumeFrom = at === undefined ? undefined : { at, ids: [...ids] }
  for await (const event of client.streamPosts.events({}, { resumeFrom })) {
    if (event._tag === "Delivered") {
      console.log(event.item.post.text)
      ids.push(event.item.post.id)
    } else if (event._tag === "Watermark") {
      at = event.until
      ids = []
    } else continue
    if (at !== undefined) await writeFile(file, JSON.stringify({ at, ids }))
  }
}
// #endregion

// #region errors
import { NoRules, StreamOverflow, TooManyConnections } from "@postwire/node"

const follow = async (each: (text: string) => Promise<void>) => {
  try {
    for await (const { post } of client.streamPosts({}, { bufferSize: 50_000 })) await each(post.text)
  } catch (error) {
    if (error instanceof TooManyConnections) {
      console.log(error.connections.map(({ clientIp, since }) => [clientIp, since]))
    } else if (error instanceof NoRules) console.log("there are no rules")
    else if (error instanceof StreamOverflow) console.log("too slow")
    else throw error
  }
}
// #endregion
await follow(async () => {
  // The blocking clients below read the same stream, of which an app has one.
  await client.close()
}).catch(() => {})

// #region blocking
import { createClientSync } from "@postwire/sync"

using blocking = createClientSync()
const onEvent = ({ _tag }: { readonly _tag: string }) => console.log(_tag)
for (const { post } of blocking.streamPosts({}, { onEvent })) {
  console.log(post.text)
  break
}
// #endregion

// #region effect
import { ClientConfig, Streams } from "@postwire/core"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Console, Effect, Layer, Stream } from "effect"

const program = Streams.streamPosts({ post_fields: ["lang"] }).pipe(
  Stream.take(3),
  Stream.runForEach(({ post }) => Console.log(post.lang, post.text)),
  Effect.catchTag("NoRules", () => Console.log("there are no rules"))
)
const layer = ClientConfig.layer.pipe(Layer.provide(UndiciHttpClient.layer()))
await Effect.runPromise(Effect.provide(program, layer))
// #endregion
