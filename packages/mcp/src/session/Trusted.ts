/** The users whose texts are shown with `--trusted-only`. */
import { getList, getListMembers } from "@postwire/core/operations/Lists"
import * as Prices from "@postwire/core/spend/Prices"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Gate } from "../money/Gate.ts"
import type { Item } from "../text/Lines.ts"
import { type Failure, type Needs, Session } from "./Session.ts"

const read: Effect.Effect<void, Failure, Needs> = Effect.gen(function*() {
  const session = yield* Session
  const { prices, trustedLists = [] } = session.settings
  if (session.listed !== undefined || trustedLists.length === 0) return
  const lists = yield* Effect.forEach(
    trustedLists,
    (id) =>
      Effect.map(getList({ id, list_fields: ["member_count"] }), ({ data }) => ({ id, count: data?.member_count ?? 0 }))
  )
  const { plan } = yield* Gate
  const each = Prices.most(getListMembers.definition, { max_results: 1 }, prices)
  yield* plan("--trusted-lists", lists.reduce((sum, { count }) => sum + count * each, 0), Infinity)
  const members = yield* Effect.forEach(
    lists,
    ({ count, id }) => Stream.runCollect(getListMembers.items({ id, max_results: Math.min(Math.max(count, 1), 100) }))
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
