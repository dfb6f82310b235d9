/**
 * Where an export stands, and which export it is. Whoever goes on from a checkpoint must ask for the same, of the same
 * service account, into the same format.
 */
import { Client } from "@postwire/core/client/Client"
import type { AnyError, ConflictingIdentifiers, InvalidParameters } from "@postwire/core/errors/Errors"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import * as Wire from "@postwire/core/wire/Wire"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CheckpointMismatch, type ExportError } from "../files/ExportErrors.ts"
import * as sealed from "../files/Sealed.ts"
import type { Source } from "../sources/Source.ts"

/** A sum or a number of things. A prepared file could otherwise raise a limit. */
export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** What makes an export this one and no other, as texts by name. */
export const Fingerprint = Schema.Record(Schema.String, Schema.String)

/** What makes an export this one and no other, as texts by name. */
export type Fingerprint = typeof Fingerprint.Type

/** How far an export has come. */
export const Progress = Schema.Struct({
  /** Leads to the next page; none at the beginning and at the end. */
  cursor: Schema.optionalKey(Schema.String),
  /** Whether nothing is left to fetch. */
  complete: Schema.Boolean,
  items: Count,
  /** Objects that expansions brought, each counted once, by bucket. */
  included: Schema.Record(Schema.String, Count),
  /** Partial errors. */
  errors: Count,
  /** How many rows of a file had each outcome; absent where there is no file. */
  outcomes: Schema.optionalKey(Schema.Record(Schema.String, Count)),
  /** How many members were malformed or missing, by their place in the answers; absent where none was. */
  anomalies: Schema.optionalKey(Schema.Record(Schema.String, Count)),
  pages: Count,
  /** Pages asked for, those included that did not come or were fetched again. */
  requests: Count,
  /** What its requests were charged, in whole millionths of a dollar; absent where the client does not count that. */
  spent: Schema.optionalKey(Count),
  /** How often the export was started. */
  runs: Count,
  startedAt: Schema.String,
  /** What the service no longer gave when its turn came. */
  outOfReach: Schema.optionalKey(Schema.Struct({ from: Schema.String, to: Schema.String })),
  /** When the oldest item was created, where items say so. */
  oldest: Schema.optionalKey(Schema.String)
})

/** How far an export has come. */
export interface Progress extends Schema.Schema.Type<typeof Progress> {}

/** A checkpoint. */
export const Checkpoint = Schema.Struct({
  version: Schema.Literal(2),
  fingerprint: Fingerprint,
  progress: Progress,
  /** How long each file was, in bytes, and what was in it: what is beyond was not finished. */
  files: Schema.Record(Schema.String, Schema.Struct({ bytes: Count, sha256: Schema.String }))
})

/** A checkpoint. */
export interface Checkpoint extends Schema.Schema.Type<typeof Checkpoint> {}

/** The beginning of an export. */
export const start = (startedAt: string): Progress => ({
  complete: false,
  items: 0,
  included: {},
  errors: 0,
  pages: 0,
  requests: 0,
  runs: 0,
  startedAt
})

const decode = Schema.decodeUnknownOption(Checkpoint)

/** The checkpoint in a file, or `undefined` if there is no file. */
export const read = (path: string): Effect.Effect<Checkpoint | undefined, ExportError> => sealed.read(path, decode)

/** Writes a checkpoint; it is on the disk when this succeeds. */
export const write = (path: string, checkpoint: Checkpoint): Effect.Effect<void, ExportError> =>
  sealed.write(path, checkpoint)

/** Refuses the checkpoint of another export. */
export const assertSame = (
  path: string,
  saved: Fingerprint,
  asked: Fingerprint
): Effect.Effect<void, CheckpointMismatch> => {
  const differences = [...new Set([...Object.keys(saved), ...Object.keys(asked)])]
    .filter((name) => saved[name] !== asked[name])
    .map((name) => ({ name, saved: saved[name] ?? "not set", asked: asked[name] ?? "not set" }))
  return differences.length === 0 ? Effect.void : Effect.fail(new CheckpointMismatch({ path, differences }))
}

/** The parameters of a call as they travel, by name: the same whatever form they were given in. */
export const parametersOf = (
  { definition, parameters, perRequest = {} }: Pick<Source<unknown>, "definition" | "parameters" | "perRequest">
): Fingerprint | InvalidParameters | ConflictingIdentifiers => {
  const whole = { ...parameters, ...perRequest }
  const prepared = RequestEncoder.encode(definition, whole, Wire.neutral, { checks: "identifiers" })
  if (prepared instanceof Error) return prepared
  const own = [...new URLSearchParams(prepared.query)].filter(([name]) => !Object.hasOwn(perRequest, name))
  const sorted = own.sort(([a], [b]) => a < b ? -1 : 1)
  return { route: `${prepared.method} ${prepared.path}`, ...Object.fromEntries(sorted) }
}

/** What makes an export this one. */
export const fingerprint = (options: {
  readonly source: Source<unknown>
  readonly format: string
  readonly limit: number | undefined
  /** A name of the account, where its token changes; else the token's own fingerprint. */
  readonly account: string | undefined
}): Effect.Effect<Fingerprint, AnyError, Client> =>
  Effect.gen(function*() {
    const { account, format, limit, source } = options
    const parameters = parametersOf(source)
    if (parameters instanceof Error) return yield* parameters
    const { credential } = yield* Client
    const userAuth = source.parameters["user_auth"] ?? source.definition.userAuth ?? false
    return {
      operation: source.definition.name,
      ...parameters,
      ...source.fingerprint,
      format,
      limit: limit === undefined ? "none" : String(limit),
      credential: account ?? (yield* credential(userAuth === true))
    }
  })
