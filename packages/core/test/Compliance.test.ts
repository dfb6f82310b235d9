// What goes wrong between a client and the files of compliance jobs. What goes right is tried with the sandbox.
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Stream } from "effect"
import type { HttpClientError } from "effect/http"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import type * as Client from "../src/client/Client.ts"
import * as Errors from "../src/errors/Errors.ts"
import { downloadDirectMessageMedia } from "../src/operations/DirectMessages.ts"
import * as Compliance from "../src/workflows/Compliance.ts"
import * as MovedClock from "./support/MovedClock.ts"
import * as Recorder from "./support/Recorder.ts"
import { type Answer, baseUrl, make as makeService, type Received, transportError } from "./support/Service.ts"
import { test } from "./support/Test.ts"

/** Its bodies are read by the client, and may be cut. */
const make = (answer: Answering) => makeService(answer, { tells: false })

const signature = "canary-signature-0006"

/** As other stores of files have them. */
const shortSignature = "canary-7"
const pathSignature = "canary-signature-in-path"

const addressOf = (file: string) =>
  `${baseUrl}/files/${pathSignature}/${file}?X-Date=20261120T120000Z&X-Signature=${signature}%2B%3D&sig=${shortSignature}&a=b`

const job = {
  id: "1",
  type: "posts",
  status: "complete",
  upload_url: addressOf("ids"),
  download_url: addressOf("results")
} as const

/** Some of these are in two parts of the file. */
const lines = Array.from(
  { length: 250 },
  (_, i) => JSON.stringify({ id: String(i), action: "delete", reason: "deleted", created_at: "-".repeat(10_000) })
)

const file = Buffer.from(`${lines.join("\n")}\n`)

const ids = lines.map((_, i) => String(i))

/** The part of a file that is asked for. */
const partOf = ({ headers }: Received, bytes: Buffer = file, more: Answer["headers"] = { etag: "\"1\"" }) => {
  const [from = 0, to = 0] = headers["range"]?.match(/\d+/g)?.map(Number) ?? []
  const part = bytes.subarray(from, to + 1)
  const range = `bytes ${from}-${from + part.length - 1}/${bytes.length}`
  return { status: 206, headers: { "content-range": range, ...more }, body: streamOf(part) }
}

/** That fails after its bytes, if it is told to. */
const streamOf = (bytes: Uint8Array, end: "whole" | "cut" = "whole") =>
  new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (bytes.length > 0) controller.enqueue(bytes)
      if (end === "cut") controller.error(new Error("reset"))
      else controller.close()
    }
  }, { highWaterMark: 0 })

type Answering = (request: Received, index: number) =>
  | Answer
  | Effect.Effect<Answer, HttpClientError.HttpClientError>

/** What was read of the results before they ended, and what ended them. */
const read = (answer: Answering, retries = 0) => {
  const service = make(answer)
  const seen: Array<string> = []
  return Compliance.results(job).pipe(
    Stream.runForEach(({ id }) => Effect.sync(() => seen.push(id))),
    Effect.flip,
    Effect.orElseSucceed(() => undefined),
    Effect.map((error) => ({ seen, error, ranges: service.requests.map(({ headers }) => headers["range"]) })),
    Effect.provide(service.layer({ bearerToken: "token", retries }))
  )
}

const ranges = ["bytes=0-1048575", "bytes=1048576-2097151", "bytes=2097152-3145727"]

describe("the results of a job", () => {
  test("come by parts of the file, each once and in order, whatever the parts cut")(function*() {
    for (const answer of [partOf, (request: Received) => partOf(request, file, {})]) {
      assert.deepStrictEqual(yield* read((request) => answer(request)), { seen: ids, error: undefined, ranges })
    }
    const whole = yield* read(() => ({ body: streamOf(file) }))
    assert.deepStrictEqual(whole.seen, ids)
    const unended = yield* read((request) => partOf(request, file.subarray(0, -1)))
    assert.deepStrictEqual(unended.seen, ids)
  })

  it.live("go on where they were cut, with the part that was cut", () =>
    Effect.gen(function*() {
      const { error, ranges: asked, seen } = yield* read((request, index) => {
        const part = partOf(request)
        return index === 1 ? { ...part, body: streamOf(file.subarray(1_048_576, 1_100_000), "cut") } : part
      }, 1)
      assert.isUndefined(error)
      assert.deepStrictEqual(seen, ids)
      assert.deepStrictEqual(asked, [ranges[0], ranges[1], ranges[1], ranges[2]])
    }))

  test("fail after those that were whole: with a transport that gives up, or another part than was asked for")(
    function*() {
      const firstIds = ids.slice(0, file.subarray(0, 1_048_576).toString().split("\n").length - 1)
      const later = (answer: (request: Received) => ReturnType<Answering>) => (request: Received, index: number) =>
        index === 0 ? partOf(request) : answer(request)
      const gone = yield* read(later(() => transportError(new Error("reset"))))
      assert.deepStrictEqual([gone.error?._tag, gone.seen], ["TransportFailure", firstIds])
      const cases: ReadonlyArray<readonly [Answering, string]> = [
        [later((request) => ({ ...partOf(request), body: streamOf(file.subarray(0, 9)) })), "not the one"],
        [later(() => ({ body: streamOf(file) })), "not the one"],
        [later((request) => ({ ...partOf(request), headers: { etag: "\"1\"" } })), "not the one"],
        [
          later((request) => partOf(request, file, { etag: "\"2\"" })),
          "changed"
        ],
        [later((request) => partOf(request, file, {})), "changed"]
      ]
      for (const [answer, reason] of cases) {
        const { error, seen } = yield* read(answer)
        assert.instanceOf(error, Errors.ComplianceUnreadable)
        assert.deepInclude(error, { jobId: "1", line: undefined })
        assert.include(error.reason, reason)
        assert.deepStrictEqual(seen, firstIds)
      }
      const longer = Buffer.concat([file, Buffer.from("\n")])
      const grown = yield* read((request, index) => partOf(request, index === 0 ? file : longer, {}))
      assert.include(grown.error?.message, "changed")
    }
  )

  test("name the line that is none, and the last one when it was cut")(function*() {
    for (
      const [text, line, reason] of [
        [`${lines[0]}\n{"id":5}\n`, 2, "it is not a result"],
        [`${lines[0]}\n${lines[1]?.slice(0, 50)}`, 2, "it was cut"],
        [`${lines[0]}\n${"-".repeat(20_000)}`, 2, "it is longer than 16384 characters"],
        [`${lines[0]}\n${"-".repeat(20_000)}\n${lines[1]}\n`, 2, "it is longer than 16384 characters"]
      ] as const
    ) {
      const { error, seen } = yield* read((request) => partOf(request, Buffer.from(text)))
      assert.deepInclude(error, { _tag: "ComplianceUnreadable", line, reason })
      // What came before it was given out.
      assert.deepStrictEqual(seen, ["0"])
    }
    const none = yield* read(() => ({ status: 416, headers: { "content-range": "bytes */0" } }))
    assert.deepStrictEqual([none.seen, none.error], [[], undefined])
  })
})

describe("a check", () => {
  const lost = transportError({ phase: "headers", requestSent: true, message: "reset" })
  const check = (name: string | undefined, isFound: boolean, answer: ReturnType<Answering> = lost) => {
    let created: { readonly name: string } | undefined
    const service = make((request): ReturnType<Answering> => {
      const path = `${request.method} ${request.path}`
      if (path === "POST /2/compliance/jobs") {
        created = JSON.parse(request.body)
        return answer
      }
      if (path === "GET /2/compliance/jobs") {
        const others = [{ ...job, id: "7", name: "other" }, { ...job, id: "8" }]
        return { body: { data: isFound ? [...others, { ...job, ...created, status: "created" }] : others } }
      }
      if (path === "GET /2/compliance/jobs/1") return { body: { data: job } }
      return path === `PUT /files/${pathSignature}/ids` ? {} : partOf(request, Buffer.from(`${lines[0]}\n`))
    })
    return Effect.map(
      Effect.result(Stream.runCollect(Compliance.check({ type: "posts", ids: ["0", "1"], name }))),
      (result) => ({ result, service, name: created?.name })
    ).pipe(Effect.provide(service.layer({ bearerToken: "token" })))
  }

  test("finds the job whose creation was not answered by its name, and creates no second one")(function*() {
    const { name, result, service } = yield* check(undefined, true)
    assert.deepStrictEqual(result._tag === "Success" ? result.success.map(({ id }) => id) : result.failure, ["0"])
    assert.match(name ?? "", /^postwire-[0-9a-f-]{36}$/)
    assert.deepStrictEqual(service.requests.map(({ method, path }) => `${method} ${path}`), [
      "POST /2/compliance/jobs",
      "GET /2/compliance/jobs",
      `PUT /files/${pathSignature}/ids`,
      "GET /2/compliance/jobs/1",
      `GET /files/${pathSignature}/results`
    ])
    assert.deepInclude(service.requests[1]?.query, { type: "posts", status: "created" })
  })

  test("finds the job that a gateway's failure hides")(function*() {
    for (const status of [408, 500, 502, 503]) {
      const { result } = yield* check(undefined, true, { status })
      assert.deepStrictEqual(result._tag === "Success" ? result.success.map(({ id }) => id) : result.failure, ["0"])
    }
  })

  test("does not know it where it is not there, or where others may have its name")(function*() {
    for (const [name, isFound, requests] of [[undefined, false, 2], ["archive", true, 1]] as const) {
      const { result, service } = yield* check(name, isFound)
      assert.strictEqual(result._tag === "Failure" ? result.failure._tag : undefined, "OutcomeUnknown")
      assert.lengthOf(service.requests, requests)
    }
  })
})

test("a job is waited for as long as was said, however the wall clock is set")(function*() {
  const clock = yield* MovedClock.make
  const service = make(() => {
    clock.move(3_600_000)
    return { body: { data: { ...job, status: "created" } } }
  })
  const waiting = Compliance.wait(job, { maxWait: 60_000 }).pipe(Effect.provide(service.layer()), Effect.flip)
  const fiber = yield* Effect.forkChild(clock.provide(waiting))
  while (fiber.pollUnsafe() === undefined) yield* Effect.andThen(Effect.yieldNow, TestClock.adjust(1_000))
  assert.deepInclude(yield* Fiber.join(fiber), { _tag: "ComplianceNotComplete", waited: 60_000 })
})

describe("a file that comes by drops", () => {
  test("is given up after the time of a call")(function*() {
    const runPromise = Effect.runPromiseWith(yield* Effect.context<never>())
    const service = make(() => ({
      status: 206,
      body: new ReadableStream<Uint8Array>({
        pull: async (controller) => {
          await runPromise(Effect.sleep(20_000))
          controller.enqueue(new Uint8Array(1))
        }
      })
    }))
    const run = Stream.runDrain(Compliance.results(job)).pipe(Effect.provide(service.layer()), Effect.flip)
    const fiber = yield* Effect.forkChild(run)
    while (fiber.pollUnsafe() === undefined) yield* Effect.andThen(Effect.yieldNow, TestClock.adjust(1_000))
    assert.deepInclude(yield* Fiber.join(fiber), { _tag: "TransportFailure", phase: "body", timeout: "total" })
  })
})

describe("waiting for a job", () => {
  const wait = Effect.fnUntraced(function*(answers: ReadonlyArray<Answer>, maxWait: number) {
    const service = make((_request, index) => answers[index] ?? answers.at(-1)!)
    const fiber = yield* Effect.forkChild(
      Effect.result(Compliance.wait({ id: "1" }, { maxWait })).pipe(
        Effect.provide(service.layer({ bearerToken: "token" }))
      )
    )
    yield* TestClock.adjust(maxWait + 60_000)
    return { result: yield* Fiber.join(fiber), requests: service.requests.length }
  })

  test("goes through failures that pass, and names the job where they do not")(function*() {
    const running = { body: { data: { ...job, status: "in_progress" } } }
    const failures = [{ status: 503 }, { status: 502, body: "<html>" }, { status: 429 }, { status: 500 }]
    const through = yield* wait([...failures, running, ...failures, { body: { data: job } }], 3_600_000)
    assert.strictEqual(through.result._tag === "Success" ? through.result.success.id : through.result.failure, "1")
    const { requests, result } = yield* wait([running, { status: 503 }], 60_000)
    if (result._tag === "Success") throw new Error("it is not complete")
    if (result.failure._tag !== "ComplianceNotComplete") throw result.failure
    assert.deepInclude(result.failure, { jobId: "1", status: "in_progress", waited: 60_000 })
    assert.isAbove(requests, 3)
    const refused = yield* wait([{ status: 401 }], 60_000)
    assert.strictEqual(refused.result._tag === "Failure" ? refused.result.failure._tag : undefined, "Unauthorized")
    assert.strictEqual(refused.requests, 1)
  })

  test("waits for a rate limit by the clock of the service")(function*() {
    const times: Array<number> = []
    // The service's clock is an hour ahead.
    const limited = {
      status: 429,
      headers: {
        date: new Date(3_600_000).toUTCString(),
        "x-rate-limit-limit": "15",
        "x-rate-limit-remaining": "0",
        "x-rate-limit-reset": "3720"
      }
    }
    const service = make((_request, index) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        times.push(now)
        return index === 0 ? limited : { body: { data: job } }
      })
    )
    const fiber = yield* Effect.forkChild(
      Effect.provide(Compliance.wait({ id: "1" }), service.layer({ bearerToken: "token" }))
    )
    yield* TestClock.adjust("2 hours")
    assert.strictEqual((yield* Fiber.join(fiber)).id, "1")
    assert.strictEqual(times.length, 2)
    assert.closeTo(times[1]!, 120_000, 2_000)
  })
})

describe("the signature of an address", () => {
  const quoteOf = ({ headers, method, url }: Received) =>
    `${method} ${url}\n${JSON.stringify(headers)}\n<Provided>${signature}+=</Provided><Path>${
      new URL(url).search
    }</Path><Also>${shortSignature} ${pathSignature}</Also>`

  const answers: Readonly<Record<string, Answering>> = {
    "a refusal that quotes it": (request) => ({ status: 403, body: quoteOf(request) }),
    "a failure that quotes it": (request) => ({ status: 503, body: encodeURIComponent(quoteOf(request)) }),
    "a redirect to itself": ({ url }) => ({ status: 307, headers: { location: url }, body: url }),
    "a transport that quotes it": (request) => transportError(new Error(quoteOf(request), { cause: quoteOf(request) })),
    "a body that is cut": (request) => ({ status: 206, body: streamOf(Buffer.from(quoteOf(request)), "cut") }),
    "a part that is none": (request) => ({ status: 206, headers: { etag: request.url }, body: quoteOf(request) })
  }

  const calls: Readonly<Record<string, Effect.Effect<unknown, Error, Client.Client>>> = {
    upload: Compliance.upload(job, ["1"]),
    results: Stream.runDrain(Compliance.results(job)),
    // No request leaves.
    "upload without TLS": Compliance.upload({ ...job, upload_url: `http://files.test/?X-Signature=${signature}` }, [
      "1"
    ])
  }

  test.each(Object.entries(answers))("is in no error, span or log of %s")(function*([, answer]) {
    const { layer, lines: told, spans } = Recorder.all()
    const service = make(answer)
    for (const call of Object.values(calls)) {
      const outcome = yield* Effect.result(Effect.provide(call, [service.layer(), layer]))
      const error = outcome._tag === "Failure" ? outcome.failure : undefined
      told.push(error, error?.stack, error?.cause, JSON.stringify(error))
    }
    assert.isAbove(spans.length, 1)
    told.push(spans.map(({ attributes, events, name, status }) => [name, [...attributes], events, status]))
    assert.notInclude(inspect(told, { depth: Infinity, maxStringLength: Infinity }), "canary-")
    assert.isTrue(service.requests.every(({ headers }) => headers["authorization"] === undefined))
  })
})

describe("a file of a direct message", () => {
  test("that is cut is a TransportFailure, and no shorter file")(function*() {
    const service = make(() => ({
      headers: { "content-type": "image/png", "content-length": "9" },
      body: streamOf(new Uint8Array(4), "cut")
    }))
    const named = { dm_id: "1", media_id: "2", resource_id: "3_2.png" }
    const error = yield* Effect.flip(Effect.provide(downloadDirectMessageMedia(named), service.layer()))
    assert.deepInclude(error, { _tag: "TransportFailure", phase: "body" })
  })
})
