/** Handles deliveries before they are acknowledged, so that the service sends again what was not handled. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type * as Storage from "../../storage/Storage.ts"
import * as Texts from "../../storage/Texts.ts"
import { type Item, seenSets } from "./deliveryQueue.ts"

/** The outcome of a delivery. `late`: it is still being handled, or was not when the webhook was closed. */
export type Handled = "handled" | "duplicate" | "failed" | "late"

/** Settings of direct handling. */
export interface Settings<E> {
  readonly storage: Storage.Storage<E>
  readonly name: string
  readonly handle: (item: Item) => Effect.Effect<void, string>
}

/** The service waits for 10 seconds. */
const answerMillis = 9_000

/** Makes the function that handles a delivery, in the order of its user. One that comes again meanwhile waits for the same end. */
export const make = <E>(
  { handle, name, storage }: Settings<E>,
  scope: Scope.Scope
): (item: Item) => Effect.Effect<Handled, E> => {
  const running = new Map<string, Deferred.Deferred<Handled, E>>()
  const turns = Texts.makeMemory()
  const key = `webhook:1:{${name}}:direct`
  const seen = (id: string, isHandled: boolean) =>
    Effect.flatMap(
      Clock.currentTimeMillis,
      (time) =>
        storage.modify({ texts: [key], sets: seenSets(key, time, [id]) }, ({ absent }) => ({
          result: !absent.every((members) => members.has(id)),
          // Members are added by a step that changes a text.
          ...(isHandled ? { texts: [String(time)] } : {})
        }))
    )
  const run = (item: Item): Effect.Effect<Handled, E> =>
    Effect.flatMap(seen(item.id, false), (isKnown) =>
      isKnown
        ? Effect.succeed<Handled>("duplicate")
        : Effect.matchEffect(handle(item), {
          onFailure: () => Effect.succeed<Handled>("failed"),
          onSuccess: () => Effect.as(seen(item.id, true), "handled")
        }))
  return (item) =>
    Effect.uninterruptibleMask((restore) => {
      let done = running.get(item.id)
      let started: Effect.Effect<unknown> = Effect.void
      if (done === undefined) {
        const own = Deferred.makeUnsafe<Handled, E>()
        running.set(item.id, done = own)
        const end = (exit: Exit.Exit<Handled, E>) => {
          running.delete(item.id)
          return Deferred.done(own, exit)
        }
        const inTurn = Effect.uninterruptible(Effect.flatMap(Effect.exit(run(item)), end))
        started = Effect.scoped(Effect.andThen(Effect.orDie(turns.lock(item.user)), inTurn)).pipe(
          // The webhook was closed before its turn.
          Effect.onInterrupt(() => end(Exit.succeed("late"))),
          Effect.forkIn(scope, { startImmediately: true })
        )
      }
      return Effect.andThen(
        started,
        restore(Effect.timeoutOrElse(Deferred.await(done), {
          duration: answerMillis,
          orElse: () => Effect.succeed<Handled>("late")
        }))
      )
    })
}
