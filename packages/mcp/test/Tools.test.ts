import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { host, stable } from "./support/Scene.ts"

describe("reading tools", () => {
  it.effect("play", () =>
    Effect.gen(function*() {
      const { call, client, sandbox } = yield* host()
      const grace = sandbox.user({ username: "grace", name: "Grace" })
      const post = grace.post("On compilers")
      sandbox.ada.reply(post, "Which one?")
      sandbox.ada.follows(grace)
      sandbox.ada.bookmarks(post)
      const { tools } = yield* client.listTools()
      console.log(JSON.stringify(tools).length / 4)
      for (
        const [name, input] of [
          ["search", { query: "compilers" }],
          ["search", { query: "compilers", dry_run: true }],
          ["search", { query: "compilers", count: true }],
          ["search", { query: "compilers", detail: "full" }],
          ["search", { query: "compilers", detail: "low" }],
          ["search", { quer: "compilers" }],
          ["read_thread", { id: post.id }],
          ["read_posts", { ids: [post.id, "1"] }],
          ["read_posts", { ids: [post.id], show: "likers" }],
          ["read_user", {}],
          ["read_user", { user: "@grace", show: "posts" }],
          ["read_user", { user: "nobody", show: "posts" }],
          ["timeline", {}],
          ["lists", {}],
          ["bookmarks", {}],
          ["trends", {}],
          ["messages", {}],
          ["jobs", {}],
          ["spend", {}],
          ["find_operation", { query: "mute" }],
          ["find_operation", { query: "getMuted" }],
          ["call_operation", { name: "getUsage" }],
          ["call_operation", { name: "getUserx" }],
          ["call_operation", { name: "mute", parameters: { target_user_id: "1" } }]
        ] as const
      ) {
        const { isError, text } = yield* call(name, input)
        console.log(`${name} ${JSON.stringify(input)} ${isError ? "ERROR" : ""}\n${stable(text)}\n`)
      }
      assert.isTrue(true)
    }))
})
