import { assert, describe, it } from "@effect/vitest"
import * as Errors from "@postwire/core/errors/Errors"
import * as Option from "effect/Option"
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads"
import * as ErrorCodec from "../src/internal/errorCodec.ts"

/** To another thread and back. */
const carried = (error: unknown) => {
  const { port1, port2 } = new MessageChannel()
  port1.postMessage(Option.getOrThrow(ErrorCodec.encode(error)))
  const { message }: { message: ErrorCodec.Encoded } = receiveMessageOnPort(port2)!
  port1.close()
  return ErrorCodec.decode(message)
}

const failure = (cause: unknown) =>
  new Errors.TransportFailure({ operation: "getPost", phase: "headers", timeout: "idle", reason: "gone", cause })

const lengthOf = (error: unknown): number => error instanceof Error ? 1 + lengthOf(error.cause) : 0

describe("errors that cross threads", () => {
  it("keep their class, their fields and their causes", () => {
    const given = new RangeError("a", { cause: new Error("b", { cause: "c" }) })
    const error = carried(failure(Object.assign(given, { code: "ECONNREFUSED" })))
    assert.instanceOf(error, Errors.TransportFailure)
    assert.deepInclude(error, { operation: "getPost", phase: "headers", timeout: "idle", reason: "gone" })
    const cause = error.cause as NodeJS.ErrnoException
    assert.deepInclude(cause, { name: "RangeError", message: "a", code: "ECONNREFUSED" })
    assert.notInclude(Object.keys(error), "cause")
    assert.deepStrictEqual([(cause.cause as Error).message, (cause.cause as Error).cause], ["b", "c"])
    const limited = new Errors.RateLimited({
      operation: "getPost",
      status: 429,
      credential: "bearer",
      accepts: ["bearer"],
      problems: [{ title: "T", value: [{ a: null }] }],
      bucket: "getPost",
      resetAt: new Date(5_000)
    })
    assert.deepStrictEqual(JSON.parse(JSON.stringify(carried(limited))), JSON.parse(JSON.stringify(limited)))
  })

  it.each([500, 5_000, 20_000])("may have %i causes or levels", (depth) => {
    let cause = new Error("root")
    for (let i = 0; i < depth; i++) cause = new Error(`${i}`, { cause })
    const error = carried(failure(cause))
    assert.instanceOf(error, Errors.TransportFailure)
    assert.strictEqual(lengthOf(error.cause), 100)
    const value: unknown = JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`)
    const refused = carried(
      new Errors.BadRequest({
        operation: "getPost",
        status: 400,
        credential: "bearer",
        accepts: ["bearer"],
        problems: [{ message: "M", value }]
      })
    )
    assert.instanceOf(refused, Errors.BadRequest)
    assert.strictEqual(refused.problems[0]?.message, "M")
    assert.match(JSON.stringify(refused.problems), /\["\[nested too deeply\]"\]/)
  })

  it("may lead back to themselves, throw when they are read, or be anything", () => {
    const circular = new Error("c")
    circular.cause = new Error("d", { cause: circular })
    assert.strictEqual(lengthOf((carried(failure(circular)) as Errors.TransportFailure).cause), 2)
    const thrower = (name: string) =>
      Object.defineProperty(new Error("c"), name, {
        get() {
          throw new Error("got")
        }
      })
    const loop: { self?: unknown } = {}
    loop.self = loop
    for (
      const cause of [
        thrower("message"),
        thrower("name"),
        thrower("cause"),
        Object.assign(new Error("m"), { message: Symbol("m") }),
        loop,
        () => {},
        Symbol("s"),
        5n,
        null
      ]
    ) {
      const error = carried(failure(cause))
      assert.instanceOf(error, Errors.TransportFailure)
      assert.isDefined(error.cause)
      assert.strictEqual(error.message, "getPost: no response (headers): gone")
    }
  })

  it("are those of operations: nothing else is taken for one", () => {
    for (const other of [new Error("a"), { _tag: "NotFound" }, undefined, "NotFound"]) {
      assert.isTrue(Option.isNone(ErrorCodec.encode(other)))
    }
  })
})
