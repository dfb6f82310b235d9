import { assert, describe, it } from "@effect/vitest"
import * as Sqlite from "@postwire/archive/copy/Sqlite"
import * as Account from "@postwire/core/accounts/Account"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import * as Export from "@postwire/export/Export"
import { emptyPage } from "@postwire/export/rows/Page"
import * as JsonLines from "@postwire/export/sinks/JsonLines"
import type { Source } from "@postwire/export/sources/Source"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { ConfigProvider, Effect, Layer, Option, Redacted, Stream } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Clients } from "../src/Clients.ts"
import * as Engine from "../src/Engine.ts"
import * as Finished from "../src/Finished.ts"
import { check, type Query, sourceOf } from "../src/Query.ts"
import * as Tables from "../src/Tables.ts"
import * as Workflow from "../src/Workflow.ts"
import * as Rig from "./support/Rig.ts"

/** A worker in this process. */
const worker = Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ baseUrl, seeded }) =>
  Workflow.layer.pipe(
    Layer.provideMerge(Engine.layerSingle),
    Layer.provideMerge(Clients.layer),
    Layer.provideMerge(TokenStore.layerMemory),
    Layer.provideMerge(Tables.layer),
    Layer.provideMerge(Sqlite.layer({ path: ":memory:" })),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({
      POSTWIRE_BASE_URL: baseUrl,
      POSTWIRE_BEARER_TOKEN: Redacted.value(seeded.appBearerToken),
      POSTWIRE_WRONG_BEARER_TOKEN: "wrong"
    })))
  )))

const ended = (id: string) =>
  Effect.gen(function*() {
    const tables = yield* Tables.Tables
    while (true) {
      const [status] = yield* tables.status(id)
      if (status?.state === "done" || status?.state === "failed") return status
      yield* Effect.sleep(20)
    }
  })

const messages = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly type: string; readonly count: number }>`
    SELECT entity_type AS type, count(*) AS count FROM cluster_messages GROUP BY entity_type`
  return Object.fromEntries(rows.map(({ count, type }) => [type, count]))
})

describe("an export", () => {
  it.live("leaves nothing behind but what it has read", () =>
    Effect.gen(function*() {
      const query = Rig.queryOf("effect", { max_results: 20 })
      const { id } = yield* Workflow.start(query, { parts: 3 })
      const status = yield* ended(id)
      assert.deepStrictEqual([status.state, status.parts.length], ["done", 3])
      assert.sameMembers(yield* Rig.idsOf(id), [...yield* Rig.expected("effect")])
      const before = yield* messages
      // A run and its pages for each part.
      assert.strictEqual(before["Workflow/postwire/Part"], 3 + status.pages)
      while ((yield* messages)["Workflow/postwire/Part"] !== undefined) {
        yield* Effect.sleep(50)
        yield* Workflow.clear
      }
      const again = yield* Workflow.start(query, { parts: 3 })
      assert.deepStrictEqual([again.state, again.pages], ["done", status.pages])
    }).pipe(Effect.provide(worker), Effect.provide(Sandbox.layerServer({ posts: 400 }))))

  it.live("of users, and of an operation that is not cut", () =>
    Effect.gen(function*() {
      const { seeded, store } = yield* Sandbox.Sandbox
      const follows: Query = {
        operation: "getUsersFollowers",
        parameters: { id: seeded.ada.id, max_results: 10 },
        credentials: "default",
        label: ""
      }
      const { id } = yield* Workflow.start(follows)
      const status = yield* ended(id)
      const ids = yield* Rig.idsOf(id, "users")
      assert.strictEqual(status.items, ids.length)
      assert.isAbove(ids.length, 10)
      assert.isAbove(store.counts()["follows"] ?? Infinity, ids.length - 1)
      const cut = yield* Workflow.start({ ...follows, label: "cut" }, { parts: 2 })
      assert.match((yield* ended(cut.id)).problem ?? "", /^getUsersFollowers: it has no counts over time/)
    }).pipe(Effect.provide(worker), Effect.provide(Sandbox.layerServer({ posts: 100 }))))

  it.live("that the service refuses has failed, and one that it answers late goes on", () =>
    Effect.gen(function*() {
      const { faults } = yield* Sandbox.Sandbox
      const query = Rig.queryOf("effect")
      const refused = yield* Workflow.start({ ...query, credentials: "wrong" })
      const status = yield* ended(refused.id)
      assert.strictEqual(status.state, "failed")
      assert.match(
        status.parts[0]?.problem ?? "",
        /searchRecentPosts.*401.* Look at POSTWIRE_WRONG_BEARER_TOKEN where the worker runs\.$/
      )
      const absent = yield* ended((yield* Workflow.start({ ...query, credentials: "absent" })).id)
      assert.match(absent.parts[0]?.problem ?? "", /"absent".* POSTWIRE_ABSENT_BEARER_TOKEN is not set/)

      // More than the client tries by itself.
      faults.add({ status: 503, times: 4, operation: "searchRecentPosts" })
      const { id } = yield* Workflow.start(query)
      const tables = yield* Tables.Tables
      let noted: string | undefined
      while (noted === undefined) {
        yield* Effect.sleep(20)
        noted = (yield* tables.status(id))[0]?.parts[0]?.problem
      }
      assert.match(noted, /503/)
      const late = yield* ended(id)
      assert.deepStrictEqual([late.state, late.parts[0]?.problem], ["done", undefined])
    }).pipe(Effect.provide(worker), Effect.provide(Sandbox.layerServer({ posts: 100 }))))

  it.live("goes on after a failure at a page that another worker has stored", () =>
    Effect.gen(function*() {
      const { faults } = yield* Sandbox.Sandbox
      const tables = yield* Tables.Tables
      faults.add({ status: 401, delay: 1_000, nth: 2, operation: "searchRecentPosts" })
      const { id } = yield* Workflow.start(Rig.queryOf("effect", { max_results: 10 }))
      const key = { export: id, part: 0 }
      const isAtSecond = Effect.map(tables.cursor(key), ({ pages }) => pages === 1)
      while (!(yield* isAtSecond)) yield* Effect.sleep(20)
      // An empty page, so that the next one has what the second would have had.
      const { token } = yield* tables.cursor(key)
      assert.isTrue(yield* tables.commit(key, 1, { ...emptyPage, next: token }, [], "another"))
      const status = yield* ended(id)
      assert.deepStrictEqual([status.state, status.parts[0]?.problem], ["done", undefined])
      assert.sameMembers(yield* Rig.idsOf(id), [...yield* Rig.expected("effect")])
    }).pipe(Effect.provide(worker), Effect.provide(Sandbox.layerServer({ posts: 400 }))))

  it.live("speaks for the account that has the name, and renews it", () =>
    Effect.gen(function*() {
      const { baseUrl, clock, grants } = yield* Sandbox.Sandbox
      const { accessToken, app, refreshToken, user } = grants.make()
      clock.advance("3 hours")
      const store = yield* TokenStore.TokenStore
      yield* Account.write(store, "ada-1", {
        version: 1,
        baseUrl,
        user,
        app: { clientId: app.clientId },
        oauth2: { accessToken, refreshToken: refreshToken!, scopes: ["post.read"], expiresAt: 1, renewedAt: 0 }
      })
      const query = { ...Rig.queryOf("effect"), credentials: "ada-1" }
      assert.strictEqual((yield* ended((yield* Workflow.start(query)).id)).state, "done")
      assert.strictEqual(grants.list()[0]?.refreshes, 1)

      grants.revoke(grants.list()[0]!.id)
      clock.advance("3 hours")
      const kept = Option.getOrThrow(yield* Account.read(store, "ada-1"))
      yield* Account.write(store, "gone", { ...kept, oauth2: { ...kept.oauth2!, expiresAt: 1 } })
      const gone = yield* ended((yield* Workflow.start({ ...query, credentials: "gone" })).id)
      assert.strictEqual(gone.state, "failed")
      assert.match(gone.parts[0]?.problem ?? "", /^Account "gone" has to sign in again: .* Run: postwire login gone$/)
    }).pipe(Effect.provide(worker), Effect.provide(Sandbox.layerServer({ posts: 100 }))))

  it.live("becomes the files of a single run, also when that is interrupted", () =>
    Effect.gen(function*() {
      const root = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-files-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const sandbox = yield* Sandbox.Sandbox
      const query = Rig.queryOf("effect", {
        max_results: 20,
        expansions: "author_id,referenced_posts.id",
        end_time: new Date(Date.now() - 60_000).toISOString()
      })
      const single = yield* Export.run(yield* sourceOf(query), { sink: JsonLines.make(join(root, "a.jsonl")) }).pipe(
        Effect.provide(
          Client.layer({ baseUrl: sandbox.baseUrl }).pipe(
            Layer.provide([Credentials.layer({ bearerToken: sandbox.seeded.appBearerToken }), UndiciHttpClient.layer()])
          )
        )
      )
      const tables = yield* Tables.Tables
      const { id } = yield* Workflow.start(query, { parts: 3 })
      const early = yield* Effect.flip(Stream.runDrain(Finished.pages(tables, (yield* tables.status(id))[0]!)))
      assert.match(early.message, /cannot become a file: it is (planning|waiting|running)/)
      const done = yield* ended(id)
      const anew = { ...done, created: done.created + 1 }
      const moved = yield* Effect.flip(Stream.runDrain(Finished.pages(tables, anew, `${done.created}:0:1`)))
      assert.match(moved.message, /made it again/)
      const source: Source<Finished.NotReadable> = {
        ...yield* sourceOf(query),
        pages: (cursor) => Finished.pages(tables, done, cursor)
      }
      const write = (stop: Effect.Effect<unknown>) =>
        Export.run(source, {
          sink: JsonLines.make(join(root, "b.jsonl")),
          mode: "resume",
          account: "default",
          stop
        }).pipe(Effect.provide(Finished.layerClient))
      assert.strictEqual((yield* write(Effect.void)).status, "interrupted")
      const { files, progress } = yield* write(Effect.never)
      assert.strictEqual(progress.items, single.progress.items)
      assert.deepStrictEqual(
        files.map(({ holds, rows }) => [holds, rows]),
        single.files.map(({ holds, rows }) => [holds, rows])
      )
      const text = (name: string, holds: string) =>
        readFileSync(join(root, holds === "items" ? name : join(`${name}.postwire`, `${holds}.jsonl`)), "utf8")
      for (const holds of ["items", "users"]) assert.strictEqual(text("b.jsonl", holds), text("a.jsonl", holds))
      // Pages end elsewhere, and what was asked for has more fields than the same that came along.
      const idsIn = (name: string) => text(name, "posts").trimEnd().split("\n").map((line) => JSON.parse(line).id)
      assert.sameMembers(idsIn("b.jsonl"), idsIn("a.jsonl"))
    }).pipe(Effect.provide(worker), Effect.provide(Sandbox.layerServer({ posts: 400 }))))

  it.effect("is the same under the operation's alias", () =>
    Effect.gen(function*() {
      const events: Query = { operation: "getDirectMessageEvents", parameters: {}, credentials: "default", label: "" }
      assert.deepStrictEqual(yield* check({ ...events, operation: "getDmEvents" }), events)
    }))

  it.effect.each(
    [
      [{ operation: "getMe" }, /operation must be the name of an operation that pages/],
      [{ operation: "constructor" }, /operation must be the name of an operation that pages/],
      [{ parameters: {} }, /query/],
      [{ parameters: { query: "a", max_results: 5_000 } }, /max_results/],
      [{ credentials: "a b" }, /credentials must be the name/]
    ] as const
  )("that nobody could run is refused: %j", ([change, expected]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Workflow.start({ ...Rig.queryOf("a"), ...change }))
      assert.match(error.message, expected)
      const tables = yield* Tables.Tables
      assert.deepStrictEqual(yield* tables.status(), [])
    }).pipe(Effect.provide(worker), Effect.provide(Sandbox.layerServer({ posts: 0 }))))
})
