/** Settings that name a store: the path of a file or a folder, or an address. */
import { InvalidSettings } from "@postwire/core/errors/Errors"
import * as Effect from "effect/Effect"
import * as RedisConnection from "./redisConnection.ts"

/** Tests whether a store is an address. */
export const isAddress = (store: string): boolean => store.includes("://")

/** Tests that a path cannot be mistaken for a host, such as `10.0.0.5`, `redis.internal:6379/0` or `user:password@cache`. */
const isPath = (store: string): boolean => isFolder(store) || (!mayBeHost(store) && /\.(db|sqlite3?)$/i.test(store))

/** Tests whether a store is the path of a folder. */
export const isFolder = (store: string): boolean => !mayBeHost(store) && /[/\\]/.test(store)

const mayBeHost = (store: string): boolean => /^[^/\\]*(@|:\d)/.test(store)

/** Checks a store in a file or at an address. */
export const checkStore = Effect.fnUntraced(function*(
  setting: string,
  store: unknown,
  example: string
) {
  if (store === undefined) return
  if (typeof store !== "string" || store === "") {
    return yield* new InvalidSettings({ setting, rule: "must be the path of a file or an address" })
  }
  if (isAddress(store)) yield* RedisConnection.checkUrl(store, setting)
  else if (!isPath(store)) {
    // The value is not shown: it may contain a password.
    return yield* new InvalidSettings({
      setting,
      rule:
        `may be a file or a host: an address begins with redis://, a path names its folder (${example}) or ends in .db`
    })
  }
})
