/** Rate limits of several processes on one machine, in an SQLite file. */
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import * as RateLimitStore from "@postwire/core/rate-limit/RateLimitStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqliteStorage from "./internal/sqliteStorage.ts"

/** Settings of the store. */
export interface Options {
  /** The file, created if it does not exist. All processes of one machine that use it share their rate limits. */
  readonly path: string
}

/**
 * The store in a file, by the machine's clock; closed with the scope. Fails when the file cannot be opened, but not when it is
 * locked, or breaks later.
 */
export const layer = (options: Options): Layer.Layer<RateLimitStore.RateLimitStore, InvalidSettings> =>
  Layer.effect(
    RateLimitStore.RateLimitStore,
    Effect.map(
      SqliteStorage.make({
        path: options.path,
        synchronous: "OFF",
        setting: "rateLimitStore"
      }),
      (storage) => RateLimitStore.fromStorage(storage)
    )
  )
