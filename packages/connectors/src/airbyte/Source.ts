/** An Airbyte source: `spec`, `check`, `discover` and `read`. Every line of its output is a message. */
import * as SyncFile from "@postwire/archive/sources/SyncFile"
import * as Plan from "@postwire/archive/sync/Plan"
import { getMe } from "@postwire/core/operations/Users"
import { oneLine } from "@postwire/node/TerminalText"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Config from "../config/Config.ts"
import * as Reading from "../streams/Reading.ts"
import * as streams from "../streams/Streams.ts"

const print = (message: object) => Console.log(JSON.stringify(message))

const log: Reading.Log = (level, message) => print({ type: "LOG", log: { level, message: oneLine(message) } })

const trace = (type: "ERROR" | "STREAM_STATUS", content: object) =>
  Effect.flatMap(
    Clock.currentTimeMillis,
    (emitted_at) => print({ type: "TRACE", trace: { type, emitted_at, ...content } })
  )

/** The specification: forms are made from it, so that a setting with alternatives is reduced to the last, a list. */
export const spec: Effect.Effect<void> = Effect.suspend(() => {
  const { schema } = Schema.toJsonSchemaDocument(Config.Config, {
    includeAnnotationKey: (key) => key === Config.secretMark
  })
  const connectionSpecification: unknown = JSON.parse(
    JSON.stringify(schema, (_, value: unknown) =>
      Predicate.hasProperty(value, "anyOf") && Array.isArray(value.anyOf)
        ? { ...value, anyOf: undefined, ...value.anyOf.at(-1) }
        : value)
  )
  return print({
    type: "SPEC",
    spec: {
      protocol_version: "0.3.2",
      supportsIncremental: true,
      documentationUrl: "https://github.com/postwire/postwire/blob/main/docs/connectors.md",
      connectionSpecification
    }
  })
})

/** Checks the configuration, the working copy, the credentials, and that each source can be found. */
export const check = (path: string): Effect.Effect<void> =>
  Effect.gen(function*() {
    const config = yield* Config.read(path)
    const userAuth = Config.isSigned(config)
    yield* Effect.gen(function*() {
      if (config.sources.some((source) => SyncFile.subjectsOf(source).includes("me"))) {
        yield* getMe({ user_auth: userAuth })
      }
      yield* Plan.estimate(config.sources, userAuth)
    }).pipe(Effect.provide(Config.layer(config)))
  }).pipe(Effect.matchEffect({
    onSuccess: () => print({ type: "CONNECTION_STATUS", connectionStatus: { status: "SUCCEEDED" } }),
    onFailure: ({ message }) =>
      print({ type: "CONNECTION_STATUS", connectionStatus: { status: "FAILED", message: oneLine(message) } })
  }))

/** Lists the streams. */
export const discover: Effect.Effect<void> = print({
  type: "CATALOG",
  catalog: {
    streams: streams.streams.map(({ jsonSchema, keys, name }) => ({
      name,
      json_schema: jsonSchema,
      supported_sync_modes: ["full_refresh", "incremental"],
      source_defined_cursor: true,
      default_cursor_field: [streams.cursor],
      source_defined_primary_key: keys.map((key) => [key])
    }))
  }
})

const Catalog = Schema.Struct({
  streams: Schema.Array(Schema.Struct({
    stream: Schema.Struct({ name: Schema.String }),
    sync_mode: Schema.Literals(["full_refresh", "incremental"])
  }))
})

const State = Schema.Array(Schema.Struct({
  stream: Schema.Struct({
    stream_descriptor: Schema.Struct({ name: Schema.String }),
    // An empty one is none.
    stream_state: Schema.optional(Schema.Union([Reading.Place, Schema.Struct({})]))
  })
}))

/** The files that a reading names. */
export interface Options {
  readonly config: string
  readonly catalog: string
  readonly state?: string | undefined
}

/** Prints the messages of one reading. */
export const read = Effect.fnUntraced(function*(options: Options) {
  const config = yield* Config.read(options.config)
  const configured = yield* Config.readAs(options.catalog, Catalog)
  const state = options.state === undefined ? [] : yield* Config.readAs(options.state, State)
  const places = new Map(configured.streams.flatMap(({ stream: { name }, sync_mode }) => {
    const stream = streams.streams.find((one) => one.name === name)
    const found = state.find(({ stream }) => stream.stream_descriptor.name === name)?.stream.stream_state
    const place = sync_mode === "incremental" && found !== undefined && "position" in found ? found : { position: 0 }
    return stream === undefined ? [] : [[stream, place] as const]
  }))
  /** The records of each stream since its last state. */
  const counts = new Map(Array.from(places.keys(), (stream) => [stream, 0]))
  const status = (status: string) =>
    Effect.forEach(
      places.keys(),
      ({ name }) => trace("STREAM_STATUS", { stream_status: { stream_descriptor: { name }, status } }),
      { discard: true }
    )
  yield* status("STARTED")
  yield* Reading.read(config, places, log).pipe(
    Stream.runForEach(Effect.fnUntraced(function*(event) {
      if (event._tag === "Record") {
        const { record: data, stream } = event
        counts.set(stream, (counts.get(stream) ?? 0) + 1)
        const emitted_at = yield* Clock.currentTimeMillis
        return yield* print({ type: "RECORD", record: { stream: stream.name, data, emitted_at } })
      }
      for (const [stream, recordCount] of counts) {
        counts.set(stream, 0)
        yield* print({
          type: "STATE",
          state: {
            type: "STREAM",
            stream: { stream_descriptor: { name: stream.name }, stream_state: event.place },
            sourceStats: { recordCount }
          }
        })
      }
    })),
    Effect.provide(Config.layer(config)),
    Effect.tapError(() => status("INCOMPLETE"))
  )
  yield* status("COMPLETE")
})

/** Reports an error. */
export const fail = ({ _tag, message }: { readonly _tag: string; readonly message: string }): Effect.Effect<void> =>
  trace("ERROR", {
    error: { message: oneLine(message), failure_type: configErrors.has(_tag) ? "config_error" : "transient_error" }
  })

const configErrors: ReadonlySet<string> = new Set(["InvalidSettings", "Unauthorized", "LoginRequired"])
