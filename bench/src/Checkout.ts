/** Postwire as a folder has it: this workspace, or another checkout of it whose dependencies are installed. */
import type { getPost } from "@postwire/core/operations/Posts"
import type { searchRecentPosts } from "@postwire/core/operations/Search"
import type { createClient } from "@postwire/node"
import type * as NodeClient from "@postwire/node/NodeClient"
import type { createClientSync } from "@postwire/sync"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

/** The measured code, and the Effect that it runs on. */
export interface Checkout {
  readonly createClient: typeof createClient
  readonly createClientSync: typeof createClientSync
  readonly NodeClient: typeof NodeClient
  readonly getPost: typeof getPost
  readonly searchRecentPosts: typeof searchRecentPosts
  readonly Effect: typeof Effect
  readonly Layer: typeof Layer
  readonly Scope: typeof Scope
}

/** The folder of this workspace. */
export const own: string = fileURLToPath(new URL("../..", import.meta.url))

/** Loads a checkout by its packages' own entries, so that it does not matter where they have their modules. */
export const load = async (folder: string): Promise<Checkout> => {
  // The package that depends on all of them.
  const { resolve } = createRequire(join(folder, "packages/sync/package.json"))
  const load = (name: string) => import(pathToFileURL(resolve(name)).href)
  return {
    createClient: (await load("@postwire/node")).createClient,
    createClientSync: (await load("@postwire/sync")).createClientSync,
    getPost: (await load("@postwire/core/operations/Posts")).getPost,
    searchRecentPosts: (await load("@postwire/core/operations/Search")).searchRecentPosts,
    NodeClient: await load("@postwire/node/NodeClient"),
    Effect: await load("effect/Effect"),
    Layer: await load("effect/Layer"),
    Scope: await load("effect/Scope")
  }
}
