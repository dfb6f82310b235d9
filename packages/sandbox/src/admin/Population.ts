/** The initial state of a sandbox. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Seed from "../seed/Seed.ts"
import { type State, Store } from "../store/Store.ts"
import { InvalidOption, type Population, type ServerOptions } from "./Options.ts"

/** Seeds a store in one transaction, unless it is already seeded. `now` is in milliseconds. */
export const populate = (state: State, { posts = 1_000, seed = 1, start }: Population, now: number): Seed.Seeded => {
  if (!Seed.isSize(posts)) throw new InvalidOption({ option: "posts", rule: `must be ${Seed.size}` })
  const options: Seed.Options = { seed, posts, start: start === undefined ? now : Number(start) }
  return state.transaction(() => {
    state.settle()
    return Seed.existing(state, options) ?? Seed.run(state, options)
  })
}

/** A prepared state to copy. */
export interface Template {
  readonly snapshot: Uint8Array
  readonly seeded: Seed.Seeded
}

const maxTemplates = 8

/** The copy of a larger state would take too much memory. */
const maxTemplatePosts = 20_000

/** How long a template of the current time stays usable, in milliseconds. */
const templateMillis = 600_000

/** By population; `expires` is in milliseconds since the epoch. */
const templates = new Map<string, Template & { readonly expires: number }>()

/** The template of valid options, created once per process; undefined if the sandbox must create its own state. */
export const templateOf = Effect.fnUntraced(function*({ file, posts = 1_000, seed = 1, start }: ServerOptions) {
  // A file may already hold a state.
  if (file !== undefined || posts > maxTemplatePosts) return undefined
  const now = yield* Clock.currentTimeMillis
  const key = JSON.stringify([seed, posts, start === undefined ? null : Number(start)])
  const known = templates.get(key)
  if (known !== undefined && known.expires > now) return known
  const made = yield* Effect.scoped(Effect.map(Store.open({ file: ":memory:" }), (store) => {
    const seeded = store.transaction(() => Seed.run(store, { seed, posts, start: Number(start ?? now) }))
    return { snapshot: store.snapshot(), seeded, expires: start === undefined ? now + templateMillis : Infinity }
  }))
  if (templates.size >= maxTemplates) templates.clear()
  templates.set(key, made)
  return made
})
