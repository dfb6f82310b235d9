/**
 * The accounts of one user, in a private folder: a file each, with a lock file beside it. A crash leaves the old text or the new
 * one, and no lock.
 */
import { checkName } from "@postwire/core/accounts/Account"
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TextFolder from "./internal/textFolder.ts"

/** Settings of the store. */
export interface Options {
  /** The folder, created if it does not exist. Default: `postwire/accounts` in the user's folder for settings. */
  readonly folder?: string | undefined
}

/** The default folder of accounts, such as `~/.config/postwire/accounts`. */
export const ownFolder: Effect.Effect<string, InvalidSettings> = Effect.map(
  TextFolder.ownFolder("tokenStore", "config", "accounts"),
  (folder) => process.getBuiltinModule("node:path").join(folder, "accounts")
)

/** The store in a folder. Problems with the folder fail the operations that use it. */
export const layer = (options: Options = {}): Layer.Layer<TokenStore.TokenStore, InvalidSettings> =>
  Layer.effect(
    TokenStore.TokenStore,
    Effect.map(options.folder === undefined ? ownFolder : Effect.succeed(options.folder), make)
  )

/** The address of an account's service, read synchronously; `undefined` if the folder has no readable account of this name. */
export const serviceOf = (name: string, folder: string = Effect.runSync(ownFolder)): string | undefined => {
  const { readFileSync } = process.getBuiltinModule("node:fs")
  if (!Effect.runSync(Effect.isSuccess(checkName(name)))) return undefined
  try {
    const { baseUrl }: { readonly baseUrl?: unknown } = JSON.parse(readFileSync(make(folder).describe(name), "utf8"))
    return typeof baseUrl === "string" ? baseUrl : undefined
  } catch {
    return undefined
  }
}

/** The store in a folder. */
export const make = (folder: string): TokenStore.Store => {
  const { files, ...texts } = TextFolder.make(folder, {
    kind: "token store",
    open: "nothing",
    fileOf: (name) => name,
    checkName: (name) => Effect.mapError(checkName(name), ({ rule }) => `the name of an account ${rule}`)
  })
  return {
    ...texts,
    names: Effect.map(
      Effect.flatMap(files, Effect.filter((name) => Effect.isSuccess(checkName(name)))),
      (names) => names.sort()
    )
  }
}
