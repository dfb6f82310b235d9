/**
 * The store of accounts: one text per name, and one lock per name, so that only one of the processes that use an account refreshes
 * it. `@postwire/node` has a store in files and one in Redis, `@postwire/cluster` one in PostgreSQL.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { TokenStoreFailure } from "../errors/Errors.ts"
import * as MemoryTexts from "./internal/memory.ts"

/** A store of tokens. The texts are secrets. */
export interface Store {
  /** The text of a name, or `undefined`. */
  readonly read: (name: string) => Effect.Effect<string | undefined, TokenStoreFailure>
  /**
   * Replaces the text of a name as a whole, or removes it with `undefined`. It is durable when this ends. Waits while another
   * client of the store has the lock, and fails if this client has lost its lock: another may have written a newer text.
   */
  readonly write: (name: string, text: string | undefined) => Effect.Effect<void, TokenStoreFailure>
  /**
   * Holds the lock of a name until the scope ends. It excludes all other fibers and processes. A process that ends without
   * releasing it loses it soon. Waits at most half a minute for it.
   */
  readonly lock: (name: string) => Effect.Effect<void, TokenStoreFailure, Scope.Scope>
  /** The names that have a text, sorted. */
  readonly names: Effect.Effect<ReadonlyArray<string>, TokenStoreFailure>
  /** The location of a text, for messages: a path, or an address without its password. */
  readonly describe: (name: string) => string
}

/** The current store. */
export class TokenStore
  extends /*#__PURE__*/ Context.Service<TokenStore, Store>()("@postwire/core/storage/TokenStore")
{}

/** A store for one process, with initial texts. */
export const makeMemory: (texts?: Readonly<Record<string, string>>) => Store = MemoryTexts.make

/** A store for one process. */
export const layerMemory: Layer.Layer<TokenStore> = /*#__PURE__*/ Layer.sync(TokenStore, () => makeMemory())
