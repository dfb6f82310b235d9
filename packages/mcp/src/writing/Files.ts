/** Files of posts, bound to their bytes by a digest. */
import { SourceFailure } from "@postwire/core/errors/UploadErrors"
import type { Source } from "@postwire/core/media/Source"
import * as FileSource from "@postwire/node/FileSource"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { Refused } from "../money/Refused.ts"
import * as Fence from "../text/Fence.ts"
import type { Medium } from "./Book.ts"

/** The bytes that are hashed at a time. */
const pieceBytes = 1_048_576

/** The digest of a file, and the file as a source that fails once it has changed. Its name in errors is fenced. */
export const open = (
  path: string
): Effect.Effect<{ readonly digest: string; readonly source: Source }, SourceFailure> =>
  Effect.scoped(Effect.gen(function*() {
    const file = FileSource.file(path)
    const name = Fence.exact(file.name)
    const { read, size, version } = yield* file.open
    const hash = createHash("sha256")
    for (let at = 0; at < size; at += pieceBytes) hash.update(yield* read(at, pieceBytes))
    const unchanged = Effect.filterOrFail(
      file.open,
      (opened) => opened.version === version,
      () => new SourceFailure({ source: name, fault: "changed" })
    )
    return { digest: hash.digest("hex"), source: { name: file.name, open: unchanged } }
  })).pipe(
    Effect.mapError(({ detail, fault, source }) => new SourceFailure({ source: Fence.exact(source), fault, detail }))
  )

/** The file of a prepared post, if it still has the same bytes. */
export const reopen = ({ digest, path }: Medium): Effect.Effect<Source, SourceFailure | Refused> =>
  Effect.flatMap(open(path), (opened) =>
    opened.digest === digest ? Effect.succeed(opened.source) : Effect.fail(
      new Refused({
        reason: `The file ${Fence.exact(opened.source.name)} has other bytes than when the post was prepared.`,
        advice: "Nothing was sent. Prepare the post again."
      })
    ))
