/** Processes that share a spending limit: the service charges what it serves, whether its answer arrives or not. */
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import { createPost } from "@postwire/core/operations/Posts"
import * as Spend from "@postwire/core/spend/Spend"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Network from "./Network.ts"
import type { Place, Scenario, Subject } from "./Schedule.ts"
import { epoch } from "./World.ts"

const price = 15_000
const affordable = 20
const callsEach = 10
const processes = 3

/** The charges that the store has counted, with those in flight or in doubt. */
const countedIn = ({ database, kind }: Place): number => {
  const prefix = kind === "redis" ? "postwire:" : ""
  const store = SpendStore.fromStorage<never>({
    get: (keys) => Effect.sync(() => database.snapshot(keys.map((key) => prefix + key))),
    keys: () => Effect.succeed([]),
    modify: () => Effect.die("it is only read")
  })
  const entries = Effect.runSync(store.read(Network.baseUrl, "0000-01-01", "9999-12-31"))
  return entries.reduce((sum, { inDoubt, reserved, spent }) => sum + spent + inDoubt + reserved, 0)
}

const prepare = (place: Place): Scenario => {
  const { database, draw, faults, kind, world } = place
  let charged = 0
  const answer = ({ method }: Network.Received): Network.Answer => {
    // Only what creates a post is charged; another request may look for the time.
    if (method === "POST") charged += price
    const now = epoch + world.now
    return { status: 201, headers: { date: new Date(now).toUTCString() }, body: { data: { id: "1", text: "a" } } }
  }
  const limit = price * affordable
  const isOver = () => charged > limit
  const isMissing = () => countedIn(place) < charged
  return {
    processes,
    main: (actor) =>
      Effect.gen(function*() {
        for (let call = 0; call < callsEach; call++) {
          yield* Effect.sleep(draw.below(3_000))
          yield* createPost({ text: "a", user_auth: false }).pipe(
            Effect.catchTag(["SpendLimitReached", "OutcomeUnknown", "TransportFailure"], () => Effect.void)
          )
        }
      }).pipe(
        Effect.provide(Layer.fresh(
          Client.layer({ baseUrl: Network.baseUrl, retries: 0 }).pipe(
            Layer.provide([
              Credentials.layer({ bearerToken: "one" }),
              Network.layer(place, actor, answer),
              Layer.provide(
                Spend.layer({ spendLimit: { perDay: limit / 1e6 } }),
                Layer.succeed(SpendStore.SpendStore, SpendStore.fromStorage(database.storage(actor, kind)))
              )
            ])
          )
        ))
      ),
    broken: () => {
      if (faults.loss !== "nothing") return []
      return [
        ...isOver() ? [`${charged} micro-dollars were charged, of ${limit}`] : [],
        ...isMissing() ? [`${countedIn(place)} of ${charged} micro-dollars were counted`] : [],
        ...faults.total === 0 && charged !== limit ? [`without a fault only ${charged} were spent`] : []
      ]
    },
    lost: () => isOver() || isMissing() ? "unnoticed" : "nothing"
  }
}

export const subject: Subject = {
  name: "spending",
  holds: "no charge over the limit, and none that is not counted; without a fault the limit is used completely",
  loses: true,
  prepare
}
