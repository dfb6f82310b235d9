import { assert, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Server from "../src/server/Server.ts"
import * as Tools from "../src/server/Tools.ts"
import { host, tokensOf } from "./support/Scene.ts"

const names = (settings: Parameters<typeof Tools.of>[0]) => Tools.of(settings).map(({ name }) => name)

describe("the surface of the server", () => {
  it.effect("is the checked-in one, which a review shows", () =>
    Effect.gen(function*() {
      const { client } = yield* host()
      const { tools } = yield* client.listTools()
      const { resourceTemplates } = yield* client.listResourceTemplates()
      const { client: writing } = yield* host({ allowWrites: true })
      const prompts = yield* Effect.forEach(
        (yield* writing.listPrompts()).prompts,
        ({ arguments: inputs = [], ...prompt }) =>
          Effect.map(
            writing.getPrompt({
              name: prompt.name,
              arguments: Object.fromEntries(inputs.map(({ name }) => [name, `{${name}}`]))
            }),
            ({ messages }) => ({ ...prompt, arguments: inputs, messages })
          )
      )
      const surface = `${
        JSON.stringify({ instructions: Server.instructions, tools, resourceTemplates, prompts }, undefined, 1)
      }\n`
      yield* Effect.promise(() => expect(surface).toMatchFileSnapshot("./fixtures/surface.json"))
    }))

  it.effect("takes 4,000 tokens at most, with all tools", () =>
    Effect.gen(function*() {
      for (const allowWrites of [false, true]) {
        const { client } = yield* host({ allowWrites })
        const { tools } = yield* client.listTools()
        assert.isAtMost(tokensOf(JSON.stringify(tools)), 4_000)
      }
    }))

  it.effect("has annotations that are right for each tool", () =>
    Effect.gen(function*() {
      const { client } = yield* host()
      const { tools } = yield* client.listTools()
      for (const { annotations, name } of tools) {
        assert.deepInclude(annotations, { readOnlyHint: true, destructiveHint: false }, name)
        assert.strictEqual(annotations?.openWorldHint, name !== "spend" && name !== "find_operation", name)
      }
    }))

  it("offers the chosen sets, and only tools for which the account has the scopes", () => {
    assert.deepStrictEqual(names({ toolsets: ["users", "trends"] }), ["read_user", "trends", "spend"])
    assert.deepStrictEqual(names({ scopes: ["post.read", "users.read"] }), [
      "search",
      "read_thread",
      "read_posts",
      "read_user",
      "timeline",
      "trends",
      "jobs",
      "spend",
      "find_operation",
      "call_operation"
    ])
  })
})
