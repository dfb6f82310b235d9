// Type tests of blocking uploads and posts: this file compiles, or inference has weakened.
import type { Readable } from "node:stream"
import type {
  KeptWebhook,
  PostwireClientSync,
  PublishedPost,
  PublishedThread,
  PublishProgress,
  UploadedMedia,
  UploadProgress,
  WebhookPlan,
  WebhookProgress
} from "../../src/index.ts"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const assertType = <T extends true>(): T | void => undefined

declare const client: PostwireClientSync
declare const blob: Blob
declare const readable: Readable

for (const input of ["a.png", new URL("file:///a.png"), new Uint8Array(1), new ArrayBuffer(1), blob] as const) {
  const media = client.upload(input, {
    resume: "a",
    onProgress: (step) => {
      assertType<Equal<typeof step, UploadProgress>>()
    }
  })
  assertType<Equal<typeof media, UploadedMedia>>()
}
// @ts-expect-error a stream cannot be read while its thread is blocked
client.upload({ stream: readable, size: 1 })
// @ts-expect-error nothing could abort it meanwhile
client.upload("a.png", { signal: AbortSignal.timeout(1) })

const posted = client.as("raw").publish({ text: "a", media: ["a.png", { file: blob, alt: "a" }] }, {
  onProgress: (step) => {
    assertType<Equal<typeof step, PublishProgress>>()
  }
})
assertType<Equal<typeof posted, PublishedPost>>()
const thread = client.publishThread([{ text: "a" }], { key: "a" })
assertType<Equal<typeof thread, PublishedThread>>()
// @ts-expect-error without a key
client.publishThread([{ text: "a" }])

// A webhook and its subscriptions.
const hook = {
  url: "https://example.com/hook",
  subscriptions: [{ event_type: "post.create", filter: { user_id: 1 } }]
} as const
const plan = client.planWebhook(hook)
assertType<Equal<typeof plan, WebhookPlan>>()
const kept = client.keepWebhook(hook, {
  onProgress: (step) => {
    assertType<Equal<typeof step, WebhookProgress>>()
  }
})
assertType<Equal<typeof kept, KeptWebhook>>()
