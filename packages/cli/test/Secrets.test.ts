/** Nothing that a command prints or writes holds a credential that the service quotes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import type { IncomingMessage } from "node:http"
import { join } from "node:path"
import { Environment } from "../src/connection/Variables.ts"
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
    const file = yield* Commands.credentials({ ...secrets, POSTWIRE_BASE_URL: baseUrl })
    const commands = args.map((arg) => arg.replace("OUT", out))
    const ended = yield* Commands.parse(...commands, "--credentials", file)
    return { ended, out, file }
  })

  it.live.each([
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

  it.live.each(["x.jsonl", "x.csv", "x.db", "x.parquet"])(
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

describe("a service that quotes what an account sends", () => {
  const tokens = {
    version: 1,
    user: { id: "42", username: "ada" },
    app: { clientId: "app", clientSecret: "canary-app-06" },
    oauth2: { accessToken: "canary-access-07", refreshToken: "canary-refresh-08", scopes: ["post.read", "users.read"] },
    oauth1: {
      consumerKey: "canary-key-09",
      consumerSecret: "canary-secret-10",
      accessToken: "42-canary-11",
      accessTokenSecret: "canary-secret-12"
    }
  }

  /** Refuses with a problem that quotes headers and body. */
  const quoting = Commands.serve((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text) => body += text).on("end", () => {
      const quote = `${quoteOf(request)} ${body} ${decodeURIComponent(body)}`
      response.writeHead(request.url?.includes("oauth") === true ? 400 : 401)
      response.end(
        JSON.stringify({ title: quote, error: quote, error_description: quote, errors: [{ message: quote }] })
      )
    })
  })

  it.live.each(
    [
      ["call getMe --account ada", 4e12],
      ["call getMe --account ada", 1],
      ["call getMe --account ada --user-auth", 1],
      ["call getPost --id 1 --account ada --no-user-auth --debug", 1],
      ["doctor --account ada --json", 4e12],
      ["doctor --account ada", 1],
      ["accounts --json", 1],
      ["logout ada", 1]
    ] satisfies Array<[string, number]>
  )("%s, when it expires at %d: nothing is printed", ([line, expiresAt]) =>
    Effect.gen(function*() {
      const { baseUrl } = yield* quoting
      const store = join(yield* Commands.folder, "accounts")
      mkdirSync(store, { mode: 0o700 })
      const record = { ...tokens, baseUrl, oauth2: { ...tokens.oauth2, expiresAt, renewedAt: 0 } }
      writeFileSync(join(store, "ada.json"), JSON.stringify(record), { mode: 0o600 })
      const { errors, output } = yield* Commands.parse(...line.split(" ")).pipe(
        Effect.provideService(Environment, { POSTWIRE_TOKEN_STORE: store, POSTWIRE_BASE_URL: baseUrl })
      )
      assert.isNotEmpty(errors + output)
      assert.notInclude(errors + output, "canary")
    }).pipe(Effect.scoped))
})
