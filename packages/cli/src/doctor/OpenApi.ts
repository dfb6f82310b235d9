/** What an OpenAPI document of the service says otherwise than the client. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Result from "effect/Result"
import * as DriftReport from "../drift/DriftReport.ts"
import { FileUnusable } from "../ErrorReport.ts"

/** Holds the operations of the client against the document in a file. */
export const examineDocument = Effect.fnUntraced(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const unusable = (reason: string) =>
    new FileUnusable({ path, reason, advice: "Name a file with an OpenAPI document (JSON) that you may read." })
  const text = yield* Effect.mapError(
    fs.readFileString(path),
    (error) => unusable(error.reason._tag === "NotFound" ? "there is no such file" : error.message)
  )
  const json = yield* Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: () => unusable("it is not JSON")
  })
  return yield* Result.match(DriftReport.make(json), {
    onFailure: (reason) => Effect.fail(unusable(reason)),
    onSuccess: Effect.succeed
  })
})
