/** Generates posts at a constant rate. A seed determines texts and authors. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { compose } from "../seed/Text.ts"
import type { Store } from "../store/Store.ts"
import { make as random } from "../text/random.ts"
import * as Vocabulary from "../text/vocabulary.ts"

export interface Options {
  /** Posts per second: more than 0, at most 100,000. */
  readonly perSecond: number
  /** Determines texts and authors. Default 1. */
  readonly seed?: number | undefined
  /** The number of posts. Default: unlimited. */
  readonly posts?: number | undefined
}

/** A running or finished load. */
export interface Load {
  readonly perSecond: number
  /** The number of posts created so far. */
  readonly made: () => number
  readonly isOver: () => boolean
  readonly stop: () => void
}

/** True if the rate is within the limits. */
export const isRate = (perSecond: number): boolean => perSecond > 0 && perSecond <= 100_000

/** The interval in milliseconds and the maximum number of posts per transaction, so that other work is not blocked. */
const tick = 50
const batch = 1_000

/** Starts loads, which run until the scope closes. `now` is in milliseconds. */
export const make = Effect.fnUntraced(function*({ now, store }: {
  readonly store: Store["Service"]
  readonly now: () => number
}): Effect.fn.Return<(options: Options) => Load, never, Scope.Scope> {
  const fibers = new Set<Fiber.Fiber<void>>()
  yield* Effect.addFinalizer(() => Fiber.interruptAll(fibers))
  // Sleeps use the clock of the program that created the sandbox.
  const run = Effect.runForkWith(yield* Effect.context<never>())
  return ({ perSecond, posts = Infinity, seed = 1 }) => {
    if (!isRate(perSecond)) throw new RangeError("perSecond must be more than 0, and 100000 at most")
    const draw = random(seed, "load")
    const authors = store.users.foremost(1_000).filter((user) => !user.protected && !user.suspended).map((user) => ({
      id: user.id,
      username: user.username,
      protected: false,
      verified: user.verified,
      language: draw.weighted(Vocabulary.languages)
    }))
    if (authors.length === 0) throw new RangeError("There is no user who could post")
    const someone = draw.ranked(authors)
    let made = 0
    const insert = (count: number): void =>
      store.transaction(() => {
        for (let i = 0; i < count; i++) {
          const author = someone()
          store.posts.insert({
            authorId: author.id,
            createdAt: now(),
            lang: author.language.code,
            source: draw.pick(Vocabulary.sources),
            text: compose(author.language, draw.chance(0.3), false, someone, draw)
          })
        }
        made += count
      })
    const begun = now()
    const fiber = run(Effect.gen(function*() {
      for (;;) {
        const due = Math.min(posts, Math.floor((now() - begun) * perSecond / 1_000)) - made
        if (due > 0) insert(Math.min(due, batch))
        if (made >= posts) return
        // Late posts are made up for in batches.
        yield* due > batch ? Effect.yieldNow : Effect.sleep(tick)
      }
    }))
    fibers.add(fiber)
    fiber.addObserver(() => void fibers.delete(fiber))
    return {
      perSecond,
      made: () => made,
      isOver: () => fiber.pollUnsafe() !== undefined,
      stop: () => fiber.interruptUnsafe()
    }
  }
})
