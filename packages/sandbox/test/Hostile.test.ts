import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { connect } from "node:net"
import * as Sandbox from "../src/Sandbox.ts"
import { make } from "./support/Requests.ts"

describe("without a credential", () => {
  it.effect("no fault can be asked for", () =>
    Effect.gen(function*() {
      const { request, sandbox } = yield* make()
      for (const header of [undefined, "Bearer nobody", "OAuth oauth_token=\"a\""]) {
        for (const fault of [{ status: 503 }, { delay: "1 hour" }, { reset: "before" }, { body: "huge" }, "nonsense"]) {
          const { status } = yield* request("GET", "/2/users/me", {
            as: { header },
            headers: { "x-sandbox-fault": JSON.stringify(fault) }
          })
          assert.strictEqual(status, 401)
          assert.isUndefined(sandbox.requests.at(-1)?.fault)
        }
      }
    }))

  it.effect("no body is read", () =>
    Effect.gen(function*() {
      const { request, sandbox } = yield* make()
      const { id } = sandbox.ada.post("a")
      sandbox.faults.add({ status: 503, operation: "createPost" })
      for (
        const [method, path, expected] of [
          ["POST", "/2/posts", 503],
          ["POST", "/2/posts", 401],
          // One of two operations, which the body tells apart.
          ["PUT", `/2/posts/${id}/hidden`, 401]
        ] as const
      ) {
        const { status } = yield* request(method, path, {
          as: { header: undefined },
          body: { text: "a", hidden: true }
        })
        assert.strictEqual(status, expected)
        assert.isUndefined(sandbox.requests.at(-1)?.body)
      }
    }))
})

describe("a slow client", () => {
  it.live("holds no connection beyond the bound, whatever it is answered", () =>
    Effect.promise(async () => {
      await using sandbox = await Sandbox.start({ posts: 0, requestTimeout: 100 })
      const port = Number(new URL(sandbox.baseUrl).port)
      const bearer = `Authorization: Bearer ${sandbox.settings.bearerToken}\r\n`
      const drip = async (target: string, headers: string) => {
        const socket = connect({ host: "127.0.0.1", port })
        let received = ""
        socket.setEncoding("utf8").on("data", (text) => received += text).on("error", () => {})
        socket.write(
          `${target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}` +
            "Content-Length: 1000000\r\n\r\n{"
        )
        const dripping = setInterval(() => socket.write(" "), 10)
        await new Promise((resolve) => socket.on("close", resolve))
        clearInterval(dripping)
        return received.match(/HTTP\/1\.1 \d+/g)?.map((line) => line.slice(-3)).join()
      }
      const answers = await Promise.all([
        drip("POST /2/posts", bearer),
        drip("POST /2/posts", ""),
        drip("GET /2/users/me", bearer),
        drip("POST /2/nothing", ""),
        drip("PUT /_sandbox/snapshot", "")
      ])
      // One answer each: that of the service, or on a slow machine that it was late.
      for (const [i, status] of ["408", "401", "200", "404", "401"].entries()) {
        assert.include([status, "408"], answers[i])
      }
    }))
})

describe("a state that is replaced while a request is read", () => {
  it.live("gets nothing from somebody whom it does not know", () =>
    Effect.promise(async () => {
      await using sandbox = await Sandbox.start({ posts: 0 })
      const snapshot = sandbox.snapshot()
      const { bearerToken } = sandbox.user({ username: "grace" }).settings()
      const socket = connect({ host: "127.0.0.1", port: Number(new URL(sandbox.baseUrl).port) })
      const body = "{\"text\":\"from the past\"}"
      socket.setEncoding("utf8").write(
        `POST /2/posts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${bearerToken}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body[0]}`
      )
      while (sandbox.budget.windows().length === 0) await new Promise((resolve) => setImmediate(resolve))
      sandbox.restore(snapshot)
      socket.write(body.slice(1))
      const [answer] = await once(socket, "data")
      assert.match(String(answer), /^HTTP\/1\.1 401 /)
      assert.strictEqual(sandbox.store.counts().posts, 0)
    }))
})
