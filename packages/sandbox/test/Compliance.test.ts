import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import type * as Errors from "@postwire/core/errors/Errors"
import { createComplianceJob, getComplianceJob, getComplianceJobs } from "@postwire/core/operations/ComplianceJobs"
import * as Compliance from "@postwire/core/workflows/Compliance"
import { createClient } from "@postwire/node"
import { Effect, Fiber, Layer, Stream } from "effect"
import { HttpBody, HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { start } from "../src/Sandbox.ts"
import { type Bench, day, make, minute, now } from "./support/Requests.ts"

const app = ({ client, secrets }: Bench, wire: "neutral" | "x" | "x-2026-02" = "neutral") =>
  client(wire, { bearerToken: secrets.appToken })

/** Runs what waits for the service, whose clock is moved on meanwhile. */
const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect)
    for (let i = 0; i < 20 && fiber.pollUnsafe() === undefined; i++) yield* TestClock.adjust(30_000)
    return yield* Fiber.join(fiber)
  })

const reasons = (results: ReadonlyArray<Compliance.Result>) => results.map(({ id, reason }) => [id, reason])

/** The data of an answer. */
const job = { type: "posts" } as const

describe("compliance jobs", () => {
  it.effect("are made with 200, and one of a type at a time", () =>
    Effect.gen(function*() {
      const { request } = yield* make({ posts: 0 })
      const create = request("POST", "/2/compliance/jobs", { as: "app", body: { type: "tweets" } })
      const { body, status } = yield* create
      assert.deepStrictEqual([status, body.data.type], [200, "tweets"])
      const second = yield* create
      assert.strictEqual(second.status, 400)
      assert.notInclude(JSON.stringify(second.body), "posts")
    }))

  for (const wire of ["neutral", "x", "x-2026-02"] as const) {
    it.effect(`tell what became of posts and users, in the words of ${wire}`, () =>
      Effect.gen(function*() {
        const bench = yield* make({ posts: 0, wire })
        const { ada, sandbox, store } = bench
        const [fine, gone, placed] = [ada.post("fine"), ada.post("gone"), ada.post("placed")]
        const [secret, banned] = [sandbox.user({ protected: true }), sandbox.user({})]
        const [hidden, taken] = [secret.post("hidden"), banned.post("taken")]
        banned.suspended()
        ada.scrubsGeo(placed)
        store.posts.delete(gone.id)
        const check = (type: Compliance.Type, ids: Compliance.Ids) =>
          inTime(Stream.runCollect(Compliance.check({ type, ids }))).pipe(Effect.provide(app(bench, wire)))
        const posts = [hidden.id, fine.id, gone.id, taken.id, "1", placed.id]
        assert.deepStrictEqual(reasons(yield* check("posts", posts)), [
          [hidden.id, "protected"],
          [gone.id, "deleted"],
          [taken.id, "suspended"],
          ["1", "deleted"],
          [placed.id, "scrub_geo"]
        ])
        const users = yield* check("users", new Blob([`${ada.id}\r\n${secret.id}\n\n${banned.id}\n9`]))
        assert.deepStrictEqual(reasons(users), [[secret.id, "protected"], [banned.id, "suspended"], ["9", "deleted"]])
        assert.deepInclude(users[0], { action: "delete" })
        assert.isAtMost(Date.parse(users[0]?.created_at ?? ""), now)
        const listed = yield* getComplianceJobs({ type: "posts" }).pipe(Effect.provide(app(bench, wire)))
        assert.deepStrictEqual(listed.data?.map(({ status, type }) => [type, status]), [["posts", "complete"]])
      }))
  }

  it.effect("are created, wait for their ids, are worked on by the clock, and have their times", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      yield* Effect.gen(function*() {
        const { data } = yield* createComplianceJob({ ...job, name: "archive" })
        assert.deepInclude(data, {
          type: "posts",
          status: "created",
          name: "archive",
          resumable: false,
          created_at: new Date(now).toISOString(),
          upload_expires_at: new Date(now + 15 * minute).toISOString(),
          download_expires_at: new Date(now + 7 * day).toISOString()
        })
        const second = yield* Effect.flip(createComplianceJob(job))
        assert.strictEqual(second._tag, "BadRequest")
        yield* createComplianceJob({ type: "users" })
        const status = Effect.map(getComplianceJob({ id: data!.id }), ({ data }) => data?.status)
        assert.strictEqual(
          (yield* Effect.flip(Stream.runCollect(Compliance.results(data!))))._tag,
          "ComplianceNotComplete"
        )
        assert.strictEqual(yield* Compliance.upload(data!, [1n, 2, "3"]), 3)
        assert.strictEqual(yield* status, "in_progress")
        yield* TestClock.adjust(1_000)
        assert.strictEqual(yield* status, "complete")
        assert.strictEqual(yield* Stream.runCount(Compliance.results(data!)), 3)
        assert.deepStrictEqual(
          (yield* getComplianceJobs({ ...job, status: "created" })).meta,
          { result_count: 0 }
        )
        yield* TestClock.adjust(7 * day)
        const late = yield* Effect.flip(Stream.runCollect(Compliance.results({ id: data!.id })))
        assert.deepInclude(late, { _tag: "ComplianceExpired", what: "download" })
      }).pipe(Effect.provide(app(bench)))
    }))

  it.effect("have as many ids as they may, and follow one another", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const steps: Array<string> = []
      const ids = [1, "2", 3n, "4", "5"]
      const check = Compliance.check({
        ...job,
        ids,
        idsPerJob: 2,
        onProgress: ({ ids, phase }) => steps.push(`${phase} ${ids}`)
      })
      yield* Effect.gen(function*() {
        const results = yield* inTime(Stream.runCollect(check))
        assert.deepStrictEqual(results.map(({ id }) => id), ids.map(String))
        assert.deepStrictEqual(
          steps,
          [0, 2, 4].flatMap((sent) => [
            `upload ${sent}`,
            `wait ${Math.min(sent + 2, 5)}`,
            `results ${Math.min(sent + 2, 5)}`
          ])
        )
        assert.lengthOf((yield* getComplianceJobs(job)).data ?? [], 3)
        for (const idsPerJob of [0, 1.5]) {
          const refused = yield* Effect.flip(Stream.runDrain(Compliance.check({ ...job, ids, idsPerJob })))
          assert.deepInclude(refused, { _tag: "InvalidParameters", parameter: "idsPerJob" })
        }
      }).pipe(Effect.provide(app(bench)))
    }))

  it.effect("take no ids after their time, and expire without any", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      yield* Effect.gen(function*() {
        const { data } = yield* createComplianceJob(job)
        yield* TestClock.adjust(15 * minute)
        assert.deepInclude(yield* Effect.flip(Compliance.upload(data!, ["1"])), {
          _tag: "ComplianceExpired",
          what: "upload"
        })
        // The address itself refuses, too.
        const { upload_expires_at: _, ...timeless } = data!
        assert.deepInclude(yield* Effect.flip(Compliance.upload(timeless, ["1"])), {
          _tag: "ComplianceRefused",
          status: 400
        })
        assert.deepInclude(yield* Effect.flip(Compliance.wait(data!)), { _tag: "ComplianceExpired", what: "job" })
        assert.isDefined((yield* createComplianceJob(job)).data)
      }).pipe(Effect.provide(app(bench)))
    }))

  it.effect("fail on what is no text of ids, and say so", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      yield* Effect.gen(function*() {
        const { data } = yield* createComplianceJob(job)
        const sent = yield* bench.http.put(data!.upload_url, { body: HttpBody.text("1\nada\n", "text/plain") })
        assert.strictEqual(sent.status, 200)
        yield* TestClock.adjust(1_000)
        assert.deepInclude(yield* Effect.flip(Compliance.wait(data!)), { _tag: "ComplianceFailed", jobId: data!.id })
      }).pipe(Effect.provide(app(bench)))
    }))

  it.effect("are for apps alone, and each sees its own", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const mine = yield* createComplianceJob(job).pipe(Effect.provide(app(bench)))
      const byUser = yield* Effect.flip(getComplianceJobs(job)).pipe(
        Effect.provide(bench.client())
      ) as Effect.Effect<Errors.Forbidden>
      assert.deepInclude(byUser, { _tag: "Forbidden", title: "Unsupported Authentication" })
      const { body } = yield* bench.request("GET", `/2/compliance/jobs/${mine.data!.id}`, { as: bench.newcomer() })
      assert.deepInclude(body.errors[0], { resource_type: "compliance_job", resource_id: mine.data!.id })
      assert.deepStrictEqual(
        (yield* bench.request("GET", "/2/compliance/jobs?type=tweets", { as: bench.newcomer() })).body,
        { meta: { result_count: 0 } }
      )
    }))
})

describe("the addresses of compliance jobs", () => {
  it.effect("are the permission: no credential goes there, and nobody without them gets in", () =>
    Effect.gen(function*() {
      const bench = yield* make({ posts: 0 })
      const { ada, sandbox } = bench
      const seen: Array<readonly [path: string, hasCredential: boolean]> = []
      const http = HttpClient.mapRequest(bench.http, (request) => {
        const { pathname } = new URL(request.url)
        seen.push([pathname.replace(/\d+/g, ":id"), "authorization" in request.headers])
        return request
      })
      const client = Client.layer({ baseUrl: sandbox.baseUrl }).pipe(
        Layer.provide([
          Credentials.layer({ bearerToken: bench.secrets.appToken }),
          Layer.succeed(HttpClient.HttpClient, http)
        ])
      )
      yield* inTime(Stream.runDrain(Compliance.check({ type: "users", ids: [ada.id, 1] }))).pipe(Effect.provide(client))
      assert.deepStrictEqual(seen, [
        ["/:id/compliance/jobs", true],
        ["/compliance/:id/submission", false],
        ["/:id/compliance/jobs/:id", true],
        ["/:id/compliance/jobs/:id", true],
        ["/compliance/:id/results", false]
      ])
      const { data } = yield* createComplianceJob(job).pipe(Effect.provide(app(bench)))
      const [path] = data!.upload_url.split("?")
      for (const url of [path!, `${path}?signature=`, `${path}?signature=${"0".repeat(48)}`]) {
        const response = yield* bench.http.put(url, { headers: { "content-type": "text/plain" } })
        assert.strictEqual(response.status, 403)
        assert.include(yield* response.text, "SignatureDoesNotMatch")
      }
      // Nor does the journal tell of them.
      assert.isFalse(bench.requests.some(({ path }) => path.startsWith("/compliance/")))
    }))
})

describe("compliance with Promises", () => {
  it("is checked as results come, with files by their paths, and ended by a signal", async () => {
    await using sandbox = await start({ posts: 0 })
    const ada = sandbox.ada
    const gone = ada.post("gone")
    const kept = ada.post("kept")
    sandbox.store.posts.delete(gone.id)
    await using client = createClient(sandbox.app().settings)
    const folder = await mkdtemp(join(tmpdir(), "compliance-"))
    const file = join(folder, "ids.txt")
    await writeFile(file, `${gone.id}\n${kept.id}\n`)
    const onProgress = ({ phase }: Compliance.Progress) => {
      if (phase === "wait") sandbox.clock.advance("1 second")
    }
    for (const ids of [[gone.id, kept.id], new Set([BigInt(gone.id)]), file]) {
      const found: Array<string> = []
      for await (const { id } of client.compliance.check({ type: "posts", ids, onProgress })) found.push(id)
      assert.deepStrictEqual(found, [gone.id])
    }
    const { data: job } = await client.createComplianceJob({ type: "posts" })
    assert.strictEqual(await client.compliance.upload(job!, [gone.id]), 1)
    sandbox.clock.advance("1 second")
    assert.strictEqual((await client.compliance.wait(job!)).status, "complete")
    for await (const result of client.compliance.results(job!)) assert.strictEqual(result.reason, "deleted")
    const aborted = client.compliance.check({ type: "posts", ids: [gone.id], signal: AbortSignal.abort("enough") })
    assert.strictEqual(await aborted[Symbol.asyncIterator]().next().catch((reason: unknown) => reason), "enough")
    await rm(folder, { recursive: true })
  })
})
