/** Random calls that cost money, as data: what reads can be made again, and what writes can be found. */
import { catalogue } from "@postwire/core/Catalogue"
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import type * as Sandbox from "@postwire/sandbox/Sandbox"
import type { Effect } from "effect"

/** What there is to read: none of it changes while calls are made. */
export interface Scene {
  /** The user whose app it is. */
  readonly owner: string
  readonly users: ReadonlyArray<string>
  readonly posts: ReadonlyArray<string>
}

/** What a sandbox has to read now. */
export const sceneOf = ({ ada, store }: Sandbox.Sandbox["Service"]): Scene => {
  const idsOf = (collection: "users" | "posts") =>
    store.overview.list(collection, { limit: 1_000 }).items.map((item) => String(Reflect.get(item, "id")))
  return { owner: ada.id, users: idsOf("users"), posts: idsOf("posts") }
}

const operations = {
  createPost: catalogue.createPost,
  getPost: catalogue.getPost,
  getPosts: catalogue.getPosts,
  getUser: catalogue.getUser,
  getUsers: catalogue.getUsers,
  getUsersFollowers: catalogue.getUsersFollowers,
  getUsersFollowing: catalogue.getUsersFollowing,
  getUsersPosts: catalogue.getUsersPosts
}

/** A call: an operation and its parameters. */
export interface Call {
  readonly operation: keyof typeof operations
  readonly parameters: Readonly<Record<string, unknown>>
  /** Whether it is the owner of the app who calls. */
  readonly isOwner?: boolean
}

/** The operations that read. */
export const reads = (Object.keys(operations) as Array<Call["operation"]>).filter((name) => name !== "createPost")

/** Makes a call. Every operation takes the parameters that `draw` has made for it. */
export const run = ({ operation, parameters }: Call): Effect.Effect<unknown, AnyError, Client> => {
  const call: (parameters: never) => Effect.Effect<unknown, AnyError, Client> = operations[operation]
  return call(parameters as never)
}

/** Numbers from 0 to 1, the same for the same seed. */
export const randomOf = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = state + 0x6d2b79f5 >>> 0
    let mixed = Math.imul(state ^ state >>> 15, state | 1)
    mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61)
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32
  }
}

/** The price of the write, in millionths of a dollar. */
export const priceOf = ({ parameters: { text } }: Call): number => String(text).includes("https://") ? 200_000 : 15_000

/** Draws a call. `mayWrite` says whether it may be a write, whose text begins with `label`. */
export const draw = (random: () => number, { owner, posts, users }: Scene, label: string, mayWrite: boolean): Call => {
  const whole = (below: number) => Math.floor(random() * below)
  const oneOf = <A>(all: ReadonlyArray<A>) => all[whole(all.length)]!
  const some = (all: ReadonlyArray<string>, most: number) => Array.from({ length: 1 + whole(most) }, () => oneOf(all))
  const drawn = random()
  if (drawn < 0.08) {
    return mayWrite
      ? {
        operation: "createPost",
        parameters: { text: `${label}${random() < 0.3 ? " https://example.com" : ""}` }
      }
      : { operation: "getPost", parameters: { id: oneOf(posts) } }
  }
  const expansions = random() < 0.3 ? { expansions: ["author_id", "referenced_posts.id"] } : {}
  const pinned = random() < 0.3 ? { expansions: ["pinned_post_id"] } : {}
  if (drawn < 0.3) return { operation: "getPosts", parameters: { ids: [...new Set(some(posts, 8))], ...expansions } }
  // Now and then what is not there.
  const id = random() < 0.05 ? "1" : oneOf(users)
  if (drawn < 0.5) return { operation: "getUser", parameters: { id, ...pinned } }
  if (drawn < 0.6) return { operation: "getUsers", parameters: { ids: [...new Set(some(users, 5))], ...pinned } }
  const max_results = 5 + whole(10)
  const listing: Call = drawn < 0.8
    ? { operation: "getUsersPosts", parameters: { id, max_results, ...expansions } }
    : {
      operation: drawn < 0.9 ? "getUsersFollowers" : "getUsersFollowing",
      parameters: { id, max_results, ...pinned }
    }
  // Of what is theirs, the owner pays another price. A bearer token does not say whether it is the owner's.
  return random() < 0.2 || id === owner
    ? { ...listing, parameters: { ...listing.parameters, id: owner, user_auth: true }, isOwner: true }
    : listing
}
