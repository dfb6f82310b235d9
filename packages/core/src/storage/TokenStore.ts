/**
 * The store of accounts: one text per name, and one lock per name, so that only one of the processes that use an account refreshes
 * it. `@postwire/node` has a store in files and one in Redis, `@postwire/cluster` one in PostgreSQL.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Texts from "./Texts.ts"

/** A store of tokens. The texts are secrets. */
export interface Store extends Texts.ListedTexts {}

/** The current store. */
export class TokenStore
  extends /*#__PURE__*/ Context.Service<TokenStore, Store>()("@postwire/core/storage/TokenStore")
{}

/** A store for one process, with initial texts. */
export const makeMemory: (texts?: Readonly<Record<string, string>>) => Store = Texts.makeMemory

/** A store for one process. */
export const layerMemory: Layer.Layer<TokenStore> = /*#__PURE__*/ Layer.sync(TokenStore, () => makeMemory())
