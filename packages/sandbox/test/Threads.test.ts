/** Threads against the sandbox, whatever goes wrong: each part is posted once, or it is said why that cannot be told. */
import { assert, describe, it } from "@effect/vitest"
import * as Journal from "@postwire/core/Journal"
import type { Post } from "@postwire/core/Publish"
import { Effect } from "effect"
import * as Threads from "./support/Threads.ts"

/** Of these, the service takes each once only: the second of two is refused. */
const thread = (name: string): ReadonlyArray<Post> => [
  { text: `One & only <${name}> https://example.com/${name}?a=1&b=2` },
  { text: `Two: https://example.com/${name} https://example.org/` },
  { text: "Three" }
]

/** Of these, it takes as many as come. */
const polls = (name: string): ReadonlyArray<Post> =>
  thread(name).map((post) => ({ ...post, poll: { options: ["yes", "no"], duration_minutes: 60 } }))

const texts = (posts: ReadonlyArray<{ readonly text?: string | undefined }>) => posts.map(({ text }) => text)

/** Whether what stands is the thread, each part of it once and in reply to the one before. */
const assertStands = (stands: ReadonlyArray<Threads.Shown>, posts: ReadonlyArray<Post>) => {
  assert.deepStrictEqual(texts(stands), texts(posts))
  stands.forEach(({ referenced_posts = [] }, i) =>
    assert.strictEqual(referenced_posts.find(({ type }) => type === "replied_to")?.id, stands[i - 1]?.id)
  )
}

describe("a thread", () => {
  it.effect("is posted in its order, each part in reply to the one before, and once", () =>
    Effect.gen(function*() {
      const line = yield* Threads.make()
      const journal = Journal.makeMemory()
      const posts = thread("a")
      const publisher = yield* Threads.start(line, journal)
      const published = yield* Threads.toEnd(publisher.publish(posts, { key: "a" }))
      assert.deepStrictEqual(line.state.requests, ["GET /2/users/me", ...posts.map(() => "POST /2/posts")])
      const stands = yield* line.posts()
      assertStands(stands, posts)
      assert.deepStrictEqual(published, {
        posts: stands.map(({ id, text }) => ({ id, text, media: [] })),
        resumed: false,
        abandoned: false
      })
      // Again, by another process.
      line.state.requests = []
      const other = yield* Threads.start(line, journal)
      assert.deepStrictEqual(yield* Threads.toEnd(other.publish(posts, { key: "a" })), { ...published, resumed: true })
      assert.deepStrictEqual(line.state.requests, [])
    }))

  it.effect("goes on whatever becomes of a request, and posts no part twice", () =>
    Effect.gen(function*() {
      const line = yield* Threads.make()
      const publisher = yield* Threads.start(line, Journal.makeMemory())
      for (const fate of ["lost", "failed late", "unreadable", "vanished", "failed", "late"] as const) {
        for (const kind of [thread, polls]) {
          for (const nth of [1, 2, 3]) {
            const key = `${fate} ${nth} ${kind.name}`
            const since = (yield* line.posts()).at(-1)?.id
            const posts = kind(encodeURI(key))
            line.state.lag = Threads.longestLag
            line.state.fates = [...Array.from({ length: nth - 1 }, () => "answered" as const), fate]
            const published = yield* Threads.toEnd(publisher.publish(posts, { key }))
            const stands = yield* line.posts(since)
            assertStands(stands, posts)
            assert.deepStrictEqual(published.posts.map(({ id }) => id), stands.map(({ id }) => id), key)
          }
        }
      }
    }))
})
