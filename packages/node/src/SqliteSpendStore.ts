/**
 * Spending of several processes on one machine, in an SQLite file.
 *
 * @stability experimental
 */
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqliteStorage from "./internal/sqliteStorage.ts"

/** Settings of the store. */
export interface Options {
  /** The file, created if it does not exist. All processes of one machine that use it share their bills. */
  readonly path: string
}

/**
 * The store in a file; closed with the scope. Fails when the file cannot be opened, but not when it is locked, or breaks later.
 * A machine that loses its power may lose the last charges, but not the file.
 */
export const layer = (options: Options): Layer.Layer<SpendStore.SpendStore, InvalidSettings> =>
  Layer.effect(
    SpendStore.SpendStore,
    Effect.map(
      SqliteStorage.make({
        path: options.path,
        synchronous: "NORMAL",
        setting: "spendStore"
      }),
      (storage) => SpendStore.fromStorage(storage, { leaseOf: (lease) => `${process.pid} ${lease}`, isGone })
    )
  )

const isGone = (lease: string): boolean => {
  try {
    return !process.kill(Number.parseInt(lease), 0)
  } catch (cause) {
    return typeof cause === "object" && cause !== null && "code" in cause && cause.code === "ESRCH"
  }
}
