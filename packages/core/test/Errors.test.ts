import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Option } from "effect"
import { inspect } from "node:util"
import * as ErrorCodec from "../../sync/src/internal/errorCodec.ts"
import * as Errors from "../src/errors/Errors.ts"
import { show } from "../src/schema/Show.ts"
import { compliance, publishing, refusal, rules, samples, streams, webhooks } from "./support/ErrorSamples.ts"

type ErrorClass = new(...args: Array<never>) => Error

const isErrorClass = (value: unknown): value is ErrorClass =>
  typeof value === "function" && value.prototype instanceof Error

const classes: Readonly<Record<string, ErrorClass>> = Object.fromEntries(
  Object.values(Errors).flatMap((value) => isErrorClass(value) ? [[value.prototype.name, value]] : [])
)

const typeErrors: ReadonlyArray<string> = [
  "MissingAccessToken",
  "ConflictingIdentifiers",
  "InvalidParameters",
  "InvalidSettings"
]

const roundTrip = (error: ErrorCodec.Encodable): ErrorCodec.Encodable =>
  ErrorCodec.decode(structuredClone(Option.getOrThrow(ErrorCodec.encode(error))))

describe("every error", () => {
  it("is in the union, but for those of no call", () => {
    assert.sameMembers([...new Set(samples.map(({ _tag }) => _tag))], Object.keys(classes))
    const ofNoCall = [
      "AuthorizationDenied",
      "InvalidRedirect",
      "InvalidSettings",
      ...[...publishing, ...compliance, ...streams, ...rules, ...webhooks].map(({ _tag }) => _tag)
    ]
    for (const error of samples) assert.strictEqual(Errors.isAnyError(error), !ofNoCall.includes(error._tag))
    for (const other of [new Error("a"), { _tag: "NotFound" }, null]) assert.isFalse(Errors.isAnyError(other))
  })

  it.each(samples)("$_tag is an Error with a name, a message and a stack", (error) => {
    assert.instanceOf(error, Error)
    assert.isTrue(error instanceof classes[error._tag]!)
    assert.strictEqual(error instanceof TypeError, typeErrors.includes(error._tag))
    assert.isFalse(error instanceof RangeError)
    for (const other of samples) if (other._tag !== error._tag) assert.isFalse(error instanceof classes[other._tag]!)
    assert.strictEqual(error.name, error._tag)
    assert.isTrue(Cause.isCause(Cause.fail(error)))
    assert.strictEqual(String(error), `${error._tag}: ${error.message}`)
    assert.match(error.stack ?? "", new RegExp(`^${error._tag}: `))
    assert.include(error.stack, "ErrorSamples.ts")
    assert.strictEqual(Object.prototype.toString.call(error), "[object Error]")
    const printed = inspect(error)
    assert.isTrue(printed.startsWith(`${error._tag}: ${error.message}`), printed)
    assert.include(printed, `_tag: '${error._tag}'`)
    assert.include(Cause.pretty(Cause.fail(error)), error.message)
    if ("advice" in error && error.advice !== undefined) assert.isTrue(error.message.endsWith(`. ${error.advice}`))
  })

  it.effect.each(samples)("$_tag can be yielded and caught", (error) =>
    Effect.gen(function*() {
      const failing = Effect.andThen(Effect.void, error as Effect.Effect<never, Errors.AnyError>)
      assert.strictEqual(yield* Effect.flip(failing), error as Errors.AnyError)
      const caught = yield* Effect.catchTag(failing, error._tag as "BadRequest", (same) => Effect.succeed(same))
      assert.strictEqual(caught as unknown, error)
    }))

  it("leaves TypeError itself alone", () => {
    assert.isFalse(new TypeError("x") instanceof Errors.InvalidParameters)
    assert.deepStrictEqual(Object.getOwnPropertyNames(TypeError.prototype).sort(), ["constructor", "message", "name"])
    assert.isFalse("toJSON" in new TypeError("x"))
  })
})

describe("the codec", () => {
  it.each(samples)("carries $_tag across threads", (error) => {
    const same = roundTrip(error)
    assert.strictEqual(same.constructor, error.constructor)
    assert.deepStrictEqual({ ...same, message: same.message }, { ...error, message: error.message })
  })

  it("keeps every member of a problem, and the dates", () => {
    const error = roundTrip(samples.find(({ _tag }) => _tag === "RateLimited")!)
    assert.instanceOf(error, Errors.RateLimited)
    assert.deepStrictEqual(error.problems as unknown, refusal.problems)
    assert.deepStrictEqual(error.resetAt, new Date(0))
    assert.deepStrictEqual(error.rateLimit, refusal.rateLimit)
  })

  it("keeps the message of a cause", () => {
    const error = roundTrip(samples.find(({ _tag }) => _tag === "TransportFailure")!)
    assert.instanceOf(error.cause, Error)
    assert.strictEqual(error.cause.message, "inner")
  })

  it("is not polluted by a problem", () => {
    const problems = [JSON.parse(`{"title": "t", "__proto__": {"detail": "polluted"}}`)]
    const error = new Errors.BadRequest({ ...refusal, problems })
    for (const same of [error, roundTrip(error) as Errors.BadRequest]) {
      assert.isUndefined(same.problems[0]!.detail)
      assert.notInclude(same.message, "polluted")
    }
  })
})

describe("messages", () => {
  it("name the settings and their variables", () => {
    assert.strictEqual(
      samples[0]!.message,
      "like needs OAuth 1.0a user context (user_auth is true), but accessToken, consumerKey are not set. Pass them to the " +
        "client, or set POSTWIRE_ACCESS_TOKEN, POSTWIRE_CONSUMER_KEY, which are read if no other credential is passed. " +
        "For a user's bearer token, pass user_auth: false."
    )
  })

  it("say what the service said, else what the status means", () => {
    assert.strictEqual(new Errors.NotFound(refusal).message, "getPost: not found (400): d.")
    assert.strictEqual(
      new Errors.NotFound({ ...refusal, status: 404, problems: [] }).message,
      "getPost: not found (404): d."
    )
    assert.strictEqual(
      new Errors.NotFound({ ...refusal, status: 404, problems: [], detail: undefined }).message,
      "getPost: not found (404): t."
    )
    assert.strictEqual(
      new Errors.NotFound({ ...refusal, status: 404, problems: [], detail: undefined, title: undefined }).message,
      "getPost: not found (404)."
    )
  })

  it("advise", () => {
    assert.include(
      new Errors.RateLimited({ ...refusal, bucket: "b", resetAt: new Date(0) }).message,
      "1970-01-01T00:00:00.000Z"
    )
  })

  it("advise on write permission where that may be missing, and not where something else is said", () => {
    const forbidden = (detail?: string, title?: string) =>
      new Errors.Forbidden({ ...refusal, status: 403, problems: [], title, detail }).message
    for (const detail of [undefined, "Forbidden", "Your app has not the appropriate permissions."]) {
      assert.include(forbidden(detail, detail), "write permission")
    }
    assert.strictEqual(
      forbidden("You are not allowed to create a Tweet with duplicate content.", "Forbidden"),
      "getPost: this is not permitted with the bearer token (403): You are not allowed to create a Tweet with duplicate content."
    )
  })

  it("have the rule of the plan, unless another reason is given", () => {
    const planRule = "On self-serve plans the author must mention you."
    const forbidden = (detail: string | undefined) =>
      new Errors.Forbidden({ ...refusal, status: 403, problems: [], title: undefined, detail, planRule })
    for (const detail of [undefined, "Forbidden", "You are not permitted to perform this action."]) {
      const { advice, message } = forbidden(detail)
      assert.strictEqual(advice, planRule)
      assert.isTrue(message.endsWith(` ${planRule}`), message)
    }
    for (
      const detail of [
        "You are not allowed to create a Tweet with duplicate content.",
        "Your client app is not configured with the appropriate oauth1 app permissions for this endpoint."
      ]
    ) assert.notInclude(forbidden(detail).message, planRule)
  })

  it("ask for the sandbox where nothing listens on this machine, and for the address where it is wrong", () => {
    const failure = (reason: string) =>
      new Errors.TransportFailure({ operation: "getPost", phase: "connect", reason }).message
    for (const address of ["127.0.0.1:8080", "::1:8080"]) {
      assert.strictEqual(
        failure(`connect ECONNREFUSED ${address}`),
        `getPost: no response (connect): connect ECONNREFUSED ${address}. Is the sandbox running?`
      )
    }
    for (
      const reason of ["getaddrinfo ENOTFOUND nohost", "SSL routines:tls_validate_record_header:wrong version number"]
    ) {
      assert.strictEqual(failure(reason), `getPost: no response (connect): ${reason}. Check baseUrl and the network.`)
    }
    for (const reason of ["connect ECONNREFUSED 10.0.0.1:443", "read ECONNRESET 127.0.0.1:8080"]) {
      assert.strictEqual(failure(reason), `getPost: no response (connect): ${reason}`)
    }
  })
})

describe("show", () => {
  it("is short and on one line", () => {
    assert.strictEqual(show("a\r\nb"), `"a\\r\\nb"`)
    assert.strictEqual(show(1n), "1n")
    assert.strictEqual(show([1n]), `["1n"]`)
    assert.strictEqual(show(undefined), "undefined")
    assert.strictEqual(show(NaN), "NaN")
    assert.strictEqual(show(Symbol("canary")), "a symbol")
    assert.strictEqual(show(() => "canary"), "a function")
    const circular: Array<unknown> = []
    circular.push(circular)
    assert.strictEqual(show(circular), "a value that cannot be shown")
    assert.strictEqual(show({ toJSON: () => undefined }), "a value that cannot be shown")
    assert.lengthOf(show("x".repeat(1000)), 60)
  })
})

describe("environmentVariable", () => {
  it("is the setting in capitals", () => {
    assert.strictEqual(Errors.environmentVariable("accessTokenSecret"), "POSTWIRE_ACCESS_TOKEN_SECRET")
    assert.strictEqual(Errors.environmentVariable("baseUrl"), "POSTWIRE_BASE_URL")
  })
})

describe("a copy of the module", () => {
  it("makes errors that are those of the other, and nobody else's", async () => {
    const Copy: typeof Errors = await import(
      /* @vite-ignore */ new URL("../src/errors/Errors.ts?copy", import.meta.url).href
    )
    assert.notStrictEqual(Copy.NotFound, Errors.NotFound)
    class Mine extends Errors.RateLimitWaitTooLong {}
    for (const error of samples) {
      const theirs = Object.create(Copy[error._tag].prototype)
      for (const [name, errorClass] of Object.entries(classes)) {
        assert.strictEqual(theirs instanceof errorClass, name === error._tag, `${error._tag} as ${name}`)
        assert.strictEqual(error instanceof Copy[name as typeof error._tag], name === error._tag)
      }
      assert.isFalse(theirs instanceof Mine)
    }
    const own = new Mine({ operation: "a", bucket: "a", resetAt: new Date(0), maxWait: 0 })
    assert.instanceOf(own, Mine)
    assert.instanceOf(own, Copy.RateLimitWaitTooLong)
    for (const none of [undefined, null, "NotFound", { _tag: "NotFound" }, new Error("a")]) {
      assert.isFalse((none as unknown) instanceof Errors.NotFound)
    }
  })
})
