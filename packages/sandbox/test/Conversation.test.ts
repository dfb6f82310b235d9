/** Conversations of the sandbox, read by the client: what is there, and what is missing and why. */
import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import { names } from "@postwire/core/wire/Wire"
import * as Conversation from "@postwire/core/workflows/Conversation"
import { getConversation } from "@postwire/core/workflows/Conversation"
import { Effect, Layer, Option, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as Requests from "./support/Requests.ts"

/** A line of a tree: how deep, what, and of whom. */
const shown = ({ nodes }: Conversation.Conversation) =>
  nodes.map(({ author, depth, missing, post, unseen }) =>
    `${"  ".repeat(depth)}${post === undefined ? missing?.reason : `${author?.username}: ${post.text}`}${
      unseen === 0 ? "" : ` +${unseen}`
    }`
  )

const scene = Effect.fnUntraced(function*() {
  const bench = yield* Requests.make({ posts: 0 })
  const { sandbox } = bench
  const ada = sandbox.ada
  const [bo, cy, di] = [
    sandbox.user({ username: "bo" }),
    sandbox.user({ username: "cy" }),
    sandbox.user({ username: "di", protected: true })
  ]
  return { ...bench, ada, bo, cy, di }
})

/** A search leaves the latest half minute out. */
const settle = TestClock.adjust("1 minute")

const hoursAgo = (hours: number) => new Date(Requests.now - hours * 3_600_000)

describe("a conversation", () => {
  it.effect.each(names)(
    "has every reply below what it replies to, the oldest first: wire %s",
    (wire) =>
      Effect.gen(function*() {
        const { ada, bo, client, cy } = yield* scene()
        const root = ada.post("root")
        const first = bo.reply(root, "first")
        const second = cy.reply(root, "second")
        const deep = ada.reply(first, "deep")
        const deeper = bo.reply(deep, "deeper")
        cy.quote(root, { text: "a quote is another conversation" })
        yield* settle
        const expected = ["ada: root", "  bo: first", "    ada: deep", "      bo: deeper", "  cy: second"]
        for (const id of [root.id, deeper.id, second.id]) {
          const tree = yield* Effect.provide(getConversation(id), client(wire))
          assert.deepStrictEqual(shown(tree), expected)
          assert.deepInclude(tree, { id: root.id, posts: 5, missing: [], outOfReach: undefined })
          assert.deepStrictEqual(tree.nodes.map(({ parent }) => parent), [
            undefined,
            root.id,
            first.id,
            deep.id,
            root.id
          ])
        }
        const parts = yield* Stream.runCollect(getConversation.parts(root.id)).pipe(Effect.provide(client(wire)))
        assert.deepStrictEqual(
          parts.map((part) => part._tag === "Post" ? part.post.text : part._tag),
          ["root", "deeper", "deep", "second", "first"]
        )
      })
  )

  it.effect("tells what is deleted and what is hidden, and keeps what replies to it", () =>
    Effect.gen(function*() {
      const { ada, bo, client, cy, di, sandbox } = yield* scene()
      const root = ada.post("root")
      const gone = bo.reply(root, "gone")
      bo.reply(gone, "below what is gone")
      const hidden = di.reply(root, "hidden")
      bo.reply(hidden, "below what is hidden")
      const banned = cy.reply(root, "banned")
      bo.reply(banned, "below what is banned")
      sandbox.store.posts.delete(gone.id)
      cy.suspended()
      yield* settle
      const asApp = client("neutral", { bearerToken: sandbox.seeded.appBearerToken })
      const tree = yield* Effect.provide(getConversation(root.id), asApp)
      assert.sameMembers(tree.missing.map(({ id, reason }) => `${id} ${reason}`), [
        `${gone.id} deleted`,
        `${hidden.id} protected`,
        `${banned.id} protected`
      ])
      assert.strictEqual(tree.posts, 4)
      assert.deepStrictEqual(shown(tree).slice(1), [
        "  deleted",
        "    bo: below what is gone",
        "  protected",
        "    bo: below what is hidden",
        "  protected",
        "    bo: below what is banned"
      ])
    }))

  it.effect("of which the first post is gone is read by the id of that", () =>
    Effect.gen(function*() {
      const { ada, bo, client, sandbox } = yield* scene()
      const root = ada.post("root")
      bo.reply(root, "left")
      sandbox.store.posts.delete(root.id)
      yield* settle
      const tree = yield* Effect.provide(getConversation(root.id), client())
      assert.deepStrictEqual(shown(tree), ["deleted", "  bo: left"])
      assert.strictEqual(tree.missing[0]?.detail?.includes(root.id), true)
    }))

  it.effect("that is older than a search reaches has what newer posts lead to, and tells the rest", () =>
    Effect.gen(function*() {
      const { ada, bo, client, cy, sandbox } = yield* scene()
      const root = ada.post({ text: "root", at: hoursAgo(300) })
      const old = bo.reply(root, { text: "old", at: hoursAgo(290) })
      cy.reply(root, { text: "out of reach", at: hoursAgo(280) })
      const older = cy.reply(old, { text: "old below", at: hoursAgo(270) })
      ada.reply(older, { text: "new", at: hoursAgo(3) })
      const tree = yield* Effect.provide(getConversation(root.id), client())
      assert.deepStrictEqual(shown(tree), [
        "ada: root +1",
        "  bo: old",
        "    cy: old below",
        "      ada: new"
      ])
      assert.deepStrictEqual(tree.outOfReach, {
        from: hoursAgo(300).toISOString(),
        to: `${hoursAgo(168).toISOString().slice(0, 19)}Z`
      })
      assert.deepStrictEqual(sandbox.requests.map(({ operation }) => operation), [
        "getPosts",
        "searchRecentPosts",
        "getPosts",
        "getPosts"
      ])
      const all = yield* Effect.provide(getConversation(root.id, { archive: true, authors: false }), client())
      assert.deepStrictEqual(all.nodes.map(({ post }) => post?.text), [
        "root",
        "old",
        "old below",
        "new",
        "out of reach"
      ])
      assert.isUndefined(all.outOfReach)
      assert.isTrue(all.nodes.every(({ author }) => author === undefined))
    }))

  it.effect("goes on from the cursor of any page, and brings no post twice", () =>
    Effect.gen(function*() {
      const { ada, bo, client, cy } = yield* scene()
      const root = ada.post({ text: "root", at: hoursAgo(400) })
      const old = Array.from(
        { length: 150 },
        (_, i) => bo.reply(root, { text: `old ${i}`, at: hoursAgo(300 - i / 10) })
      )
      const replies = [root, ...old]
      for (let i = 0; i < 250; i++) {
        const to = replies[(i * 7919) % replies.length] ?? root
        replies.push((i % 2 === 0 ? cy : ada).reply(to, { text: `new ${i}`, at: hoursAgo(100 - i / 10) }))
      }
      const read = Effect.gen(function*() {
        const opened = yield* Conversation.open(root.id)
        const whole = yield* Stream.runCollect(Conversation.pages(opened))
        // As if every page was read by another process.
        const pieces: Array<Conversation.Page> = []
        for (let cursor: string | undefined;;) {
          const page = yield* Stream.runHead(Conversation.pages(opened, {}, cursor))
          if (Option.isNone(page)) break
          pieces.push(page.value)
          cursor = page.value.next
          if (cursor === undefined) break
        }
        return [whole, pieces].map((pages) => pages.flatMap(({ items }) => items.map(({ id }) => id)))
      })
      const [whole = [], pieces = []] = yield* Effect.provide(read, client())
      assert.deepStrictEqual(pieces, whole)
      assert.lengthOf(new Set(whole), whole.length)
      // Those that nothing newer leads to are out of reach.
      assert.isAbove(whole.length, 300)
      assert.isBelow(whole.length, 401)
    }))

  it.effect("may be far deeper than calls can nest", () =>
    Effect.sync(() => {
      const depth = 20_000
      const parts = Array.from({ length: depth }, (_, i): Conversation.Part => ({
        _tag: "Post",
        author: undefined,
        post: {
          id: String(i + 1),
          text: "",
          edit_history_post_ids: [],
          ...(i === 0 ? {} : { referenced_posts: [{ type: "replied_to", id: String(i) }] })
        }
      }))
      const { nodes } = Conversation.treeOf("1", parts.toReversed())
      assert.strictEqual(nodes.at(-1)?.depth, depth - 1)
      assert.strictEqual(JSON.parse(JSON.stringify(nodes)).length, depth)
    }))

  it.effect("is whole although a reference and a time in it are nonsense", () =>
    Effect.gen(function*() {
      const { ada, bo, http, sandbox, secrets } = yield* scene()
      const root = ada.post("root")
      const reply = bo.reply(root, "reply")
      yield* settle
      const odd = HttpClient.make((request) =>
        Effect.flatMap(http.execute(request), (response) =>
          Effect.map(response.text, (text) =>
            HttpClientResponse.fromWeb(
              request,
              new Response(
                text.replaceAll(`"id":"${root.id}","type":"replied_to"`, `"id":"no id","type":"replied_to"`)
                  .replaceAll(`"type":"replied_to","id":"${root.id}"`, `"type":"replied_to","id":"no id"`)
                  .replaceAll(/"created_at":"[^"]*"/g, `"created_at":"no time"`),
                { status: response.status }
              )
            )))
      )
      const tree = yield* getConversation(root.id).pipe(
        Effect.provide(
          Client.layer({ baseUrl: sandbox.baseUrl }).pipe(
            Layer.provide([Credentials.layer(secrets), Layer.succeed(HttpClient.HttpClient, odd)])
          )
        )
      )
      assert.sameMembers(
        tree.nodes.map(({ id }) =>
          id
        ),
        [root.id, reply.id]
      )
    }))

  it.effect("is refused by its own name", () =>
    Effect.gen(function*() {
      const { client } = yield* scene()
      const error = yield* Effect.flip(Effect.provide(getConversation("no id"), client()))
      assert.include(error.message, "getConversation: id ")
    }))
})
