/**
 * Where accounts are kept: one text for each name, and a lock for each, so that of all processes that use an account one renews
 * it. `@postwire/node` has a store of files and one in Redis, `@postwire/cluster` one in PostgreSQL.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { TokenStoreFailure } from "../errors/Errors.ts"
import * as MemoryTexts from "./internal/memory.ts"

/** A store of tokens. The texts are secrets. */
export interface Store {
  /** The text of a name; `undefined` where there is none. */
  readonly read: (name: string) => Effect.Effect<string | undefined, TokenStoreFailure>
  /**
   * Replaces the text of a name as a whole, or removes it with `undefined`. When it ends, that is durable. Waits while another
   * client of the store has the lock, and fails where ours was lost meanwhile: then others may have written what is newer.
   */
  readonly write: (name: string, text: string | undefined) => Effect.Effect<void, TokenStoreFailure>
  /**
   * Holds the lock of a name until the scope ends. Nobody else has it meanwhile, in this process or in another; who ends without
   * giving it back, loses it soon. Waits for it half a minute at most.
   */
  readonly lock: (name: string) => Effect.Effect<void, TokenStoreFailure, Scope.Scope>
  /** The names that have a text, in their order. */
  readonly names: Effect.Effect<ReadonlyArray<string>, TokenStoreFailure>
  /** Where the text of a name is, for messages: a path, or an address without its password. */
  readonly describe: (name: string) => string
}

/** The store in force. */
export class TokenStore
  extends /*#__PURE__*/ Context.Service<TokenStore, Store>()("@postwire/core/storage/TokenStore")
{}

/** A store for one process, which begins with these texts. */
export const makeMemory: (texts?: Readonly<Record<string, string>>) => Store = MemoryTexts.make

/** A store for one process. */
export const layerMemory: Layer.Layer<TokenStore> = /*#__PURE__*/ Layer.sync(TokenStore, () => makeMemory())
