/** A Singer tap: `--config FILE [--discover] [--catalog FILE] [--state FILE]`. Messages go to standard output, logs to standard error. */
import { oneLine } from "@postwire/node/TerminalText"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Config from "../config/Config.ts"
import * as Reading from "../streams/Reading.ts"
import * as streams from "../streams/Streams.ts"

/** The files that a run names. */
export interface Options {
  readonly config: string
  readonly catalog?: string | undefined
  readonly state?: string | undefined
}

const Selection = Schema.Struct({
  selected: Schema.optional(Schema.NullOr(Schema.Boolean)),
  "selected-by-default": Schema.optional(Schema.NullOr(Schema.Boolean))
})

const Catalog = Schema.Struct({
  streams: Schema.Array(Schema.Struct({
    tap_stream_id: Schema.String,
    metadata: Schema.optional(
      Schema.Array(Schema.Struct({ breadcrumb: Schema.Array(Schema.String), metadata: Selection }))
    )
  }))
})

const State = Schema.Struct({
  bookmarks: Schema.optional(Schema.Record(Schema.String, Reading.Place))
})

const automatic = (stream: streams.Stream): ReadonlyArray<string> => [...stream.keys, streams.cursor, "gone", "gone_at"]

/** The catalog of all streams. */
export const catalog: object = {
  streams: streams.streams.map((stream) => ({
    tap_stream_id: stream.name,
    stream: stream.name,
    key_properties: stream.keys,
    schema: stream.jsonSchema,
    metadata: [
      {
        breadcrumb: [],
        metadata: {
          inclusion: "available",
          "selected-by-default": true,
          "table-key-properties": stream.keys,
          "forced-replication-method": "INCREMENTAL",
          "valid-replication-keys": [streams.cursor]
        }
      },
      ...stream.columns.map(({ name }) => ({
        breadcrumb: ["properties", name],
        metadata: automatic(stream).includes(name)
          ? { inclusion: "automatic" }
          : { inclusion: "available", "selected-by-default": true }
      }))
    ]
  }))
}

/** The streams of a catalog with the columns that are selected. */
const selectedIn = ({ streams: listed }: typeof Catalog.Type): ReadonlyArray<streams.Stream> =>
  streams.streams.flatMap((stream) => {
    const entry = listed.find(({ tap_stream_id }) => tap_stream_id === stream.name)
    if (entry === undefined) return []
    const isSelected = (...path: ReadonlyArray<string>) => {
      const found = entry.metadata?.find(({ breadcrumb }) => breadcrumb.join() === path.join())?.metadata
      return found?.selected ?? found?.["selected-by-default"] ?? true
    }
    const always = automatic(stream)
    return isSelected() ? [streams.only(stream, (name) => always.includes(name) || isSelected("properties", name))] : []
  })

const print = (message: object) => Console.log(JSON.stringify(message))

/** Prints the messages of one run. */
export const run = Effect.fnUntraced(function*(options: Options) {
  const config = yield* Config.read(options.config)
  const selected = options.catalog === undefined
    ? streams.streams
    : selectedIn(yield* Config.readAs(options.catalog, Catalog))
  const { bookmarks = {} } = options.state === undefined ? {} : yield* Config.readAs(options.state, State)
  for (const { columns: _, jsonSchema, keys, name } of selected) {
    yield* print({
      type: "SCHEMA",
      stream: name,
      schema: jsonSchema,
      key_properties: keys,
      bookmark_properties: [streams.cursor]
    })
  }
  const places = new Map(selected.map((stream) => [stream, bookmarks[stream.name] ?? { position: 0 }]))
  yield* Reading.read(config, places, (level, line) => Console.error(oneLine(`${level} ${line}`))).pipe(
    Stream.runForEach(Effect.fnUntraced(function*(event) {
      if (event._tag === "Record") {
        const time = new Date(yield* Clock.currentTimeMillis).toISOString()
        return yield* print({
          type: "RECORD",
          stream: event.stream.name,
          record: event.record,
          time_extracted: time
        })
      }
      // The state of streams that are not selected now is kept.
      const reached = Object.fromEntries(selected.map(({ name }) => [name, event.place]))
      yield* print({ type: "STATE", value: { bookmarks: { ...bookmarks, ...reached } } })
    })),
    Effect.provide(Config.layer(config))
  )
})
