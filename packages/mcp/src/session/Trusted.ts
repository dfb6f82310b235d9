/** The users whose texts are shown with `--trusted-only`. */
import { getList, getListMembers } from "@postwire/core/operations/Lists"
import * as Prices from "@postwire/core/spend/Prices"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Gate } from "../money/Gate.ts"
import type { Item } from "../text/Lines.ts"
import { type Failure, type Needs, Session } from "./Session.ts"

/** The most members of a list by the service's rules, for a response that does not count them. */
const mostMembers = 5_000

/** The size of a page: one that is not full is the last. */
const sizeOf = (count: number) => Math.min(count + 1, 100)

const read: Effect.Effect<void, Failure, Needs> = Effect.gen(function*() {
  const session = yield* Session
  const { prices, trustedLists = [] } = session.settings
  if (session.listed !== undefined || trustedLists.length === 0) return
  const lists = yield* Effect.forEach(
    trustedLists,
    (id) =>
      Effect.map(
        getList({ id, list_fields: ["member_count"] }),
        ({ data }) => ({ id, count: data?.member_count ?? mostMembers })
      )
  )
  const { plan } = yield* Gate
  const each = Prices.most(getListMembers.definition, { max_results: 1 }, prices)
  const priceOf = (most: (count: number) => number) => lists.reduce((sum, { count }) => sum + most(count) * each, 0)
  yield* plan(
    "--trusted-lists",
    priceOf((count) => count),
    lists.length * Prices.most(getList.definition, {}, prices) +
      priceOf((count) => Math.ceil((count + 1) / sizeOf(count)) * sizeOf(count))
  )
  const members = yield* Effect.forEach(
    lists,
    ({ count, id }) => Stream.runCollect(getListMembers.items({ id, max_results: sizeOf(count) }))
  )
  session.listed = new Set(members.flat().map(({ id }) => id))
})

/** Reads the members of trusted lists, once in a session. The user consents to their price as to that of a call. */
export const load: Effect.Effect<void, Failure, Needs> = Effect.flatMap(
  Session,
  ({ listing }) => listing.withPermit(read)
)

/** Tests whether a user is the account itself, or is followed, listed or verified. */
export const isTrusted = (user: Item | undefined, { listed, settings: { userId } }: Session["Service"]): boolean => {
  if (user === undefined) return false
  const { connection_status: status, id, verified } = user
  return verified === true || (typeof id === "string" && (id === userId || listed?.has(id) === true)) ||
    (Array.isArray(status) && status.includes("following"))
}
