// Type tests of uploads and posts with Promises: this file compiles, or inference has weakened.
import type { Readable } from "node:stream"
import {
  createClient,
  type Input,
  type KeptWebhook,
  type Post,
  type PostwireClient,
  type PublishedPost,
  type PublishedThread,
  type PublishProgress,
  type Uploaded,
  type UploadedMedia,
  type UploadProgress,
  type WebhookPlan,
  type WebhookProgress
} from "../../src/index.ts"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const assertType = <T extends true>(): T | void => undefined

declare const client: PostwireClient
declare const blob: Blob
declare const readable: Readable
declare const web: ReadableStream<Uint8Array>
declare const file: Input

// Whatever is a file.
for (const input of ["a.png", new URL("file:///a.png"), new Uint8Array(1), new ArrayBuffer(1), blob, file] as const) {
  const media = client.upload(input)
  assertType<Equal<typeof media, Promise<UploadedMedia>>>()
}
void client.upload({ stream: readable, size: 1 })
void client.upload({ stream: web, size: 1, name: "a.png" })
// @ts-expect-error nobody knows how long it is
void client.upload({ stream: readable })
// @ts-expect-error no file
void client.upload(5)

// Options, and their names.
void client.upload("a.mp4", { subtitles: [{ file: "a.vtt", language: "EN", name: "English" }], resume: "a", alt: "a" })
// @ts-expect-error no such purpose
void client.upload("a.mp4", { purpose: "story" })
// @ts-expect-error no such category
void client.upload("a.mp4", { category: "image" })
// @ts-expect-error misspelt
void client.upload("a.mp4", { altText: "a" })
void client.upload("a.mp4", {
  signal: AbortSignal.timeout(1),
  onProgress: (step) => {
    assertType<Equal<typeof step, UploadProgress>>()
  }
})

// Steps, and what they end with.
const steps = client.upload.events(blob)
assertType<Equal<typeof steps, AsyncIterable<UploadProgress | Uploaded>>>()
// @ts-expect-error the loop is told
client.upload.events(blob, { onProgress: () => {} })

// Posts.
const posted = client.publish(
  { text: "a", media: ["a.png", blob, { file: "b.png", alt: "b" }], media_ids: ["1", 2n] },
  {
    maxWeight: 25_000,
    onProgress: (step) => {
      assertType<Equal<typeof step, PublishProgress>>()
      if (step.phase === "posted") assertType<Equal<typeof step.id, string>>()
      if (step.phase === "processing") assertType<Equal<typeof step.fraction, number>>()
    }
  }
)
assertType<Equal<typeof posted, Promise<PublishedPost>>>()
void client.publish({ text: "a", poll: { options: ["a", "b"], duration_minutes: 5 } })
// @ts-expect-error a poll is a whole
void client.publish({ text: "a", poll: { options: ["a", "b"] } })
// @ts-expect-error as the poll has it
void client.publish({ text: "a", poll_duration_minutes: 5 })
// @ts-expect-error misspelt
void client.publish({ text: "a", medias: [] })
const post: Post = { text: "a", media: [new URL("file:///a.png")] }

// Threads have a key.
const thread = client.publishThread([post], { key: "a", undecided: "continue" })
assertType<Equal<typeof thread, Promise<PublishedThread>>>()
// @ts-expect-error without a key
void client.publishThread([post])
// @ts-expect-error without a key
void client.publishThread([post], {})
// @ts-expect-error no such decision
void client.publishThread([post], { key: "a", undecided: "retry" })

// A webhook and its subscriptions.
const subscription = { event_type: "post.create", filter: { user_id: 1n }, tag: "own" } as const
const plan = client.planWebhook({ url: "https://example.com/hook", subscriptions: [subscription] }, { keep: true })
assertType<Equal<typeof plan, Promise<WebhookPlan>>>()
const kept = client.keepWebhook({ url: "https://example.com/hook", subscriptions: [subscription] }, {
  signal: AbortSignal.timeout(1),
  onProgress: (step) => {
    assertType<Equal<typeof step, WebhookProgress>>()
  }
})
assertType<Equal<typeof kept, Promise<KeptWebhook>>>()
void client.planWebhook({
  url: "https://example.com/hook",
  // @ts-expect-error no such type of event
  subscriptions: [{ ...subscription, event_type: "post.made" }]
})
// @ts-expect-error a plan changes nothing
void client.planWebhook({ url: "https://example.com/hook", subscriptions: [] }, { allowEmpty: true })

// One result in every form.
const raw = client.as("raw").publish(post)
assertType<Equal<typeof raw, Promise<PublishedPost>>>()

// A journal is a folder, or one of a program's own.
createClient({ baseUrl: "https://service.test", journal: "./journal" })
createClient({
  baseUrl: "https://service.test",
  journal: { read: async () => undefined, write: async () => {}, lock: async () => () => {} }
})
createClient({
  baseUrl: "https://service.test",
  // @ts-expect-error nothing gives the lock back
  journal: { read: async () => undefined, write: async () => {}, lock: async () => {} }
})
