/** What an OpenAPI document of the service says otherwise than the client. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as DriftReport from "../drift/DriftReport.ts"
import { FileUnusable } from "../terminal/ErrorReport.ts"
import * as TextFile from "../terminal/TextFile.ts"

/** Holds the operations of the client against the document in a file. */
export const examineDocument = Effect.fnUntraced(function*(path: string) {
  const what = "a file with an OpenAPI document (JSON)"
  const unusable = (reason: string) => new FileUnusable({ path, reason, advice: `Name ${what} that you may read.` })
  const text = yield* TextFile.read(path, what)
  const json = yield* Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: () => unusable("it is not JSON")
  })
  return yield* Result.match(DriftReport.make(json), {
    onFailure: (reason) => Effect.fail(unusable(reason)),
    onSuccess: Effect.succeed
  })
})
