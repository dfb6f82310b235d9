/**
 * An uploader as a process of its own, to be killed. It says on standard output how far it is, a line a step, and in the end what
 * has become of its file. Its time passes as that of the service does.
 */
import { upload } from "@postwire/core/media/Upload"
import { getMediaByKey } from "@postwire/core/operations/Media"
import type { Media } from "@postwire/core/schema/models/Media"
import * as FileJournal from "@postwire/node/FileJournal"
import * as FileSource from "@postwire/node/FileSource"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { writeSync } from "node:fs"

/** What it is told. */
export interface Order {
  readonly settings: NodeClient.Settings
  readonly path: string
  /** The folder of the journal, and the key in it. */
  readonly journal: string
  readonly key: string
  readonly alt: string
  readonly chunkBytes: number
  /** How far the clock of the service is ahead, and how many times as fast as others it goes. */
  readonly aheadMillis: number
  readonly speed: number
}

/** What it tells in the end. */
export interface Told {
  readonly mediaKey: string
  readonly seen: Pick<Media, "type" | "alt_text" | "duration_ms">
}

const order: Order = JSON.parse(process.argv[2]!)

const ahead = (base: Clock.Clock): Clock.Clock => {
  const begun = base.currentTimeMillisUnsafe()
  const millis = () => begun + order.aheadMillis + order.speed * (base.currentTimeMillisUnsafe() - begun)
  const nanos = () => base.monotonicTimeNanosUnsafe() * BigInt(order.speed)
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: () => BigInt(Math.round(millis())) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(Math.round(millis())) * 1_000_000n),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) => base.sleep(Duration.millis(Duration.toMillis(duration) / order.speed))
  }
}

const say = (line: string) => void writeSync(1, `${line}\n`)

await Effect.gen(function*() {
  const { alt, chunkBytes, key, path } = order
  say("begin")
  const { media_key = "" } = yield* upload.resumable(key, FileSource.file(path), {
    alt,
    chunkBytes,
    onProgress: ({ phase, sentBytes }) => say(`${phase} ${sentBytes}`)
  })
  const { data } = yield* getMediaByKey({
    media_key,
    media_fields: ["type", "alt_text", "duration_ms"],
    user_auth: true
  })
  say(JSON.stringify({ mediaKey: media_key, seen: data! } satisfies Told))
}).pipe(
  Effect.provide(Layer.merge(NodeClient.layer(order.settings), FileJournal.layer({ folder: order.journal }))),
  (program) => Effect.clockWith((clock) => Effect.provideService(program, Clock.Clock, ahead(clock))),
  Effect.runPromise
)
process.exit(0)
