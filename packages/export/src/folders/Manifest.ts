/** The manifest of an export that has ended: its query, result, time, and the hashes of its files. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { basename } from "node:path"
import * as disk from "../files/Disk.ts"
import type { ExportError } from "../files/ExportErrors.ts"
import * as sealed from "../files/Sealed.ts"
import { Fingerprint, Progress } from "./Checkpoint.ts"
import type { Output } from "./Sink.ts"

/** A manifest. It contains no secret: the credential is a hash. */
export const Manifest = Schema.Struct({
  version: Schema.Literal(2),
  /** `partial`: complete, but the service reported errors for parts of it. */
  status: Schema.Literals(["done", "partial", "interrupted", "failed"]),
  /** Why it failed. */
  reason: Schema.optionalKey(Schema.String),
  fingerprint: Fingerprint,
  progress: Progress,
  endedAt: Schema.String,
  software: Schema.String,
  /** The files, once they are complete. */
  files: Schema.Array(Schema.Struct({
    /** Relative to the folder of the items. */
    name: Schema.String.check(Schema.makeFilter((name) => Schema.is(disk.Name)(basename(name)))),
    holds: Schema.String,
    rows: Schema.Int,
    bytes: Schema.Int,
    sha256: Schema.String
  }))
})

export interface Manifest extends Schema.Schema.Type<typeof Manifest> {}

/** Makes a manifest. Reads the files, and refuses those that were changed. */
export const make = (
  options: Pick<Manifest, "status" | "fingerprint" | "progress" | "endedAt"> & {
    readonly reason?: string
    readonly outputs: ReadonlyArray<Output & { readonly name: string }>
  }
): Effect.Effect<Manifest, ExportError> => {
  const { outputs, ...rest } = options
  return Effect.gen(function*() {
    const files = yield* Effect.forEach(
      outputs,
      ({ path, sha256, ...output }) => Effect.map(disk.digest(path, sha256), (digest) => ({ ...output, ...digest }))
    )
    return { version: 2, ...rest, software: `postwire ${yield* softwareVersion}`, files }
  })
}

// A Node too old to be supported fails on a static import of JSON before it can show a message.
const softwareVersion = Effect.promise(() => import("../../package.json", { with: { type: "json" } })).pipe(
  Effect.map(({ default: { version } }) => version)
)

/** Reads and writes manifests. */
export const { read, write } = sealed.file(Manifest)
