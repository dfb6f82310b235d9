/** Publishes the start and the end of broadcasts, at their times by the clock of the service. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import type { ServiceClock } from "../http/ServiceClock.ts"
import * as Broadcast from "../projection/Broadcast.ts"
import type { Store } from "../store/Store.ts"

/** Watches the broadcasts until the scope closes. After the store was replaced, `forget` accepts their current states. */
export const make = Effect.fnUntraced(function*({ clock, store }: {
  readonly clock: ServiceClock
  readonly store: Store["Service"]
}): Effect.fn.Return<{ readonly forget: () => void }, never, Scope.Scope> {
  const changed = Latch.makeUnsafe(false)
  let known: ReadonlyMap<string, Broadcast.State> | undefined

  /** Publishes what has changed since the last time. Returns the time of the next change. */
  const compare = (): number => {
    const now = clock.now()
    const before = known
    const states = new Map<string, Broadcast.State>()
    let next = Infinity
    for (const { body, id } of store.documents.all("broadcast", {})) {
      const { end, start } = Broadcast.timesOf(body)
      const state = Broadcast.stateOf(body, now)
      states.set(id, state)
      next = Math.min(next, ...[start, end].filter((at) => at > now))
      if (before === undefined) continue
      const was = before.get(id) ?? Broadcast.planned
      if (was === Broadcast.planned && state !== Broadcast.planned) {
        store.events.publish({ _tag: "Broadcast", type: "broadcast.start", id })
      }
      if (was !== Broadcast.ended && state === Broadcast.ended) {
        store.events.publish({ _tag: "Broadcast", type: "broadcast.end", id })
      }
    }
    known = states
    return next
  }

  const unsubscribe = store.events.subscribe(({ _tag }) => {
    if (_tag === "Planned") changed.openUnsafe()
  })
  yield* Effect.addFinalizer(() => Effect.sync(unsubscribe))
  let next = compare()
  const changes = Effect.suspend(() => {
    // The clock may be set back, so that there is another time.
    const woken = Effect.raceFirst(changed.await, clock.moved)
    return next === Infinity ? woken : Effect.raceFirst(woken, clock.until(next))
  })
  const publish = Effect.sync(() => {
    changed.closeUnsafe()
    next = compare()
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(changes, publish)))
  return {
    forget: () => {
      known = undefined
      changed.openUnsafe()
    }
  }
})
