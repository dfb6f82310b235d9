/** Both connectors as processes, read by programs that know nothing of Postwire, and compared with the sandbox. */
import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Redacted } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { problemsOf, register } from "./support/protocols.ts"

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const programs = {
  tap: file("../src/bin/tap.ts"),
  source: file("../src/bin/source.ts"),
  target: file("./support/target.ts")
}

interface Ended {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** A program to its end, with the output of another as its input. */
const run = (program: keyof typeof programs, args: ReadonlyArray<string>, input = "") =>
  Effect.promise(async (): Promise<Ended> => {
    const child = spawn(process.execPath, [programs[program], ...args], {
      env: { ...process.env, NODE_OPTIONS: "", POSTWIRE_BEARER_TOKEN: "", POSTWIRE_ACCOUNT: "" }
    })
    let [output, errors] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (text) => output += text)
    child.stderr.setEncoding("utf8").on("data", (text) => errors += text)
    child.stdin.end(input)
    const [code] = await once(child, "close")
    return { code: Number(code), output, errors }
  })

type Row = Readonly<Record<string, unknown>>

interface AirbyteStream {
  readonly name: string
  readonly json_schema: object
}

/** The members that messages of either protocol can have. */
interface Message {
  readonly type: string
  readonly stream: string
  readonly schema: object
  readonly record: Row & { readonly stream: string; readonly data: Row }
  readonly state: {
    readonly stream: { readonly stream_descriptor: { readonly name: string } }
    readonly sourceStats: { readonly recordCount: number }
  }
  readonly trace: { readonly stream_status: { readonly status: string }; readonly error: object }
  readonly spec: { readonly connectionSpecification: { readonly properties: Record<string, object> } }
  readonly connectionStatus: { readonly status: string }
  readonly catalog: { readonly streams: ReadonlyArray<AirbyteStream> }
}

const messagesOf = ({ output }: Ended): ReadonlyArray<Message> =>
  output.trim().split("\n").map((line) => JSON.parse(line))

const scene = Effect.gen(function*() {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-connectors-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true }))
  )
  const sandbox = yield* Sandbox.Sandbox
  const at = (name: string) => join(folder, name)
  const put = (name: string, value: unknown) => {
    writeFileSync(at(name), typeof value === "string" ? value : JSON.stringify(value))
    return at(name)
  }
  const secret = Redacted.value(sandbox.seeded.userBearerToken)
  const settings = {
    path: at("working.sqlite"),
    baseUrl: sandbox.baseUrl,
    bearerToken: secret,
    sources: [{ kind: "posts" }, { kind: "bookmarks", full: "0 days" }, { kind: "followers", full: "0 days" }],
    deletions: { every: "0 days", by: "lookup" }
  }
  return { sandbox, at, put, secret, settings, config: put("config.json", settings) }
})

const start = Date.UTC(2026, 10, 20, 12)

const rows = (path: string, query: string) => {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database.prepare(query).all().map((row) => ({ ...row }))
  } finally {
    database.close()
  }
}

const tables = ["posts", "users", "edges"] as const

/** A table as both databases have it. */
const contents = (path: string, table: typeof tables[number]) =>
  rows(
    path,
    table === "edges"
      ? "SELECT kind, from_id, to_id, gone_at FROM edges ORDER BY 1, 2, 3"
      : table === "posts"
      ? "SELECT id, text, author_id, created_at, public_metrics_like_count, gone FROM posts ORDER BY id"
      : "SELECT id, username, name, protected, gone FROM users ORDER BY id"
  )

describe("the Singer tap", () => {
  it.live("fills the tables of a target, then brings only what changed", () =>
    Effect.gen(function*() {
      const { at, config, put, sandbox: { ada, clock, store }, secret, settings } = yield* scene
      const copied = at("copied.sqlite")
      const pipe = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
        const tapped = yield* run("tap", ["--config", config, ...args])
        assert.deepStrictEqual(
          [tapped.code, (tapped.output + tapped.errors).includes(secret)],
          [0, false],
          tapped.errors
        )
        const { output } = yield* run("target", [copied], tapped.output)
        const { records, state } = JSON.parse(output)
        return { tapped, records, state: put("state.json", state) }
      })
      const isSame = () => {
        for (const table of tables) assert.deepStrictEqual(contents(copied, table), contents(settings.path, table))
        const posts = rows(copied, "SELECT id, text, author_id FROM posts WHERE gone IS NULL")
        const served = store.posts.byIds(posts.map(({ id }) => String(id)))
        const of = new Map(served.map(({ author_id, id, text }) => [id, { id, text, author_id }]))
        for (const post of posts) assert.deepEqual<object | undefined>(post, of.get(String(post["id"])))
      }
      const first = yield* pipe()
      isSame()
      const own = rows(copied, `SELECT count(*) AS n FROM posts WHERE author_id = '${ada.id}'`)[0]
      assert.isAbove(Number(own?.["n"]), 0)
      const names = new Map(rows(copied, "SELECT id, username FROM users").map(({ id, username }) => [id, username]))
      assert.strictEqual(names.get(ada.id), "ada")
      assert.strictEqual((yield* pipe("--state", first.state)).records, 0)

      const id = store.posts.insert({ authorId: ada.id, text: "something new", createdAt: clock.now() })
      const [kept] = rows(copied, "SELECT to_id FROM edges WHERE kind = 'bookmarks'")
      store.bookmarks.set(ada.id, String(kept?.["to_id"]), false)
      const [deleted] = rows(copied, `SELECT id FROM posts WHERE author_id = '${ada.id}'`)
      store.posts.delete(String(deleted?.["id"]))
      const second = yield* pipe("--state", first.state)
      isSame()
      assert.deepStrictEqual(rows(copied, `SELECT text FROM posts WHERE id = '${id}'`), [{ text: "something new" }])
      assert.isNotNull(
        rows(copied, `SELECT gone_at FROM edges WHERE kind = 'bookmarks' AND to_id = '${kept?.["to_id"]}'`)[0]
          ?.["gone_at"]
      )
      assert.deepStrictEqual(rows(copied, `SELECT text, gone FROM posts WHERE id = '${deleted?.["id"]}'`), [
        { text: null, gone: "deleted" }
      ])
      assert.isBelow(second.records, 15)

      // Without the working copy all rows come again, at larger positions; those that it no longer has stay.
      const largestOf = () => rows(copied, "SELECT max(position) AS n FROM posts")[0]?.["n"]
      const isSentSince = (largest: unknown) => {
        const moved = rows(copied, `SELECT id FROM posts WHERE position > ${largest} ORDER BY id`)
        assert.deepStrictEqual(moved, rows(settings.path, "SELECT id FROM posts ORDER BY id"))
      }
      const largest = largestOf()
      const before = tables.map((table) => contents(copied, table))
      for (const end of ["", "-wal", "-shm"]) rmSync(settings.path + end, { force: true })
      const third = yield* pipe("--state", second.state)
      assert.include(third.tapped.errors, "another working copy")
      assert.deepStrictEqual(tables.map((table) => contents(copied, table)), before)
      isSentSince(largest)

      // So they do when a backup was put back, although runs whose records were lost have brought it past the state.
      const say = (text: string) => store.posts.insert({ authorId: ada.id, text, createdAt: clock.now() })
      const backup = readFileSync(settings.path)
      say("after the backup")
      const fourth = yield* pipe("--state", third.state)
      const latest = largestOf()
      for (const end of ["-wal", "-shm"]) rmSync(settings.path + end, { force: true })
      writeFileSync(settings.path, backup)
      for (const text of ["lost", "lost, too"]) {
        say(text)
        assert.strictEqual((yield* run("tap", ["--config", config])).code, 0)
      }
      const fifth = yield* pipe("--state", fourth.state)
      assert.include(fifth.tapped.errors, "another working copy")
      isSentSince(latest)
      assert.lengthOf(rows(copied, "SELECT 1 FROM posts WHERE text LIKE 'lost%'"), 2)
      assert.strictEqual((yield* pipe("--state", fifth.state)).records, 0)
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 60, start })), Effect.scoped), 60_000)

  it.live("keeps to the protocol and to its catalog", () =>
    Effect.gen(function*() {
      const { config, put } = yield* scene
      const { output } = yield* run("tap", ["--config", config, "--discover"])
      const catalog = JSON.parse(output)
      assert.deepStrictEqual(yield* Effect.promise(() => problemsOf("catalog", catalog)), [])
      for (const stream of catalog.streams) {
        stream.metadata[0].metadata.selected = stream.stream === "users" || stream.stream === "edges"
        for (const { breadcrumb, metadata } of stream.metadata) {
          if (breadcrumb[1] === "description" || breadcrumb[1] === "id") metadata.selected = false
        }
      }
      const tapped = yield* run("tap", ["--config", config, "--catalog", put("catalog.json", catalog)])
      const streams = new Set<unknown>()
      for (const message of messagesOf(tapped)) {
        assert.deepStrictEqual(yield* Effect.promise(() => problemsOf("singer", message)), [])
        if (message.type === "SCHEMA") register(`singer/${message.stream}`, message.schema)
        if (message.type !== "RECORD") continue
        streams.add(message.stream)
        const problems = yield* Effect.promise(() => problemsOf(`singer/${message.stream}`, message.record))
        assert.deepStrictEqual(problems, [])
        if (message.stream !== "users") continue
        assert.notProperty(message.record, "description")
        assert.property(message.record, "id")
      }
      assert.deepStrictEqual(streams, new Set(["users", "edges"]))
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 60, start })), Effect.scoped), 60_000)
})

describe("the Airbyte source", () => {
  it.live("is read by append and deduplication", () =>
    Effect.gen(function*() {
      const { config, put, sandbox: { ada, clock, store }, settings } = yield* scene
      const call = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
        const ended = yield* run("source", args)
        const messages = messagesOf(ended)
        for (const message of messages) {
          assert.deepStrictEqual(
            yield* Effect.promise(() => problemsOf("airbyte", message)),
            [],
            JSON.stringify(message)
          )
        }
        assert.strictEqual(ended.code, 0)
        return messages
      })
      const { connectionSpecification } = (yield* call("spec"))[0]!.spec
      register("airbyte/config", connectionSpecification)
      assert.deepStrictEqual(yield* Effect.promise(() => problemsOf("airbyte/config", settings)), [])
      assert.deepStrictEqual(
        Object.entries<object>(connectionSpecification.properties).flatMap(([name, schema]) =>
          "airbyte_secret" in schema ? [name] : []
        ),
        [...Credentials.names, "tokenStore", "spendStore"]
      )
      assert.deepStrictEqual(
        (yield* call("check", "--config", config)).at(-1)?.connectionStatus.status,
        "SUCCEEDED"
      )
      const { streams } = (yield* call("discover", "--config", config))[0]!.catalog
      const catalog = put("catalog.json", {
        streams: streams.filter(({ name }) => ["posts", "users"].includes(name)).map((stream) => ({
          stream,
          sync_mode: "incremental",
          destination_sync_mode: "append_dedup"
        }))
      })
      for (const { json_schema, name } of streams) register(`airbyte/${name}`, json_schema)

      const appended: Array<Message["record"]> = []
      const states = new Map<string, object>()
      const read = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
        let [records, counted] = [0, 0]
        const statuses: Array<string> = []
        for (const message of yield* call("read", "--config", config, "--catalog", catalog, ...args)) {
          if (message.type === "RECORD") {
            records++
            const { data, stream } = message.record
            assert.deepStrictEqual(yield* Effect.promise(() => problemsOf(`airbyte/${stream}`, data)), [])
            appended.push(message.record)
          }
          if (message.type === "STATE") {
            counted += message.state.sourceStats.recordCount
            states.set(message.state.stream.stream_descriptor.name, message.state)
          }
          if (message.type === "TRACE") statuses.push(message.trace.stream_status.status)
        }
        assert.deepStrictEqual(statuses, ["STARTED", "STARTED", "COMPLETE", "COMPLETE"])
        assert.strictEqual(counted, records)
        return records
      })
      const state = () => put("state.json", [...states.values()])
      const same = () => {
        const latest = new Map<unknown, Row>()
        const posts = appended.filter(({ stream }) => stream === "posts").map(({ data }) => data)
        for (const data of posts.sort((a, b) => Number(a["position"]) - Number(b["position"]))) {
          latest.set(data["id"], data)
        }
        const own = contents(settings.path, "posts")
        const names = Object.keys(own[0] ?? {})
        const found = own.map(({ id }) => Object.fromEntries(names.map((name) => [name, latest.get(id)?.[name]])))
        assert.deepStrictEqual([latest.size, found], [own.length, [...own]])
      }
      assert.isAbove(yield* read(), 0)
      same()
      assert.strictEqual(yield* read("--state", state()), 0)
      store.posts.insert({ authorId: ada.id, text: "something new", createdAt: clock.now() })
      assert.isAbove(yield* read("--state", state()), 0)
      same()
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 60, start })), Effect.scoped), 60_000)
})

describe("a configuration that cannot be used", () => {
  it.live("is named without what steers a terminal", () =>
    Effect.gen(function*() {
      const config = "/nonexistent/\u001b[31m\u009b2J\u202e\u200b\nCRITICAL forged"
      const all = [
        yield* run("tap", ["--config", config]),
        yield* run("source", ["check", "--config", config]),
        yield* run("source", ["read", "--config", config, "--catalog", config])
      ]
      for (const { errors, output } of all) {
        assert.include(output + errors, "/nonexistent/\ufffd[31m\ufffd2J\ufffd\ufffd CRITICAL forged")
        assert.notMatch(output + errors, /[\u001b\u009b\u202e\u200b]|\nCRITICAL forged/)
      }
    }), 60_000)

  it.live("is named without its secrets", () =>
    Effect.gen(function*() {
      const { put, secret, settings } = yield* scene
      const catalog = put("catalog.json", { streams: [] })
      const wrong = [
        put("cut.json", JSON.stringify(settings).slice(0, -1)),
        put("type.json", { ...settings, path: 1, bearerTokn: secret }),
        put("kind.json", { ...settings, sources: [{ kind: "search" }] }),
        put("token.json", { ...settings, bearerToken: `${secret}wrong` })
      ]
      for (const config of wrong) {
        const ended = [
          yield* run("tap", ["--config", config]),
          yield* run("source", ["read", "--config", config, "--catalog", catalog])
        ]
        for (const { code, errors, output } of ended) {
          assert.strictEqual(code, 1)
          assert.notInclude(output + errors, secret)
        }
        assert.deepInclude(messagesOf(ended[1]!).at(-1)?.trace.error, { failure_type: "config_error" }, config)
        const checked = yield* run("source", ["check", "--config", config])
        assert.deepInclude(messagesOf(checked)[0], { type: "CONNECTION_STATUS" })
        assert.include(checked.output, "FAILED")
        assert.notInclude(checked.output + checked.errors, secret)
      }
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 10, start })), Effect.scoped), 60_000)
})
