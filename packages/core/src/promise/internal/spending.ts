/** Counts the spending of a Promise client. The implementation is loaded with the first request that costs something. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SpendGuard } from "../../client/SpendGuard.ts"
import type { InvalidSettings } from "../../errors/Errors.ts"
import type { Settings } from "../../spend/SpendSettings.ts"
import type { SpendStore } from "../../spend/SpendStore.ts"

/** True if the settings count spending; a store alone is enough. */
export const isCounted = ({ appOwner, onSpend, prices, spendLimit, spendStore }: Settings & {
  readonly spendStore?: unknown
}): boolean => [appOwner, onSpend, prices, spendLimit, spendStore].some((setting) => setting !== undefined)

/** The guard of checked settings. */
export const layer = (
  settings: Settings,
  store: Layer.Layer<SpendStore, InvalidSettings> | undefined
): Layer.Layer<never, InvalidSettings> =>
  Layer.effect(
    SpendGuard,
    Effect.gen(function*() {
      const scope = yield* Effect.scope
      const context = yield* Effect.context<never>()
      const load = yield* Effect.cached(
        Effect.promise(() => import("../../spend/Spend.ts")).pipe(
          Effect.flatMap(({ layer }) => Layer.buildWithScope(layer(settings), scope)),
          Effect.provideContext(context),
          // The settings were checked.
          Effect.orDie,
          Effect.map((built) => Context.get(built, SpendGuard))
        )
      )
      const loaded =
        (bill: string, guardOf: (spend: SpendGuard) => Pick<SpendGuard, "guard">): SpendGuard["guard"] =>
        (outgoing, bucket, send, ask) =>
          outgoing.prepared.priced.price === "free" ? send : Effect.flatMap(load, (guards) => {
            const spend = guards?.(bill)
            return spend === undefined ? send : guardOf(spend).guard(outgoing, bucket, send, ask)
          })
      return (bill) => ({
        guard: loaded(bill, (spend) => spend),
        metered: (use) => ({ guard: loaded(bill, (spend) => spend.metered(use)) })
      })
    })
  ).pipe(Layer.provide(store ?? Layer.empty))
