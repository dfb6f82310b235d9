/** A process that takes part in a shared stream, and notes what its consumer gets until it is killed. */
import * as Database from "@postwire/cluster/Database"
import * as PostgresStreamLog from "@postwire/cluster/PostgresStreamLog"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import { streamPosts } from "@postwire/core/streams/operations/Streams"
import * as SharedStream from "@postwire/core/streams/shared/SharedStream"
import type { StreamLog } from "@postwire/core/streams/shared/StreamLog"
import * as RedisStreamLog from "@postwire/node/RedisStreamLog"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Effect, Layer, Redacted, Stream } from "effect"
import { closeSync, openSync, readFileSync, writeSync } from "node:fs"
import type { Told } from "./KilledHolders.ts"

const { baseUrl, bearerToken, consumer, file, log, tags }: Told = JSON.parse(process.argv[2] ?? "")

const tell = (what: object) => writeSync(1, `${JSON.stringify({ ...what, time: Date.now() })}\n`)

/** Its work, and how far it is, in one write. */
const notes = openSync(file, "a")

const last = () => {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n")
  const position = Number(lines.at(-1)?.split(" ")[0])
  return position > 0 ? position : undefined
}

const Log: Layer.Layer<StreamLog, unknown> = log.startsWith("redis")
  ? RedisStreamLog.layerUrl({ url: log })
  : Layer.provide(PostgresStreamLog.layer, Database.layerPostgres({ url: Redacted.make(log) }))

const Services = Layer.merge(
  Layer.provide(Client.layer({ baseUrl }), [Credentials.layerBearer(bearerToken), UndiciHttpClient.layer()]),
  Log
)

const program = Effect.gen(function*() {
  const shared = yield* SharedStream.open("killed", streamPosts, {}, { recover: "recovery", onEvent: tell })
  const from = last()
  yield* Stream.runForEach(
    shared.consume({ consumer, tags, onMissed: tell, ...(from === undefined ? {} : { from }) }),
    ({ item, position }) =>
      Effect.sync(() => {
        writeSync(notes, `${position} ${item.post.id}\n`)
        tell({ _tag: "Got", id: item.post.id })
      })
  )
})

await Effect.runPromise(Effect.provide(Effect.scoped(program), Services)).finally(() => closeSync(notes))
