import { assert, describe, it } from "@effect/vitest"
import { Post } from "@postwire/core/schema/models/Post"
import { User } from "@postwire/core/schema/models/User"
import * as Response from "@postwire/core/schema/Response"
import { Effect, Schema } from "effect"
import * as Projection from "../src/projection/Projection.ts"
import { Store } from "../src/store/Store.ts"

const now = Date.UTC(2026, 10, 20, 12)

const setting = Effect.gen(function*() {
  const store = yield* Store.open({ file: ":memory:" })
  const ada = store.users.insert({ username: "ada", name: "Ada", createdAt: now - 9e9 })
  const first = store.posts.insert({ authorId: ada, text: "one @ada", createdAt: now })
  const second = store.posts.insert({ authorId: ada, text: "two", createdAt: now, quotedPostId: first })
  const project = (result: Response.Result, selection: Projection.Selection, data: unknown) =>
    Projection.project(
      { store, now, viewer: { userId: undefined }, origin: "http://localhost", wire: "neutral" },
      result,
      selection,
      data
    )
  return { store, ada, first, second, project }
})

const post = Response.one(Post)

describe("Projection", () => {
  it.effect("leaves plain values and nothing alone", () =>
    Effect.gen(function*() {
      const { project } = yield* setting
      const data = { liked: true }
      const nothing = { includes: undefined, errors: [], resources: [] }
      const value = Response.value(Schema.Struct({ liked: Schema.Boolean }))
      assert.deepStrictEqual(project(value, { post_fields: ["lang"] }, data), { data, ...nothing })
      assert.deepStrictEqual(project(post, { expansions: ["author_id"] }, undefined), { data: undefined, ...nothing })
      assert.deepStrictEqual(project(Response.many(Post), { expansions: ["author_id"] }, []).data, [])
    }))

  it.effect("selects the defaults and what is asked for, in the order of the model, as far as it is there", () =>
    Effect.gen(function*() {
      const { first, project, store } = yield* setting
      const full = store.posts.byId(first)
      const keys = (...post_fields: ReadonlyArray<string>) =>
        Object.keys(project(post, { post_fields }, full).data as object)
      assert.deepStrictEqual(keys(), ["id", "text", "edit_history_post_ids"])
      assert.deepStrictEqual(keys("lang", "created_at", "lang"), [
        "id",
        "text",
        "edit_history_post_ids",
        "created_at",
        "lang"
      ])
      assert.deepStrictEqual(keys("geo", "unheard_of", "constructor", "__proto__", "extra").length, 3)
      // Fields of other models do not leak into this one.
      assert.strictEqual(
        Object.keys(project(post, { user_fields: ["lang", "created_at"] }, full).data as object).length,
        3
      )
      const user = project(Response.one(User), { user_fields: ["created_at"] }, store.users.byUsername("ada"))
      assert.deepStrictEqual(Object.keys(user.data as object), ["id", "name", "username", "created_at"])
    }))

  it.effect("every known field can be selected without a trace of the others", () =>
    Effect.gen(function*() {
      const { first, project, store } = yield* setting
      for (const name of Post.selectable) {
        const data = project(post, { post_fields: [name] }, store.posts.byId(first)).data as object
        assert.includeMembers([...Post.defaults, name], Object.keys(data))
      }
    }))

  it.effect("brings related objects once, however many refer to them", () =>
    Effect.gen(function*() {
      const { ada, first, project, second, store } = yield* setting
      const both = store.posts.byIds([second, first])
      const expansions = [
        "author_id",
        "referenced_posts.id",
        "referenced_posts.id.author_id",
        "entities.mentions.username"
      ]
      const { errors, includes } = project(Response.many(Post), { expansions, user_fields: ["verified"] }, both)
      assert.deepStrictEqual(errors, [])
      assert.deepStrictEqual(includes, {
        users: [{ id: ada, name: "Ada", username: "ada", verified: false }],
        posts: [{ id: first, text: "one @ada", edit_history_post_ids: [first], author_id: ada }]
      })
    }))

  it.effect("shows the fields that expansions start from, and no more", () =>
    Effect.gen(function*() {
      const { ada, first, project, second, store } = yield* setting
      const { data, includes } = project(
        post,
        { expansions: ["referenced_posts.id.author_id"] },
        store.posts.byId(second)
      )
      assert.deepStrictEqual(data, {
        id: second,
        text: "two",
        edit_history_post_ids: [second],
        referenced_posts: [{ type: "quoted", id: first }]
      })
      assert.deepStrictEqual(includes, {
        users: [{ id: ada, name: "Ada", username: "ada" }],
        posts: [{ id: first, text: "one @ada", edit_history_post_ids: [first], author_id: ada }]
      })
      const alone = project(post, { expansions: ["author_id"] }, store.posts.byId(second))
      assert.deepStrictEqual(alone.data, { id: second, text: "two", edit_history_post_ids: [second], author_id: ada })
    }))

  it.effect("says once what is gone, and keeps the rest", () =>
    Effect.gen(function*() {
      const { ada, first, project, second, store } = yield* setting
      const third = store.posts.insert({ authorId: ada, text: "three", createdAt: now, quotedPostId: first })
      store.posts.delete(first)
      const both = store.posts.byIds([second, third])
      const expansions = ["referenced_posts.id", "referenced_posts.id.author_id", "author_id"]
      const { errors, includes } = project(Response.many(Post), { expansions }, both)
      assert.deepStrictEqual(Object.keys(includes ?? {}), ["users"])
      assert.deepStrictEqual(errors, [{
        title: "Not Found Error",
        detail: `Could not find post with referenced_posts.id: [${first}].`,
        type: "https://api.twitter.com/2/problems/resource-not-found",
        resource_type: "post",
        resource_id: first,
        parameter: "referenced_posts.id",
        value: first,
        section: "includes"
      }])
    }))

  it.effect("knows nothing of strange expansions", () =>
    Effect.gen(function*() {
      const { first, project, store } = yield* setting
      const expansions = [
        "",
        ".",
        "id",
        "text",
        "__proto__",
        "constructor",
        "author_id.x",
        "author_id.",
        "attachments.media_keys"
      ]
      const { errors, includes } = project(post, { expansions }, store.posts.byId(first))
      assert.deepStrictEqual([errors, includes], [[], undefined])
    }))
})
