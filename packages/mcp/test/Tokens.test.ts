// What the server costs a model, beside a server with one tool for each operation and the service's JSON. docs/agents.md has these figures.
import { assert, describe, it } from "@effect/vitest"
import { parametersOf } from "@postwire/core/schema/Definition"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import * as Inputs from "../src/session/Inputs.ts"
import * as Operations from "../src/session/Operations.ts"
import { host, tokensOf } from "./support/Scene.ts"

const guide = readFileSync(new URL("../../../docs/agents.md", import.meta.url), "utf8")

/** Figures of a guide are rounded, so that they change seldom. */
const rounded = (tokens: number): string => (Math.round(tokens / 50) * 50).toLocaleString("en")

/** One tool for each operation, with the same schema function, descriptions and annotations. */
const oneEach = Operations.callable.map((definition) => ({
  name: definition.name,
  title: definition.name,
  description: definition.summary,
  inputSchema: Inputs.jsonSchema(parametersOf(definition), {}),
  annotations: {
    readOnlyHint: definition.effect === "read",
    destructiveHint: definition.effect !== "read",
    idempotentHint: definition.effect === "read",
    openWorldHint: true
  }
}))

describe("tokens", () => {
  it.effect("of the list are those of the guide, and less than a fifth of those of one tool for each operation", () =>
    Effect.gen(function*() {
      const list = (allowWrites: boolean) =>
        Effect.map(
          Effect.flatMap(host({ allowWrites }), ({ client }) => client.listTools()),
          ({ tools }) => ({ count: tools.length, tokens: tokensOf(JSON.stringify(tools)) })
        )
      const [reads, writes] = [yield* list(false), yield* list(true)]
      const each = { count: oneEach.length, tokens: tokensOf(JSON.stringify(oneEach)) }
      for (const { count, tokens } of [reads, writes, each]) assert.include(guide, `| ${count} | ${rounded(tokens)} |`)
      assert.isBelow(writes.tokens * 5, each.tokens)
    }))

  it.effect("of ten typical answers are less than half of those of the service's JSON for the same requests", () =>
    Effect.gen(function*() {
      const { call, sandbox } = yield* host({ posts: 1_000, askAbove: 10_000_000, spendLimit: { total: 20 } })
      sandbox.clock.advance("2 minutes")
      const grace = sandbox.user({ username: "grace", description: "Compilers and ships" })
      const post = grace.post("On compilers")
      for (const word of ["Which", "Why", "When"]) sandbox.ada.reply(post, `${word}?`)
      sandbox.ada.follows(grace).bookmarks(post)
      let [ours, theirs] = [0, 0]
      for (
        const [name, input] of [
          ["search", { query: "effect" }],
          ["search", { query: "effect", detail: "low" }],
          ["search", { query: "effect", count: true }],
          ["read_thread", { id: post.id }],
          ["read_posts", { ids: [post.id] }],
          ["read_user", {}],
          ["read_user", { user: "grace", show: "posts" }],
          ["timeline", {}],
          ["lists", {}],
          ["messages", {}]
        ] as const
      ) {
        const before = sandbox.requests.length
        const { isError, text } = yield* call(name, { ...input, max_tokens: 20_000 })
        assert.isFalse(isError, text)
        const json = sandbox.requests.slice(before)
          .map(({ id }) => tokensOf(sandbox.journal.response(id)?.body ?? ""))
          .reduce((sum, tokens) => sum + tokens, 0)
        ours += tokensOf(text)
        theirs += json
      }
      assert.isBelow(ours * 2, theirs)
      assert.include(guide, `${rounded(ours)} tokens, the service's JSON ${rounded(theirs)}`)
    }))
})
