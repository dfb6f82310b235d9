import { assert, describe, it } from "@effect/vitest"
import { Effect, Queue } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { host, type Options, tokensOf } from "./support/Scene.ts"

/** A host, and the file of 120 long posts of a stranger. */
const exported = Effect.fnUntraced(function*(options: Options = {}) {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-mcp-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const connected = yield* host({ folder, askAbove: 1e9, ...options })
  const { call, client, sandbox } = connected
  const grace = sandbox.user({ username: "grace" })
  for (let count = 0; count < 120; count++) grace.post(`Letter ${count} ${"x".repeat(250)}`)
  const { content, isError, text } = yield* call("read_user", { user: grace.id, show: "posts", rows: 120 })
  assert.isFalse(isError, text)
  const link = content.find((block) => block.type === "resource_link")
  const uri = link?.type === "resource_link" ? link.uri : ""
  const textOf = (uri: string) =>
    Effect.map(
      client.readResource({ uri }),
      ({ contents: [first] }) => first !== undefined && "text" in first ? first.text : ""
    )
  return { ...connected, folder, uri, textOf, grace }
})

describe("the file of an export", () => {
  it.effect("is listed as a resource, and hosts are notified", () =>
    Effect.gen(function*() {
      const { client, uri } = yield* exported()
      const { resources } = yield* client.listResources()
      assert.deepStrictEqual(resources.map((resource) => resource.uri), [uri])
      const notified = yield* Queue.takeAll(client.notifications)
      assert.include(notified.map(({ method }) => method), "notifications/resources/list_changed")
      assert.notInclude(notified.map(({ method }) => method), "notifications/progress", "no token")
    }))

  it.effect("is read within the budget, for nothing, in fences", () =>
    Effect.gen(function*() {
      const { call, sandbox, textOf, uri } = yield* exported()
      const sent = sandbox.requests.length
      const text = yield* textOf(uri)
      assert.isAtMost(tokensOf(text), 2_050)
      assert.match(text, /^getUsersPosts: 120 rows, done, .+\. The first \d+:\n/)
      assert.include(text, "|Letter 119 ")
      const next = yield* call("jobs", { cursor: /cursor (\w+)/.exec(text)?.[1] })
      assert.isFalse(next.isError, next.text)
      assert.strictEqual(sandbox.requests.length, sent)
    }))

  it.effect("shows no texts of those whom the account does not trust", () =>
    Effect.gen(function*() {
      const { grace, textOf, uri } = yield* exported({ trustedOnly: true })
      for (const address of [uri, `postwire://users/${grace.id}`]) {
        const text = yield* textOf(address)
        assert.include(text, "withheld")
        assert.notInclude(text, "Letter")
      }
    }))

  it.effect("that is gone is an error, as is any address that is no resource", () =>
    Effect.gen(function*() {
      const { client, folder, uri } = yield* exported()
      rmSync(folder, { recursive: true })
      for (
        const address of [
          uri,
          "file:///etc/hostname",
          `file://${folder}`,
          "postwire://accounts/ada",
          "postwire://users/"
        ]
      ) {
        const { code } = yield* Effect.flip(client.readResource({ uri: address }))
        assert.include([-32603, -32002], code, address)
      }
    }))
})
