/** Nothing that a command prints or writes holds a credential that the service quotes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import type { IncomingMessage } from "node:http"
import { join } from "node:path"
import * as Commands from "./Commands.ts"

const secrets = {
  POSTWIRE_BEARER_TOKEN: "canary:bearer-01",
  POSTWIRE_CONSUMER_KEY: "canary-key-02",
  POSTWIRE_CONSUMER_SECRET: "canary-secret-03",
  POSTWIRE_ACCESS_TOKEN: "42-canary-04",
  POSTWIRE_ACCESS_TOKEN_SECRET: "canary-secret-05"
}

const quoteOf = ({ headers }: IncomingMessage) => JSON.stringify(headers)

/** Refuses with a problem, but for the first page of a search. */
const service = Commands.serve((request, response) => {
  const url = new URL(request.url ?? "", "http://service.test")
  const quote = quoteOf(request)
  const isFirst = url.pathname.endsWith("/search/recent") && !url.searchParams.has("next_token")
  response.writeHead(isFirst ? 200 : 401, { "x-request-id": quote })
  response.end(JSON.stringify(
    isFirst
      ? {
        data: [{ id: "1", text: "a", edit_history_post_ids: ["1"] }],
        errors: [{ title: quote, detail: quote, [quote]: quote }],
        meta: { result_count: 1, next_token: "next" }
      }
      : { title: "Unauthorized", detail: quote, errors: [{ message: quote }] }
  ))
})

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

describe("a service that quotes what it is sent", () => {
  const run = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
    const { baseUrl } = yield* service
    const out = yield* Commands.folder
    const file = join(yield* Commands.folder, "credentials")
    const lines = Object.entries({ ...secrets, POSTWIRE_BASE_URL: baseUrl }).map(([name, value]) =>
      `${name}=${value}\n`
    )
    writeFileSync(file, lines.join(""), { mode: 0o600 })
    const commands = args.map((arg) => arg.replace("OUT", out))
    const ended = yield* Commands.parse(...commands, "--credentials", file)
    return { ended, out, file }
  })

  it.effect.each([
    "call getPost --id 1",
    "call getPost --id 1 --user-auth",
    "call createPost --text a",
    "call getBookmarks",
    "call searchRecentPosts --query a",
    "doctor"
  ])("%s: nothing is printed", (line) =>
    Effect.gen(function*() {
      const { ended } = yield* run(...line.split(" "))
      assert.notStrictEqual(ended.code, 0)
      assert.notInclude(ended.errors + ended.output, "canary")
      if (line !== "doctor") assert.include(ended.errors, "<redacted>")
    }).pipe(Effect.scoped))

  it.effect.each(["x.jsonl", "x.csv", "x.db", "x.parquet"])(
    "an export to %s: nothing is written",
    (name) =>
      Effect.gen(function*() {
        const { ended, file, out } = yield* run("export", "searchRecentPosts", "--query", "a", "--out", `OUT/${name}`)
        assert.notStrictEqual(ended.code, 0)
        assert.include(ended.errors, "<redacted>")
        const status = yield* Commands.parse("status", join(out, name), "--credentials", file)
        for (const text of [ended.errors, ended.output, status.errors, status.output]) assert.notInclude(text, "canary")
        const files = filesIn(out)
        assert.isNotEmpty(files)
        for (const path of files) assert.notInclude(readFileSync(path, "latin1"), "canary", path)
      }).pipe(Effect.scoped)
  )
})
