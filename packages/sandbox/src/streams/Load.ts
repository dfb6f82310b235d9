/** Posts without end, so many a second by the clock: what they say, and whose they are, is decided by a seed. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { compose } from "../seed/Text.ts"
import type { Store } from "../store/Store.ts"
import { make as random } from "../text/random.ts"
import * as Vocabulary from "../text/vocabulary.ts"

/** What is to be made. */
export interface Options {
  /** Posts a second: more than 0, at most 100,000. */
  readonly perSecond: number
  /** Decides what they say. Default 1. */
  readonly seed?: number | undefined
  /** How many; without end when left out. */
  readonly posts?: number | undefined
}

/** A load under way, or one that has ended. */
export interface Load {
  readonly perSecond: number
  /** How many posts it has made. */
  readonly made: () => number
  readonly isOver: () => boolean
  readonly stop: () => void
}

/** Whether so many posts a second can be asked for. */
export const isRate = (perSecond: number): boolean => perSecond > 0 && perSecond <= 100_000

/** How often posts are made, in milliseconds, and how many at most at a time: others have their turn between. */
const tick = 50
const batch = 1_000

/** What makes loads of a service, each until its scope ends. `now` is in milliseconds. */
export const make = Effect.fnUntraced(function*({ now, store }: {
  readonly store: Store["Service"]
  readonly now: () => number
}): Effect.fn.Return<(options: Options) => Load, never, Scope.Scope> {
  const fibers = new Set<Fiber.Fiber<void>>()
  yield* Effect.addFinalizer(() => Fiber.interruptAll(fibers))
  // Its clock is that of whoever makes the sandbox.
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
        // What is late is made up for, a batch at a time.
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
