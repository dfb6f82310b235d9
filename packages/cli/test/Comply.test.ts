import { assert, describe, it } from "@effect/vitest"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Redacted } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import * as Commands from "./Commands.ts"
import { ended, start } from "./support/Processes.ts"

const sandbox = Sandbox.layerServer({ posts: 60 })

const scene = Effect.gen(function*() {
  const { store, user } = yield* Sandbox.Sandbox
  const root = yield* Commands.folder
  const grace = user({ username: "grace" })
  const gone = user({ username: "gone" })
  const kept = grace.post("kept").id
  const deleted = grace.post("deleted").id
  const suspended = gone.post("suspended").id
  store.posts.delete(deleted)
  gone.suspended()
  return { root, kept, deleted, suspended, grace, gone }
})

/** Runs a command line as the app. */
const run = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  const { baseUrl, seeded } = yield* Sandbox.Sandbox
  const token = Redacted.value(seeded.appBearerToken)
  return yield* Commands.runWith({ POSTWIRE_BASE_URL: baseUrl, POSTWIRE_BEARER_TOKEN: token }, ...args)
})

describe("postwire comply", () => {
  it.live(
    "writes a file without what is gone, and a report; killed, it goes on with the same job",
    () =>
      Effect.gen(function*() {
        const { deleted, kept, root, suspended } = yield* scene
        const { baseUrl, journal, seeded } = yield* Sandbox.Sandbox
        const path = join(root, "posts.jsonl")
        const rows = [
          `{"id":"${kept}","text":"kept","other":12345678901234567890}`,
          `{"id":"${deleted}","text":"deleted"}`,
          `{"text":"suspended","id":"${suspended}"}`,
          `{"id":"${kept}","text":"again"}`
        ]
        writeFileSync(path, `${rows.join("\n")}\n`)
        const env = {
          ...process.env,
          POSTWIRE_BASE_URL: baseUrl,
          POSTWIRE_BEARER_TOKEN: Redacted.value(seeded.appBearerToken)
        }
        const killed = yield* Effect.promise(() => {
          const child = start(["comply", path], env)
          child.stderr?.on("data", (text) => void (String(text).includes("Waiting for job") && child.kill("SIGKILL")))
          return ended(child)
        })
        assert.isNull(killed.code, killed.errors)
        const out = join(root, "posts.compliant.jsonl")
        assert.isFalse(existsSync(out))
        const refused = yield* run("comply", path)
        assert.include(refused.errors, "exists already")
        const { code, errors, output } = yield* run("comply", path, "--resume")
        assert.strictEqual(code, 0, errors)
        assert.include(output, `2 posts of 4 are in ${out}`)
        assert.strictEqual(readFileSync(out, "utf8"), `${rows[0]}\n${rows[3]}\n`)
        assert.strictEqual(
          readFileSync(`${out}.removed.csv`, "utf8"),
          `line,id,action,reason\r\n2,${deleted},remove,deleted\r\n3,${suspended},remove,suspended\r\n`
        )
        assert.deepStrictEqual(yield* run("comply", path, "--resume"), { code, errors: "", output })
        const created = journal.entries().filter(({ operation }) => operation === "createComplianceJob")
        assert.lengthOf(created, 1)
      }).pipe(Effect.provide(sandbox)),
    30_000
  )

  it.live("reads users as CSV, and leaves other rows as they are", () =>
    Effect.gen(function*() {
      const { gone, grace, root } = yield* scene
      const path = join(root, "users.csv.gz")
      const lines = ["name,user_id", `"Grace ""G"" Hopper",${grace.id}`, `gone,${gone.id}`, ""]
      writeFileSync(path, gzipSync(lines.join("\r\n")))
      const { code, errors, output } = yield* run("comply", path, "--users")
      assert.strictEqual(code, 0, errors)
      assert.include(output, "1 removed: suspended")
      assert.strictEqual(
        gunzipSync(readFileSync(join(root, "users.compliant.csv.gz"))).toString(),
        `${lines[0]}\r\n${lines[1]}\r\n`
      )
      for (
        const [name, said] of [["-", "cannot read standard input again"], [
          "a.parquet",
          "comply reads no Parquet and no SQLite"
        ]] as const
      ) {
        assert.include((yield* run("comply", name)).errors, said)
      }
    }).pipe(Effect.provide(sandbox)), 30_000)

  it.live("reads what can be read only once, such as a pipe", () =>
    Effect.gen(function*() {
      const { deleted, kept, root } = yield* scene
      const path = join(root, "ids")
      execFileSync("mkfifo", [path])
      spawn("sh", ["-c", `printf '%s\\n' ${kept} ${deleted} ${kept} > "$0"`, path], { stdio: "ignore" })
      const out = join(root, "kept")
      const { code, errors } = yield* run("comply", path, "--out", out)
      assert.strictEqual(code, 0, errors)
      assert.strictEqual(readFileSync(out, "utf8"), `${kept}\n${kept}\n`)
    }).pipe(Effect.provide(sandbox)), 30_000)

  it.live(
    "takes the places out of posts whose authors have removed them, and nothing else",
    () =>
      Effect.gen(function*() {
        const { kept, root } = yield* scene
        const { user } = yield* Sandbox.Sandbox
        const ada = user({ username: "ada_travels" })
        const post = ada.post("from somewhere")
        ada.scrubsGeo(post)
        const files = {
          "places.jsonl": [
            [
              `{"id":"${kept}","geo":{"place_id":"1"}}`,
              `{"id":"${post.id}","n":12345678901234567890,"geo":{"place_id":"1"}}`
            ],
            [`{"id":"${kept}","geo":{"place_id":"1"}}`, `{"id":"${post.id}","n":12345678901234567890}`]
          ],
          "places.csv": [
            ["id,geo.place_id,text", `${kept},1,"a, b"`, `${post.id},1,"a, b"`],
            ["id,geo.place_id,text", `${kept},1,"a, b"`, `${post.id},,"a, b"`]
          ]
        }
        for (const [name, [given = [], expected = []]] of Object.entries(files)) {
          const path = join(root, name)
          writeFileSync(path, `${given.join("\n")}\n`)
          const { code, errors } = yield* run("comply", path)
          assert.strictEqual(code, 0, errors)
          const out = path.replace(/(?=\.\w+$)/, ".compliant")
          assert.strictEqual(readFileSync(out, "utf8"), `${expected.join("\n")}\n`)
          assert.include(readFileSync(`${out}.removed.csv`, "utf8"), `,${post.id},redact,scrub_geo\r\n`)
        }
      }).pipe(Effect.provide(sandbox)),
    30_000
  )
})
