/** Any path of the service, and parameters without a flag, from the command line. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Commands from "./Commands.ts"

const secrets = {
  POSTWIRE_BEARER_TOKEN: "canary-bearer-01",
  POSTWIRE_CONSUMER_KEY: "canary-key-02",
  POSTWIRE_CONSUMER_SECRET: "canary-secret-03",
  POSTWIRE_ACCESS_TOKEN: "42-canary-04",
  POSTWIRE_ACCESS_TOKEN_SECRET: "canary-secret-05"
}

/** Runs a command line against a service that keeps what it is sent. */
const run = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  const requests: Array<{ readonly line: string; readonly kind: string | undefined; readonly body: string }> = []
  const { baseUrl } = yield* Commands.serve(async (request, response) => {
    let body = ""
    for await (const chunk of request.setEncoding("utf8")) body += chunk
    const kind = request.headers.authorization?.split(" ")[0]
    requests.push({ line: `${request.method} ${request.url}`, kind, body })
    if (request.url === "/2/nowhere") response.statusCode = 404
    response.end(`{"data":{"id":"1","text":"a","tweet_id":"2"}}`)
  })
  const folder = yield* Commands.folder
  const json = join(folder, "body.json")
  writeFileSync(json, `{"color":["red"]}`)
  const given = args.map((arg) => arg.replace("FILE", json))
  return { ended: yield* Commands.runWith({ ...secrets, POSTWIRE_BASE_URL: baseUrl }, ...given), requests }
})

describe("postwire request", () => {
  it.live("sends what it is told, and prints what comes as it came", () =>
    Effect.gen(function*() {
      const get = yield* run("request", "GET", "/2/widgets/1", "--query", "a.b=c=d", "--query", "e=1", "--query", "e=")
      assert.deepStrictEqual(get.requests, [{ line: "GET /2/widgets/1?a.b=c%3Dd&e=1%2C", kind: "Bearer", body: "" }])
      assert.deepStrictEqual(JSON.parse(get.ended.output), { data: { id: "1", text: "a", tweet_id: "2" } })
      assert.deepStrictEqual([get.ended.code, get.ended.errors], [0, ""])
      const post = yield* run("request", "POST", "/2/widgets", "--body", "@FILE", "--user-auth", "--wire", "x", "--raw")
      assert.deepStrictEqual(post.requests, [{ line: "POST /2/widgets", kind: "OAuth", body: `{"color":["red"]}` }])
      assert.strictEqual(post.ended.output, `{"data":{"id":"1","text":"a","tweet_id":"2"}}`)
      assert.match(post.ended.errors, /^postwire: POST \/2\/widgets is done: id 1, text a, tweet_id 2$/)
    }).pipe(Effect.scoped))

  it.live("that is not found leads to the path", () =>
    Effect.gen(function*() {
      const { ended } = yield* run("request", "GET", "/2/nowhere")
      assert.strictEqual(ended.code, 1)
      assert.match(ended.errors, /\(404\).*\n {2}Check the path\.$/)
    }).pipe(Effect.scoped))

  const refusals: ReadonlyArray<readonly [name: string, line: string]> = [
    ["path", "request GET //elsewhere.test/2"],
    ["path", "request GET https://elsewhere.test/2"],
    ["path", "request GET /2/%2e%2e/1"],
    ["--query", "request GET /2/widgets --query canary-bearer-01"],
    ["query.oauth_token", "request GET /2/widgets --query oauth_token=canary-bearer-01"],
    ["body", "request GET /2/widgets --query canary-bearer-01[]=1 --body 1"],
    ["--body", "request POST /2/widgets --body canary-bearer-01"],
    ["there is no such file", "request POST /2/widgets --body @/nowhere"],
    ["extraQuery.id", "call getPost --id 1 --extra-query id=2"],
    ["--extra-body", "call createPost --text a --extra-body [1]"],
    ["extraBody.text", `call createPost --text a --extra-body {"text":"b"}`]
  ]

  it.live.each(refusals)("refuses by name (%s) %s", ([name, line]) =>
    Effect.gen(function*() {
      const { ended, requests } = yield* run(...line.split(" "))
      assert.strictEqual(ended.code, 1)
      assert.include(ended.errors, name)
      assert.notInclude(ended.errors, "canary")
      assert.lengthOf(requests, 0)
    }).pipe(Effect.scoped))
})

it.live("postwire call adds what has no flag", () =>
  Effect.gen(function*() {
    const { ended, requests } = yield* run(
      ..."call createPost --text a --extra-query odd=1 --extra-body @FILE".split(" ")
    )
    assert.strictEqual(ended.code, 0)
    assert.strictEqual(requests[0]?.line, "POST /2/posts?odd=1")
    assert.deepStrictEqual(JSON.parse(requests[0]!.body), { text: "a", color: ["red"] })
  }).pipe(Effect.scoped))
