import * as Effect from "effect/Effect"
import { listed } from "../projection/Reply.ts"
import type { Ties } from "../store/Ties.ts"
import * as Caller from "./Caller.ts"
import { type Call, type Handlers } from "./Handler.ts"
import * as Subject from "./Subject.ts"

/** Blocks and mutes. */
export const handlers = {
  block: (call) => Effect.map(tie(call, call.store.blocks), (blocking) => ({ data: { blocking } })),
  unblock: (call) => Effect.map(untie(call, call.store.blocks), (blocking) => ({ data: { blocking } })),
  getBlocked: (call) => targets(call, call.store.blocks),
  mute: (call) => Effect.map(tie(call, call.store.mutes), (muting) => ({ data: { muting } })),
  unmute: (call) => Effect.map(untie(call, call.store.mutes), (muting) => ({ data: { muting } })),
  getMuted: (call) => targets(call, call.store.mutes)
} satisfies Partial<Handlers>

type AboutTarget = Call<{ readonly target_user_id: string }>

const tie = (call: AboutTarget, ties: Ties) =>
  Effect.map(Subject.other(call), ({ target, userId }) => ties.set(userId, target.id, true))

const untie = ({ caller, parameters: { target_user_id } }: AboutTarget, ties: Ties) =>
  Effect.map(Caller.user(caller), ({ userId }) => ties.set(userId, target_user_id, false))

const targets = ({ caller, page }: Call<unknown>, ties: Ties) =>
  Effect.map(Caller.user(caller), ({ userId }) => listed(ties.targets({ userId, ...page })))
