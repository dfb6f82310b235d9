import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { HttpBody, HttpClientRequest } from "effect/http"
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { StoreUnavailable } from "../src/store/Store.ts"
import { make } from "./support/Requests.ts"

const mount = (path: string): void => {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", path], { stdio: "ignore" })
}

const mayMount = (): boolean => {
  const path = mkdtempSync(join(tmpdir(), "postwire-mount-"))
  try {
    mount(path)
    execFileSync("umount", [path])
    return true
  } catch {
    return false
  } finally {
    rmSync(path, { recursive: true })
  }
}

const smallDisk = Effect.acquireRelease(
  Effect.sync(() => {
    const path = mkdtempSync(join(tmpdir(), "postwire-full-"))
    mount(path)
    return path
  }),
  (path) =>
    Effect.sync(() => {
      execFileSync("umount", [path])
      rmSync(path, { recursive: true })
    })
)

/** Takes all the room that there is. */
const fill = (path: string): void => {
  assert.throws(() => writeFileSync(join(path, "ballast"), Buffer.alloc(4_000_000)), /ENOSPC/)
}

describe.skipIf(!mayMount())("a full disk, where this user may mount one,", () => {
  it.effect("is told in words, and nothing is lost", () =>
    Effect.gen(function*() {
      const disk = yield* smallDisk
      const bench = yield* make({ file: join(disk, "state.sqlite"), posts: 0 })
      const { http, request, sandbox } = bench
      const admin = Effect.fnUntraced(function*(method: "GET" | "POST" | "PUT", path: string, body?: Uint8Array) {
        const response = yield* http.execute(
          HttpClientRequest.make(method)(`${bench.baseUrl}/_sandbox${path}`, {
            headers: { authorization: `Bearer ${Redacted.value(sandbox.adminToken)}` },
            body: body === undefined ? HttpBody.empty : HttpBody.uint8Array(body)
          })
        )
        const { detail } = (yield* response.json) as { readonly detail?: string }
        return [response.status, detail?.replace(/;.*/, "")]
      })
      // Long posts are for the verified.
      const { bearerToken } = sandbox.user({ verified: "blue" }).settings()
      const post = (text: string) =>
        Effect.map(
          request("POST", "/2/posts", { as: { header: `Bearer ${bearerToken}` }, body: { text } }),
          ({ body, status }) => [status, body.detail?.replace(/;.*/, "")]
        )
      assert.deepStrictEqual(yield* post("before"), [201, undefined])
      const snapshot = sandbox.snapshot()
      assert.deepStrictEqual(yield* post("x".repeat(20_000)), [201, undefined])
      assert.deepStrictEqual(yield* admin("GET", "/health"), [200, undefined])
      fill(disk)
      const counts = sandbox.store.counts()
      const full = [507, "The disk of the sandbox is full"]
      assert.deepStrictEqual(yield* post("y".repeat(25_000)), full)
      assert.deepStrictEqual(yield* admin("PUT", "/snapshot", snapshot), full)
      assert.deepStrictEqual(yield* admin("POST", "/seed"), full)
      assert.deepStrictEqual(yield* admin("GET", "/health"), full)
      assert.deepStrictEqual(sandbox.store.counts(), counts)
      assert.strictEqual((yield* request("GET", "/2/users/me")).status, 200)
      const error = yield* Effect.flip(make({ file: join(disk, "other.sqlite"), posts: 0 }))
      assert.instanceOf(error, StoreUnavailable)
      rmSync(join(disk, "ballast"))
      assert.deepStrictEqual(yield* admin("GET", "/health"), [200, undefined])
      assert.deepStrictEqual(yield* post("after"), [201, undefined])
      // What was read meanwhile is on the bill.
      const [app] = sandbox.bill.statement().apps
      assert.isTrue(app?.lines.some(({ operation }) => operation === "getMe"))
      assert.deepStrictEqual(yield* admin("PUT", "/snapshot", snapshot), [200, undefined])
      assert.strictEqual(sandbox.store.counts().posts, 1)
    }))
})
