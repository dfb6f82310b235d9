import * as Effect from "effect/Effect"
import { listed } from "../projection/Reply.ts"
import type { Restrictions } from "../store/Restrictions.ts"
import * as Caller from "./Caller.ts"
import { type Call, type Handlers } from "./Handler.ts"
import * as Subject from "./Subject.ts"

export const handlers = {
  block: (call) => Effect.map(restrict(call, call.store.blocks), (blocking) => ({ data: { blocking } })),
  unblock: (call) => Effect.map(unrestrict(call, call.store.blocks), (blocking) => ({ data: { blocking } })),
  getBlocked: (call) => targets(call, call.store.blocks),
  mute: (call) => Effect.map(restrict(call, call.store.mutes), (muting) => ({ data: { muting } })),
  unmute: (call) => Effect.map(unrestrict(call, call.store.mutes), (muting) => ({ data: { muting } })),
  getMuted: (call) => targets(call, call.store.mutes)
} satisfies Partial<Handlers>

type AboutTarget = Call<{ readonly target_user_id: string }>

const restrict = (call: AboutTarget, restrictions: Restrictions) =>
  Effect.map(Subject.other(call), ({ target, userId }) => restrictions.set(userId, target.id, true))

const unrestrict = ({ caller, parameters: { target_user_id } }: AboutTarget, restrictions: Restrictions) =>
  Effect.map(Caller.user(caller), ({ userId }) => restrictions.set(userId, target_user_id, false))

const targets = ({ caller, page }: Call<unknown>, restrictions: Restrictions) =>
  Effect.map(Caller.user(caller), ({ userId }) => listed(restrictions.targets({ userId, ...page })))
