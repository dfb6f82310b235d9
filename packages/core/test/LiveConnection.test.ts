import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope, Stream } from "effect"
import type { Definition } from "../src/Definition.ts"
import * as Errors from "../src/Errors.ts"
import { open } from "../src/internal/LiveConnection.ts"
import * as LiveDecoding from "../src/internal/LiveDecoding.ts"
import { Post } from "../src/models/Post.ts"
import { one } from "../src/Response.ts"
import { make, type Received, secrets } from "./support/Service.ts"

const definition: Definition = {
  name: "streamPosts",
  summary: "Posts as they are made.",
  route: "GET /2/posts/search/stream",
  result: one(Post),
  bearer: "app",
  scopes: [],
  limits: {},
  price: { read: "post" },
  effect: "read"
}

const encode = (text: string) => new TextEncoder().encode(text)

/** A service that sends what it is given, and does not end. */
const streaming = (status = 200) => {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let isCancelled = false
  const service = make((_: Received) => ({
    status,
    body: new ReadableStream<Uint8Array>({
      start: (own) => {
        controller = own
      },
      cancel: () => {
        isCancelled = true
      }
    })
  }))
  return {
    ...service,
    send: (text: string) => controller!.enqueue(encode(text)),
    end: () => controller!.close(),
    fail: (error: unknown) => controller!.error(error),
    isCancelled: () => isCancelled
  }
}

describe("a connection", () => {
  it.effect("gives what has come while more is to come", () =>
    Effect.gen(function*() {
      const service = streaming()
      const scope = yield* Scope.make()
      const opened = yield* Effect.provide(open(definition, {}), service.layer()).pipe(Scope.provide(scope))
      assert.strictEqual(service.requests[0]?.headers["accept-encoding"], "identity")
      service.send("{\"data\":{\"id\":\"1\",\"text\":\"a\"},\"matching_rules\":[{\"id\":\"7\",\"tag\":\"b\"}]}\r\n\r\n")
      const [item, keepAlive] = yield* Stream.runCollect(Stream.take(opened.entries, 2))
      assert.isTrue(LiveDecoding.isItem(item!) && "post" in item)
      assert.deepStrictEqual(JSON.parse(JSON.stringify(item)), {
        data: { id: "1", text: "a" },
        matching_rules: [{ id: "7", tag: "b" }]
      })
      assert.deepStrictEqual(keepAlive, { _tag: "KeepAlive" })
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(service.isCancelled())
    }))

  it.effect("tells what was told before it ended", () =>
    Effect.gen(function*() {
      const service = streaming()
      const opened = yield* Effect.provide(open(definition, {}), service.layer())
      service.send(
        "{\"errors\":[{\"title\":\"operational-disconnect\",\"disconnect_type\":\"ForceDisconnect\"}]}\r\n{\"da"
      )
      service.end()
      assert.deepStrictEqual(yield* Stream.runCollect(opened.entries), [
        {
          _tag: "Problems",
          problems: [{ title: "operational-disconnect", disconnect_type: "ForceDisconnect" }],
          disconnectType: "ForceDisconnect"
        },
        { _tag: "Unreadable", reason: "the line is not JSON" }
      ])
    }))

  it.effect("fails when it breaks off, without credentials", () =>
    Effect.gen(function*() {
      const service = streaming()
      const opened = yield* Effect.provide(open(definition, {}), service.layer())
      service.fail(new Error(`reset ${secrets.bearerToken}`))
      const error = yield* Effect.flip(Stream.runDrain(opened.entries))
      assert.instanceOf(error, Errors.TransportFailure)
      assert.strictEqual(error.phase, "body")
      assert.notInclude(JSON.stringify(error) + error.message, secrets.bearerToken)
    }))
})
