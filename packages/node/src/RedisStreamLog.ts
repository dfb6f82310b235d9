/**
 * The log of a stream that processes on several machines share, in Redis 6.2 or later. Every step is one Lua script.
 *
 * Entries that Redis loses when it ends are fetched and delivered again where possible. For delivery exactly once, set `appendonly
 * yes`, and `maxmemory-policy noeviction` or one of the `volatile` policies.
 *
 * @stability experimental
 */
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import type { StorageUnavailable } from "@postwire/core/storage/Storage"
import * as StreamLog from "@postwire/core/streams/shared/StreamLog"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Redis from "effect/persistence/Redis"
import * as RedisConnection from "./internal/redisConnection.ts"
import { type RedisEntry, scripts } from "./internal/redisStreamScripts.ts"

/** Settings of the log with its own connection. */
export interface Options extends RedisConnection.Options {}

/** The polling interval of a waiting reader: a script takes a fraction of a millisecond. */
const pollMillis = 100

const make = (evaluate: RedisConnection.Evaluate): StreamLog.Store => {
  const acquire = evaluate(scripts.acquire)
  const prolong = evaluate(scripts.prolong)
  const release = evaluate(scripts.release)
  const append = evaluate(scripts.append)
  const extent = evaluate(scripts.extent)
  const read = evaluate(scripts.read)
  const ids = evaluate(scripts.ids)
  const cursor = evaluate(scripts.cursor)
  const commit = evaluate(scripts.commit)
  const forget = evaluate(scripts.forget)
  const trim = evaluate(scripts.trim)

  const answered = <A>(step: Effect.Effect<A, StorageUnavailable>) =>
    Effect.mapError(step, ({ reason }) => new StreamLog.StreamLogUnavailable({ reason }))

  const held = ({ consumer, stream }: StreamLog.Seat, step: Effect.Effect<0 | 1, StorageUnavailable>) =>
    Effect.flatMap(
      answered(step),
      (isHeld) => isHeld === 1 ? Effect.void : Effect.fail(new StreamLog.LeaseLost({ stream, consumer }))
    )

  return {
    acquire: (seat, holder, millis) =>
      Effect.map(
        answered(acquire(seat, holder, Math.ceil(millis))),
        ([isHeld, value]) => isHeld === 1 ? { _tag: "Held", token: value } : { _tag: "Taken", millis: value }
      ),
    prolong: (seat, token, millis) => held(seat, prolong(seat, token, Math.ceil(millis))),
    release: (seat, token) => Effect.asVoid(answered(release(seat, token))),
    append: (stream, token, after, entries, until) =>
      Effect.flatMap(
        answered(append(stream, token, after, entries, until)),
        ([last]) =>
          last === undefined
            ? Effect.fail(new StreamLog.LeaseLost({ stream, consumer: undefined }))
            : Effect.succeed(Number(last))
      ),
    extent: (stream) =>
      Effect.map(answered(extent(stream)), ([last, until]) => ({
        last: Number(last ?? 0),
        until: until === null ? undefined : Number(until)
      })),
    read: (stream, after, limit) =>
      Effect.map(answered(read(stream, after, limit)), (entries) => entries.map(placedOf)),
    wait: () => Effect.sleep(pollMillis),
    idsSince: Effect.fnUntraced(function*(stream, since) {
      const all: Array<string> = []
      for (let end = "+"; end !== "";) {
        const [next, ...found] = yield* answered(ids(stream, since, end))
        for (const id of found) all.push(id)
        end = next
      }
      return all
    }),
    cursor: (stream, consumer) =>
      Effect.map(
        answered(cursor(stream, consumer)),
        ([position, at]) => position === null ? undefined : { position: Number(position), at: Number(at) }
      ),
    commit: (stream, consumer, token, cursor) => held({ stream, consumer }, commit(stream, consumer, token, cursor)),
    forget: (stream, consumer) => Effect.asVoid(answered(forget(stream, consumer))),
    trim: Effect.fnUntraced(function*(stream, what) {
      while ((yield* answered(trim(stream, what))) === 1);
    })
  }
}

const placedOf = ([position, [, at, , id = "", , text = "", , follows]]: RedisEntry): StreamLog.Placed => ({
  position: Number.parseInt(position, 10),
  follows: Number(follows),
  at: Number(at),
  id,
  text
})

/** The log on any `Redis` service of Effect. */
export const layer: Layer.Layer<StreamLog.StreamLog, never, Redis.Redis> = /*#__PURE__*/ RedisConnection.layer(
  StreamLog.StreamLog,
  make
)

/**
 * The log with its own connection, opened at the first use and closed with the scope. Fails when the address is invalid or the
 * package `@redis/client` is not installed.
 */
export const layerUrl = (options: Options): Layer.Layer<StreamLog.StreamLog, InvalidSettings> =>
  RedisConnection.layerUrl(StreamLog.StreamLog, options, "streamLog", make)
