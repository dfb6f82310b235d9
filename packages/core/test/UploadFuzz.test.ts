// Whatever a file holds, it is refused with an error that says why and nothing of it is sent, or all of it is.
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Schema, Struct } from "effect"
import * as Errors from "../src/errors/Errors.ts"
import type { Input } from "../src/media/Source.ts"
import { upload } from "../src/media/Upload.ts"
import * as MediaBytes from "./support/MediaBytes.ts"
import * as MediaService from "./support/MediaService.ts"

const within = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

const forms: Readonly<Record<string, (bytes: Uint8Array<ArrayBuffer>) => Input>> = {
  bytes: (bytes) => bytes,
  blob: (bytes) => new Blob([bytes]),
  stream: (bytes) => ({ stream: new Blob([bytes]).stream(), size: bytes.length })
}

/** The beginning of a file, some of its bytes changed, with the beginning of another behind it. */
const file = Schema.Struct({
  type: Schema.Literals(Struct.keys(MediaBytes.samples)),
  end: within(2000),
  changes: Schema.Array(Schema.Struct({ at: within(200), value: within(255) })),
  tail: Schema.optional(Schema.Struct({ type: Schema.Literals(Struct.keys(MediaBytes.samples)), end: within(2000) })),
  form: Schema.Literals(Struct.keys(forms))
})

const outcomes = { refused: 0, sent: 0 }

describe("whatever a file holds", () => {
  it.effect.prop(
    "it is refused with a reason and not sent, or sent as it is",
    { file },
    ({ file }) =>
      Effect.gen(function*() {
        const { changes, end, form, tail, type } = file
        const whole = MediaBytes.samples[type]
        const head = whole.slice(0, end > whole.length ? undefined : end)
        for (const { at, value } of changes) if (at < head.length) head[at] = value
        const bytes = tail === undefined
          ? head
          : MediaBytes.concat(head, MediaBytes.samples[tail.type].subarray(0, tail.end))
        const service = MediaService.make()
        const exit = yield* upload(forms[form]!(bytes), { chunkBytes: 512 }).pipe(
          MediaService.passing,
          Effect.provide(service.layer()),
          Effect.exit
        )
        if (Exit.isSuccess(exit)) {
          outcomes.sent++
          assert.deepStrictEqual(service.bytes("1"), Buffer.from(bytes))
          assert.strictEqual(exit.value.size, bytes.length)
          return
        }
        outcomes.refused++
        const error = Cause.squash(exit.cause)
        assert.instanceOf(error, Errors.InvalidParameters, Cause.pretty(exit.cause))
        assert.strictEqual(error.parameter, "file")
        assert.match(error.message, /^upload: file must [ -~]+\.$/)
        assert.lengthOf(service.calls, 0)
      }),
    { arbitrary: { runs: process.env["POSTWIRE_LONG"] === "1" ? 500 : 40 } }
  )

  afterAll(() => {
    assert.isAbove(outcomes.sent, 3)
    assert.isAbove(outcomes.refused, 3)
  })
})
