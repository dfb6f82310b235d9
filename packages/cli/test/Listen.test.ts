/** `postwire listen`, `replay` and `trigger`: with a sandbox, and with a program that has the webhook of `@postwire/node`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, layer } from "@effect/vitest"
import * as Signature from "@postwire/core/events/Signature"
import * as WebhookEvent from "@postwire/core/events/WebhookEvent"
import { eventTypes } from "@postwire/core/schema/models/Activity"
import { webhook } from "@postwire/node/Webhook"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Fiber, Redacted } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import type { RequestListener } from "node:http"
import { join } from "node:path"
import { createInterface } from "node:readline"
import * as EventDelivery from "../src/events/EventDelivery.ts"
import * as EventTypes from "../src/events/EventTypes.ts"
import * as Forwarder from "../src/events/Forwarder.ts"
import * as OutputFile from "../src/terminal/OutputFile.ts"
import * as Commands from "./Commands.ts"
import { start } from "./support/Processes.ts"

const secret = Redacted.make("the secret of the app")

const bodyOf = (uuid: string, event_type: string) => ({
  data: { event_uuid: uuid, filter: { user_id: "42" }, event_type, payload: { before: "a", after: "b" } }
})

/** A program with a webhook, and the events that it has handled. */
const program = Effect.fnUntraced(function*(secrets: string) {
  const events: Array<WebhookEvent.WebhookEvent> = []
  const hook = webhook({ secrets, onEvent: async (event) => void events.push(event), ack: "after" })
  const { baseUrl } = yield* Commands.serve(hook.listener)
  yield* Effect.addFinalizer(() => Effect.promise(() => hook.close()))
  return { url: `${baseUrl}/hook`, events }
})

/** An address that answers with a status and a text. */
const answering = (status: number, text: string) =>
  Effect.map(
    Commands.serve((request, response) => void request.resume().on("end", () => response.writeHead(status).end(text))),
    ({ baseUrl }) => baseUrl
  )

/** A file of recorded events. */
const recorded = Effect.fnUntraced(function*(...types: ReadonlyArray<string>) {
  const file = join(yield* Commands.folder, "events.jsonl")
  const lines = types.map((type, index) =>
    `${JSON.stringify({ at: "2026-11-24T00:00:00.000Z", body: bodyOf(`${index}`, type) })}\n`
  )
  writeFileSync(file, lines.join(""))
  return file
})

const withSecret = (...args: ReadonlyArray<string>) =>
  Commands.runWith({ POSTWIRE_CONSUMER_SECRET: Redacted.value(secret) }, ...args)

layer(Sandbox.layerServer({ posts: 0 }), { excludeTestServices: true })("with a sandbox", (it) => {
  it.effect("listen forwards what happens, signed, shows the answers, records it, and takes its subscriptions back", () =>
    Effect.gen(function*() {
      const { adminToken, seeded, store, trigger } = yield* Sandbox.Sandbox
      const { events, url } = yield* program(Redacted.value(seeded.consumerSecret))
      const record = join(yield* Commands.folder, "events.jsonl")
      const variables = yield* Commands.variables({
        POSTWIRE_SANDBOX_ADMIN_TOKEN: Redacted.value(adminToken),
        POSTWIRE_SPEND_STORE: join(yield* Commands.folder, "spend.db")
      })
      const child = start(
        `listen --subscribe post.mention.create --subscribe dm.received --events post.* --forward-to ${url} --record`
          .split(" ").concat(record),
        { ...process.env, ...variables }
      )
      yield* Effect.addFinalizer(() => Effect.sync(() => child.kill()))
      const [printed = [], said = []] = [child.stdout!, child.stderr!].map((stream) => {
        const lines: Array<string> = []
        createInterface(stream).on("line", (line) => lines.push(line))
        return lines
      })
      const until = (isSo: () => boolean | undefined) =>
        Effect.gen(function*() {
          while (!isSo()) {
            if (child.exitCode !== null) assert.fail(said.join("\n"))
            yield* Effect.sleep(10)
          }
        })
      yield* until(() => said.includes("postwire: Connected."))
      assert.isFalse(store.activity.isEmpty())
      trigger({ event_type: "dm.received" })
      trigger({ event_type: "post.mention.create", set: { text: "are you open?" } })
      yield* until(() => printed.length === 1)
      child.kill("SIGINT")
      yield* Effect.promise(() => once(child, "close"))
      assert.strictEqual(child.exitCode, 130)
      const me = seeded.ada.id
      const withoutTimes = (text: string) => text.replace(/\d+ ms/g, "N ms")
      assert.deepStrictEqual(said.map(withoutTimes), [
        "postwire: 2 subscriptions:",
        `postwire: post.mention.create of ${me}, $0.005 each, for this run`,
        `postwire: dm.received of ${me}, $0.01 each, for this run`,
        "postwire: The program passes the service's challenge, in N ms.",
        "postwire: Connected.",
        "postwire: Ending; Ctrl-C again stops immediately.",
        "postwire: 1 event: 1 delivered, 0 failed."
      ])
      assert.match(
        printed[0] ?? "",
        new RegExp(`^\\d\\d:\\d\\d:\\d\\d post\\.mention\\.create ${me} → 200 in \\d+ ms$`)
      )
      const page = withoutTimes(readFileSync(join(import.meta.dirname, "../../../docs/listen.md"), "utf8"))
      for (const line of said.slice(0, -1)) assert.include(page.replaceAll(/\d{19}/g, me), withoutTimes(line))
      assert.lengthOf(events, 1)
      assert.nestedPropertyVal(events[0], "payload.text", "@ada are you open?")
      assert.isTrue(store.activity.isEmpty())
      const line = JSON.parse(readFileSync(record, "utf8"))
      assert.deepStrictEqual(line.body.data.payload.edit_history_tweet_ids, [line.body.data.payload.id])
      assert.nestedPropertyVal(line, "body.data.payload.public_metrics.retweet_count_str", "0")
      assert.strictEqual(statSync(record).mode & 0o777, 0o600)
    }).pipe(Effect.scoped))

  it.effect("trigger does it in the sandbox, and shows which subscriptions got it", () =>
    Effect.gen(function*() {
      const { adminToken, seeded, store } = yield* Sandbox.Sandbox
      const variables = yield* Commands.variables({ POSTWIRE_SANDBOX_ADMIN_TOKEN: Redacted.value(adminToken) })
      const posted = yield* Commands.runWith(
        variables,
        "trigger",
        "post.create",
        "--set",
        "text=Fog",
        "--json",
        "--print"
      )
      assert.strictEqual(posted.code, 0, posted.errors)
      const { body, ...rest } = JSON.parse(posted.output)
      assert.deepInclude(rest, { event_type: "post.create", about: seeded.ada.id, subscriptions: 0 })
      assert.strictEqual(body.data.payload.text, "Fog")
      assert.strictEqual(store.posts.byId(body.data.payload.id)?.text, "Fog")
      const plain = yield* Commands.runWith(variables, "trigger", "follow.follow")
      assert.match(plain.output, /^follow\.follow +\d+ → 0 subscriptions$/)
      const nobody = yield* Commands.runWith(variables, "trigger", "follow.follow", "--user", "5")
      assert.match(nobody.errors, /^postwire: The sandbox has made no event: There is no user 5/)
      const tokenless = yield* Commands.run("trigger", "post.create")
      assert.match(tokenless.errors, /POSTWIRE_SANDBOX_ADMIN_TOKEN is not set/)
      const live = yield* Commands.runWith({ POSTWIRE_BASE_URL: "https://api.x.com" }, "trigger", "post.create")
      assert.match(
        live.errors,
        /only a sandbox makes events\.\n {2}Start one with postwire sandbox, or .*--forward-to URL/
      )
    }).pipe(Effect.scoped))

  it.effect("listen says that nothing arrives without a subscription, and why the program fails the challenge", () =>
    Effect.gen(function*() {
      const { faults } = yield* Sandbox.Sandbox
      const id = faults.add({ operation: "streamActivity", status: 401 })
      const { code, errors } = yield* Commands.run("listen", "--forward-to", "http://127.0.0.1:1/hook")
      faults.remove(id)
      assert.strictEqual(code, 1)
      assert.deepStrictEqual(errors.split("\n").slice(0, 4), [
        "postwire: The app has no subscriptions, so no events arrive.",
        "  Make one for this run: --subscribe post.mention.create; to keep it: postwire call createActivitySubscription.",
        "postwire: The program fails the service's challenge (GET with crc_token): connect ECONNREFUSED 127.0.0.1:1.",
        "  The service would not register it as a webhook. Events are forwarded all the same."
      ])
      assert.match(errors, /\npostwire: streamActivity: .*401/)
    }))

  it.effect("listen refuses what is wrong before it sends anything", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const variables = yield* Commands.variables()
      const listen = (replaced: Readonly<Record<string, string | undefined>>, ...args: ReadonlyArray<string>) =>
        Commands.runWith({ ...variables, ...replaced }, "listen", ...args)
      const before = sandbox.requests.length
      for (
        const [replaced, args, expected] of [
          [{}, ["--forward-to", "https://example.com/hook"], /must be on this machine, and example\.com is not/],
          [{}, ["--forward-to", "http://127.0.0.1.example.com"], /must be on this machine/],
          [{}, ["--forward-to", "localhost:3000"], /is not an address: localhost:3000\n {2}Write it like/],
          [{ POSTWIRE_CONSUMER_SECRET: "" }, ["--forward-to", "http://[::1]:1"], /\n {2}Set POSTWIRE_CONSUMER_SECRET/],
          [
            {},
            ["--forward-to", "http://[::1]:1", "--events", "dm.*,post.mention"],
            /"post\.mention"\n {2}Did you mean/
          ],
          [{}, ["--forward-to", "http://[::1]:1", "--subscribe", "news.new"], /needs a keyword/],
          [{}, ["--forward-to", "http://[::1]:1", "--subscribe", "dm.recieved:1"], /Did you mean dm\.received\?/]
        ] as const
      ) {
        const { code, errors } = yield* listen(replaced, ...args)
        assert.strictEqual(code, 1)
        assert.match(errors, expected)
      }
      assert.lengthOf(sandbox.requests, before)
    }).pipe(Effect.scoped))
})

describe("replay", () => {
  it.live("posts recorded events in order, signed anew, and those of some types", () =>
    Effect.gen(function*() {
      const { events, url } = yield* program(Redacted.value(secret))
      const file = yield* recorded("profile.update.bio", "dm.sent", "profile.update.geo")
      const all = yield* withSecret("replay", file, "--forward-to", url)
      assert.strictEqual(all.code, 0, all.errors)
      assert.strictEqual(all.errors, "postwire: 3 events: 3 delivered, 0 failed.")
      assert.deepStrictEqual(events.map(({ event_type }) => event_type), [
        "profile.update.bio",
        "dm.sent",
        "profile.update.geo"
      ])
      const some = yield* withSecret("replay", file, "--forward-to", url, "--events", "profile.*", "--json", "--print")
      const lines = some.output.split("\n").map((line) => JSON.parse(line))
      assert.deepStrictEqual(lines.map(({ event_uuid, status }) => [event_uuid, status]), [["0", 200], ["2", 200]])
      assert.deepStrictEqual(lines[0].body, bodyOf("0", "profile.update.bio"))
    }).pipe(Effect.scoped))

  it.live("shows the first line of a refusal, ends with 3, and fits 80 columns", () =>
    Effect.gen(function*() {
      const file = yield* recorded("chat.conversation.member_removed", "dm.received")
      const url = yield* answering(500, `\nTypeError: ${"x".repeat(100)}\n    at handler`)
      const { code, errors, output } = yield* withSecret("replay", file, "--forward-to", url)
      assert.strictEqual(code, 3)
      assert.match(errors, /2 events: 0 delivered, 2 failed\.\npostwire: 2 of 2 events failed\n/)
      const [first = "", second = ""] = output.split("\n")
      assert.match(first, /^\S+ chat\.conversation\.member_removed 42 {9}→ 500 in \d+ ms$/)
      assert.match(second, /^ {9}TypeError: x+…$/)
      for (const line of output.split("\n")) assert.isAtMost(displayWidth(line), 80)
      const wrong = join(yield* Commands.folder, "wrong.jsonl")
      writeFileSync(wrong, `\n{"at":"2026-11-24T00:00:00.000Z","body":{}}\n`)
      const refused = yield* withSecret("replay", wrong, "--forward-to", url)
      assert.match(refused.errors, /wrong\.jsonl, line 2: this is not a recorded event/)
    }).pipe(Effect.scoped))

  it.effect("replay passes over the beginning of a line, which a kill has left", () =>
    Effect.gen(function*() {
      const file = yield* recorded("profile.update.bio", "profile.update.url")
      const [first = "", second = ""] = readFileSync(file, "utf8").split(/(?<=\n)/)
      for (const torn of [0, 3, 50]) {
        const { events, url } = yield* program(Redacted.value(secret))
        writeFileSync(file, first + second.slice(0, torn))
        yield* OutputFile.openLines(file)
        yield* OutputFile.append(file, second)
        yield* withSecret("replay", file, "--forward-to", url)
        assert.deepStrictEqual(events.map((event) => Reflect.get(event, "event_uuid")), ["0", "1"], `${torn} bytes`)
      }
    }).pipe(Effect.provide(NodeServices.layer), Effect.scoped))
})

describe("trigger --forward-to", () => {
  it.live("posts a signed example of every type, also of another user", () =>
    Effect.gen(function*() {
      const bodies: Array<string> = []
      const keep: RequestListener = (request, response) => {
        let body = ""
        request.setEncoding("utf8").on("data", (text) => body += text).on("end", () => {
          bodies.push(body)
          response.end()
        })
      }
      const { baseUrl } = yield* Commands.serve(keep)
      const types = process.env["POSTWIRE_LONG"] === undefined ? eventTypes.filter((_, i) => i % 7 === 0) : eventTypes
      for (const type of types) {
        const { code, errors } = yield* withSecret("trigger", type, "--user", "42", "--forward-to", baseUrl)
        assert.strictEqual(code, 0, `${type}: ${errors}`)
      }
      const decoded = bodies.map((body) => WebhookEvent.decode(body))
      assert.deepStrictEqual(decoded.map(({ event }) => event.event_type), [...types])
      assert.deepStrictEqual(decoded.flatMap(({ anomalies }) => anomalies), [])
      for (const body of bodies) {
        const { data: { event_type, filter } } = JSON.parse(body)
        assert.deepStrictEqual(filter, event_type === "news.new" ? {} : { user_id: "42" })
      }
      const { events, url } = yield* program(Redacted.value(secret))
      const set = ["--set", "text=Two words", "--set", "public_metrics.like_count=7"]
      yield* withSecret("trigger", "post.mention.create", ...set, "--forward-to", url)
      assert.nestedPropertyVal(events[0], "payload.text", "@ada Two words")
      assert.nestedPropertyVal(events[0], "payload.public_metrics.like_count", 7)
    }).pipe(Effect.scoped))
})

describe("deliveries", () => {
  it("have the body of the service as it came, and its names for a sandbox with neutral ones", () => {
    const arrived = (body: object) => {
      const line = structuredClone(body)
      EventDelivery.arriving.result.normalise?.(line)
      return Object.fromEntries(Object.entries(line).map(([name, value]) => [name === "data" ? "event" : name, value]))
    }
    const foreign = {
      data: {
        event_uuid: "-1",
        filter: { user_id: "42" },
        event_type: "post.create",
        payload: {
          id: "1",
          edit_history_tweet_ids: ["1"],
          public_metrics: { retweet_count: 1, retweet_count_str: "1" }
        }
      },
      includes: { tweets: [{ id: "1", text: "a" }] }
    }
    assert.strictEqual(EventDelivery.ofItem(arrived(foreign), "x")?.body, JSON.stringify(foreign))
    const payload = { id: "1", edit_history_post_ids: ["1"], public_metrics: { repost_count: 1 } }
    const own = { data: { ...foreign.data, payload, includes: { posts: [{ id: "1", text: "a" }] } } }
    assert.deepStrictEqual(JSON.parse(EventDelivery.ofItem(arrived(own), "neutral")?.body ?? ""), foreign)
  })
})

describe("patterns of types", () => {
  it.effect("match whole names, with * for any text", () =>
    Effect.gen(function*() {
      const selected = (...given: ReadonlyArray<string>) =>
        Effect.map(EventTypes.selector(given), (isSelected) => eventTypes.filter(isSelected))
      assert.deepStrictEqual(yield* selected(), eventTypes)
      assert.deepStrictEqual(yield* selected("*.unmute, like.create", "spaces.*"), [
        "like.create",
        "mute.unmute",
        "spaces.start",
        "spaces.end"
      ])
      assert.deepStrictEqual(yield* selected("p*t.*.cr*e"), [
        "post.mention.create",
        "post.reply.create",
        "post.quote.create",
        "post.repost.create"
      ])
      const error = yield* Effect.flip(EventTypes.selector(["postXcreate"]))
      assert.strictEqual(error.advice, "Did you mean post.create?")
      const far = yield* Effect.flip(EventTypes.selector(["tweets"]))
      assert.match(far.advice ?? "", /^There are post\.\*, like\.\*/)
    }))
})

describe("the forwarder", () => {
  const delivery = EventDelivery.read(bodyOf("1", "dm.received")) ?? assert.fail()

  const answersIn = (statuses: Array<number | undefined>) =>
    HttpClient.make((request) => {
      const status = statuses.shift()
      return status === undefined ? Effect.never : Effect.succeed(
        HttpClientResponse.fromWeb(request, new Response(status < 400 ? null : "down\nfor a while", { status }))
      )
    })

  it.effect("retries like the service: after 3, 27 and 242 seconds, and after 10 without an answer", () =>
    Effect.gen(function*() {
      const attempts: Array<ReadonlyArray<unknown>> = []
      const run = (...statuses: Array<number | undefined>) =>
        Effect.gen(function*() {
          attempts.length = 0
          const forwarder = yield* Forwarder.make("http://localhost/hook", secret)
          const fiber = yield* Effect.forkChild(
            Forwarder.deliver(forwarder, delivery, ({ millis, problem, status, wait }) =>
              Effect.sync(() =>
                attempts.push([status, millis, problem, wait])
              ))
          )
          yield* TestClock.adjust("10 minutes")
          return yield* Fiber.join(fiber)
        }).pipe(Effect.provideService(HttpClient.HttpClient, answersIn(statuses)))
      assert.isTrue(yield* run(503, undefined, 200))
      assert.deepStrictEqual(attempts, [
        [503, 0, "down", 3_000],
        [undefined, 10_000, "no answer within 10 s", 27_000],
        [200, 0, undefined, undefined]
      ])
      assert.isFalse(yield* run(500, 302, 204, 404))
      assert.deepStrictEqual(attempts.map(([status, , problem, wait]) => [status, problem, wait]), [
        [500, "down", 3_000],
        [302, "the service requires 200, and follows no redirects", 27_000],
        [204, "the service requires 200", 242_000],
        [404, "down", undefined]
      ])
    }))

  it.live("shows why a program fails the challenge", () =>
    Effect.gen(function*() {
      const challenge = (url: string) =>
        Effect.flatMap(Forwarder.make(url, secret), ({ challenge }) => challenge).pipe(
          Effect.map(({ problem }) => problem),
          Effect.provide(Forwarder.layer)
        )
      const { url } = yield* program(Redacted.value(secret))
      assert.isUndefined(yield* challenge(`${url}?a=b`))
      const signsAll = yield* Commands.serve((request, response) => {
        const token = new URL(request.url ?? "", "http://localhost").searchParams.get("crc_token") ?? ""
        response.end(JSON.stringify({ response_token: Signature.sign(secret, token) }))
      })
      const isOracle = (url: string) =>
        Effect.flatMap(Forwarder.make(url, secret), ({ challenge }) => challenge).pipe(
          Effect.map(({ signsDeliveries }) => signsDeliveries),
          Effect.provide(Forwarder.layer)
        )
      assert.isFalse(yield* isOracle(url))
      assert.isTrue(yield* isOracle(signsAll.baseUrl))
      const other = yield* program("another secret")
      assert.strictEqual(yield* challenge(other.url), "response_token is not signed with POSTWIRE_CONSUMER_SECRET")
      assert.strictEqual(yield* challenge(yield* answering(200, "{}")), "the answer has no response_token")
      assert.strictEqual(yield* challenge(yield* answering(200, "ok")), "the answer is not JSON")
      assert.strictEqual(yield* challenge(yield* answering(404, "Cannot GET /")), "Cannot GET /")
      assert.match(`${yield* challenge("http://127.0.0.1:1/hook")}`, /ECONNREFUSED/)
    }).pipe(Effect.scoped))
})
