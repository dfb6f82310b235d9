/** The progress of an export and its identity: only the same query, of the same account, into the same format continues it. */
import { Client } from "@postwire/core/client/Client"
import type { AnyError, ConflictingIdentifiers, InvalidParameters } from "@postwire/core/errors/Errors"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import * as Wire from "@postwire/core/wire/Wire"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CheckpointMismatch } from "../files/ExportErrors.ts"
import * as sealed from "../files/Sealed.ts"
import type { Source } from "../sources/Source.ts"

/** A number of things. Negative ones in a prepared file could raise a limit. */
export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** The identity of an export, as texts by name. */
export const Fingerprint = Schema.Record(Schema.String, Schema.String)

export type Fingerprint = typeof Fingerprint.Type

/** The progress of an export. */
export const Progress = Schema.Struct({
  /** Leads to the next page; absent before the first page and after the last. */
  cursor: Schema.optionalKey(Schema.String),
  /** True if nothing is left to fetch. */
  complete: Schema.Boolean,
  items: Count,
  /** The included objects, each counted once, by bucket. */
  included: Schema.Record(Schema.String, Count),
  /** Partial errors. */
  errors: Count,
  /** The rows of the input file by outcome; absent without a file. */
  outcomes: Schema.optionalKey(Schema.Record(Schema.String, Count)),
  /** The malformed or missing members, by their place in the responses; absent if there are none. */
  anomalies: Schema.optionalKey(Schema.Record(Schema.String, Count)),
  pages: Count,
  /** Requests for pages, including failed and repeated ones. */
  requests: Count,
  /** The cost in whole millionths of a dollar; absent where the client does not count it. */
  spent: Schema.optionalKey(Count),
  /** The runs started. */
  runs: Count,
  startedAt: Schema.String,
  /** The span of time that the service no longer returned when it was requested. */
  outOfReach: Schema.optionalKey(Schema.Struct({ from: Schema.String, to: Schema.String })),
  /** True if the service ended the list although it has more, as it may where pages are too large. */
  endedEarly: Schema.optionalKey(Schema.Literal(true)),
  /** The creation time of the oldest item, where items have one. */
  oldest: Schema.optionalKey(Schema.String)
})

export interface Progress extends Schema.Schema.Type<typeof Progress> {}

/** A checkpoint. */
export const Checkpoint = Schema.Struct({
  version: Schema.Literal(2),
  fingerprint: Fingerprint,
  progress: Progress,
  /** The length and digest of each file at the checkpoint; anything after that length is incomplete. */
  files: Schema.Record(Schema.String, Schema.Struct({ bytes: Count, sha256: Schema.String }))
})

export interface Checkpoint extends Schema.Schema.Type<typeof Checkpoint> {}

/** The progress before the first page. */
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

/** Reads and writes checkpoints. */
export const { read, write } = sealed.file(Checkpoint)

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

/** The encoded parameters of a call, by name: the same for every way to write them. */
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

/** The identity of an export. */
export const fingerprint = (options: {
  readonly source: Source<unknown>
  readonly format: string
  readonly limit: number | undefined
  /** A name for the account, if its tokens change. Default: a hash of the credential. */
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
