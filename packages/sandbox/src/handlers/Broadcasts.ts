import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import * as Projected from "../projection/Broadcast.ts"
import { listed } from "../projection/Reply.ts"
import type { Document, Plan } from "../store/Documents.ts"
import * as Caller from "./Caller.ts"
import type { Call, Handlers } from "./Handler.ts"

type Broadcast = Document<"broadcast">

const { ended, idOf: broadcastId, planned, running, stateOf } = Projected

const lengths = { Daily: 86_400_000, Weekly: 7 * 86_400_000 }

/** The maximum number of broadcasts of a series. */
const maxRepeats = 100

/** Plans become broadcasts at their time or, with `manual_publish`, when they are published. Their owner manages the chat. */
export const handlers = {
  getBroadcasts: Effect.fnUntraced(function*({ caller, now, page, parameters: { ids }, store: { documents } }) {
    const { userId: ownerId } = yield* Caller.user(caller)
    if (ids === undefined) {
      const found = documents.pages("broadcast", { ownerId }, page)
      return listed({ ...found, items: found.items.map((broadcast) => shown(broadcast, now)) })
    }
    const own = documents.all("broadcast", { ownerId }).map((broadcast) => shown(broadcast, now))
    const data = own.filter(({ id }) => ids.includes(id))
    const missing = ids.filter((wanted) => data.every(({ id }) => id !== wanted))
    return {
      ...data.length === 0 ? {} : { data },
      meta: { result_count: data.length },
      errors: missing.map((id) => Problem.notFound({ kind: "broadcast", id, parameter: "ids" }))
    }
  }),

  getBroadcast: (call) => Effect.map(own(call), (broadcast) => ({ data: shown(broadcast, call.now) })),

  getScheduledBroadcasts: Effect.fnUntraced(function*({ caller, now, page, parameters, store: { documents } }) {
    const { userId: ownerId } = yield* Caller.user(caller)
    const { newest_start_time, oldest_start_time } = parameters
    const [oldest, newest] = [timeOf(oldest_start_time, 0), timeOf(newest_start_time, Infinity)]
    const found = documents.pages("broadcast", { ownerId }, page)
    const items = found.items.filter(({ body }) =>
      stateOf(body, now) === planned && body.scheduled_start_ms >= oldest && body.scheduled_start_ms <= newest
    )
    return listed({ ...found, items: items.map((plan) => ({ id: plan.id, ...shownPlan(plan, now) })) })
  }),

  getScheduledBroadcast: (call) => Effect.map(own(call), (plan) => ({ data: shownPlan(plan, call.now) })),

  createScheduledBroadcast: Effect.fnUntraced(function*(call) {
    const { userId: ownerId } = yield* Caller.user(call.caller)
    const { now, parameters: { recurrence, ...plan }, store } = call
    yield* checkTimes(plan, now)
    const { frequency = "Daily", repeats = 1 } = recurrence ?? {}
    if (repeats < 1 || repeats > maxRepeats) {
      return yield* Problem.invalidRequest(`A series has 1 to ${maxRepeats} broadcasts.`, { repeats: String(repeats) })
    }
    const first = store.transaction(() => {
      const insert = (body: Plan) => store.documents.insert("broadcast", { ownerId, createdAt: now, body })
      const id = insert(plan)
      if (recurrence !== undefined) {
        store.documents.update("broadcast", { id, body: { ...plan, recurring_schedule_id: id } })
      }
      for (let i = 1; i < repeats; i++) insert(later({ ...plan, recurring_schedule_id: id }, i * lengths[frequency]))
      return id
    })
    return { data: shownPlan(yield* named(call, broadcastId(first)), now) }
  }),

  updateScheduledBroadcast: Effect.fnUntraced(function*(call) {
    const { now, parameters: { id: _, roll_forward, scheduled_broadcast_id, ...plan }, store } = call
    const old = yield* waiting(call)
    if (scheduled_broadcast_id !== old.id) {
      return yield* Problem.invalidRequest(`The plan of the broadcast is ${old.id}.`, { scheduled_broadcast_id })
    }
    yield* checkTimes(plan, now)
    store.transaction(() => {
      for (const { body: { recurring_schedule_id, scheduled_start_ms }, id } of seriesOf(call, old, roll_forward)) {
        const body = later(plan, scheduled_start_ms - old.body.scheduled_start_ms)
        // Whatever is not sent is gone; the source stays, since nothing can be broadcast without one.
        store.documents.update("broadcast", {
          id,
          body: { source_id: old.body.source_id, ...body, recurring_schedule_id }
        })
      }
    })
    return { data: shownPlan(yield* own(call), now) }
  }),

  deleteScheduledBroadcast: Effect.fnUntraced(function*(call) {
    const plan = yield* waiting(call)
    const { documents } = call.store
    for (const { id } of seriesOf(call, plan, call.parameters.roll_forward)) documents.delete("broadcast", id)
    return { data: { deleted: true } }
  }),

  goLiveScheduledBroadcast: Effect.fnUntraced(function*(call) {
    const { body, id } = yield* waiting(call)
    if (body.manual_publish !== true) {
      return yield* Problem.invalidRequest("The broadcast begins by itself: its plan has no manual_publish.", {
        id: call.parameters.id
      })
    }
    call.store.documents.update("broadcast", { id, body: { ...body, live_ms: call.now } })
    return { data: shownPlan(yield* own(call), call.now) }
  }),

  getBroadcastChat: Effect.fnUntraced(function*(call) {
    const { id: key } = yield* own(call)
    const found = call.store.documents.pages("broadcast_message", { key }, call.page)
    return listed({ ...found, items: found.items.map((message) => shownMessage(call, message)) })
  }),

  sendBroadcastChat: Effect.fnUntraced(function*(call) {
    const { userId: ownerId } = yield* Caller.user(call.caller)
    const { now, parameters: { reply_to, text }, store: { documents } } = call
    const { body, id: key } = yield* named(call, call.parameters.id)
    if (stateOf(body, now) !== running) return yield* Problem.forbidden("The broadcast is not running.")
    const isMuted = documents.all("broadcast_mute", { ownerId, key }).some(({ body: { until = Infinity } }) =>
      until > now
    )
    if (isMuted) return yield* Problem.forbidden("The owner of the broadcast has muted you in its chat.")
    if (reply_to !== undefined && documents.byId("broadcast_message", reply_to)?.key !== key) {
      return yield* Problem.invalidRequest(`There is no message [${reply_to}].`, { reply_to })
    }
    documents.insert("broadcast_message", { ownerId, createdAt: now, key, body: { text, reply_to } })
    return { data: { success: true, timestamp: String(now) } }
  }),

  deleteBroadcastChatMessage: Effect.fnUntraced(function*(call) {
    const { id: key } = yield* own(call)
    const { parameters: { message_id: id }, store: { documents } } = call
    return documents.byId("broadcast_message", id)?.key === key
      ? { data: { deleted: documents.delete("broadcast_message", id) } }
      : yield* Problem.missing(Problem.notFound({ kind: "broadcast_chat_message", id, parameter: "message_id" }))
  }),

  muteBroadcastChatUser: Effect.fnUntraced(function*(call) {
    const { id: key } = yield* own(call)
    const { now, parameters: { end_at_ms: until, user_id: id }, store } = call
    if (store.users.byId(id) === undefined) {
      return yield* Problem.missing(Problem.notFound({ kind: "user", id, parameter: "user_id" }))
    }
    unmute(call, key)
    store.documents.insert("broadcast_mute", { ownerId: id, createdAt: now, key, body: { until } })
    return { data: { muted: true } }
  }),

  unmuteBroadcastChatUser: (call) =>
    Effect.map(own(call), ({ id }) => {
      unmute(call, id)
      return { data: { muted: false } }
    })
} satisfies Partial<Handlers>

type About = Call<{ readonly id: string }>

/** A broadcast of any user. */
const named = (
  { store: { documents } }: Pick<Call<unknown>, "store">,
  id: string
): Effect.Effect<Broadcast, Problem.Problem> => {
  const record = Projected.recordOf(id)
  // A record id is a 64-bit integer.
  const found = record.length > 19 ? undefined : documents.byId("broadcast", record)
  return found === undefined
    ? Problem.missing(Problem.notFound({ kind: "broadcast", id, parameter: "id" }))
    : Effect.succeed(found)
}

/** A broadcast of the caller. */
const own = Effect.fnUntraced(function*(call: About) {
  const { userId } = yield* Caller.user(call.caller)
  const broadcast = yield* named(call, call.parameters.id)
  return broadcast.ownerId === userId ? broadcast : yield* Problem.forbidden("The broadcast is another user's.")
})

/** A plan of the caller that has not begun. */
const waiting = Effect.fnUntraced(function*(call: About) {
  const broadcast = yield* own(call)
  return stateOf(broadcast.body, call.now) === planned
    ? broadcast
    : yield* Problem.invalidRequest("The broadcast has begun.", { id: call.parameters.id })
})

const checkTimes = (
  { scheduled_end_ms: end, scheduled_start_ms: start }: Plan,
  now: number
): Effect.Effect<void, Problem.Problem> =>
  start < now
    ? Problem.invalidRequest("The broadcast begins in the past.", { scheduled_start_ms: String(start) })
    : end <= start
    ? Problem.invalidRequest("The broadcast ends before it begins.", { scheduled_end_ms: String(end) })
    : Effect.void

const later = (plan: Plan, millis: number): Plan => ({
  ...plan,
  scheduled_start_ms: plan.scheduled_start_ms + millis,
  scheduled_end_ms: plan.scheduled_end_ms + millis
})

/** A plan, and those that follow in its series. */
const seriesOf = ({ store }: About, plan: Broadcast, rollsForward = false): ReadonlyArray<Broadcast> => {
  const { body: { recurring_schedule_id: series, scheduled_start_ms: start }, ownerId } = plan
  if (!rollsForward || series === undefined) return [plan]
  return store.documents.all("broadcast", { ownerId }).filter(({ body }) =>
    body.recurring_schedule_id === series && body.scheduled_start_ms >= start
  )
}

const unmute = ({ parameters: { user_id: ownerId }, store }: Call<{ readonly user_id: string }>, key: string): void => {
  for (const { id } of store.documents.all("broadcast_mute", { ownerId, key })) {
    store.documents.delete("broadcast_mute", id)
  }
}

const timeOf = (text: string | undefined, otherwise: number): number => {
  const time = text === undefined ? NaN : /^\d+$/.test(text) ? Number(text) : Date.parse(text)
  return Number.isNaN(time) ? otherwise : time
}

const shownPlan = ({ body, id }: Broadcast, now: number) => {
  const { is_locked: _, live_ms: __, ...plan } = body
  return { ...plan, broadcast_id: broadcastId(id), scheduled_broadcast_id: id, state: stateOf(body, now) }
}

const shown = ({ body, createdAt, id, ownerId }: Broadcast, now: number) => {
  const { live_ms, manual_publish, scheduled_end_ms, scheduled_start_ms, source_id, title } = body
  const state = stateOf(body, now)
  const broadcast = broadcastId(id)
  return {
    ...body,
    id: broadcast,
    broadcast_id: broadcast,
    created_at_ms: createdAt,
    is_high_latency: false,
    language: body["locale"],
    scheduled_end_ms,
    scheduled_start_ms,
    source_id,
    state,
    title,
    ...state === planned ? {} : { start_ms: manual_publish === true ? live_ms : scheduled_start_ms },
    ...state === ended ? { end_ms: scheduled_end_ms } : {},
    total_watched: 0,
    total_watching: 0,
    updated_at_ms: createdAt,
    user_id: ownerId
  }
}

const shownMessage = ({ store }: About, { body, createdAt, id, key, ownerId }: Document<"broadcast_message">) => {
  const author = store.users.byId(ownerId)
  return {
    ...body,
    id,
    author_id: ownerId,
    author_name: author?.name,
    author_username: author?.username,
    broadcast_id: broadcastId(key),
    created_at_ms: createdAt
  }
}
