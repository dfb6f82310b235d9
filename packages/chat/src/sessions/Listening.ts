/** Live messages, by the stream of activity. */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError, StreamError } from "@postwire/core/errors/Errors"
import { createActivitySubscription, getActivitySubscriptions } from "@postwire/core/operations/Activity"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { parse } from "../conversations/ConversationId.ts"
import * as ConversationKeys from "../conversations/ConversationKeys.ts"
import * as History from "../conversations/History.ts"
import type { Item } from "../conversations/Message.ts"
import type { Activity } from "../service/Calls.ts"

/** The types of events that bring messages. */
const types = ["chat.received", "chat.sent"] as const

/** Live items of all conversations of a user: each message once. */
export const listen = (
  opened: ConversationKeys.Opened,
  activity: typeof Activity.Service
): Stream.Stream<Item, ConversationKeys.UseError | StreamError, Client> =>
  Stream.unwrap(Effect.map(subscribe(opened), () => {
    const seen = new Set<string>()
    return activity.pipe(
      Stream.filter(({ event_type, filter }) =>
        types.some((type) => type === event_type) && (filter?.user_id ?? opened.userId) === opened.userId
      ),
      Stream.mapEffect((event) => itemsOf(opened, event.payload)),
      Stream.flatMap(Stream.fromIterable),
      Stream.filter((item) => {
        if (item.kind === "tombstone") return true
        if (seen.has(item.id)) return false
        seen.add(item.id)
        // Repetitions come soon.
        const [oldest] = seen.size > mostRemembered ? seen : []
        if (oldest !== undefined) seen.delete(oldest)
        return true
      })
    )
  }))

const mostRemembered = 10_000

/** Subscribes to messages to and from the user, unless the app has subscribed. */
const subscribe = Effect.fnUntraced(function*(
  { userId }: ConversationKeys.Opened
): Effect.fn.Return<void, AnyError, Client> {
  const data = yield* Stream.runCollect(getActivitySubscriptions.items({ max_results: 1_000 }))
  for (const event_type of types) {
    if (data.some((one) => one.event_type === event_type && one.filter?.user_id === userId)) continue
    yield* createActivitySubscription({ event_type, filter: { user_id: userId } })
  }
})

/** The items of a payload. */
const itemsOf = Effect.fnUntraced(function*(
  opened: ConversationKeys.Opened,
  payload: unknown
): Effect.fn.Return<ReadonlyArray<Item>, ConversationKeys.UseError, Client> {
  const textOf = (member: string): string | undefined =>
    Predicate.hasProperty(payload, member) && typeof payload[member] === "string" ? payload[member] : undefined
  const event = textOf("encoded_event")
  const conversation = yield* Effect.option(parse(textOf("conversation_id") ?? "", opened.userId))
  if (event === undefined || conversation._tag === "None") return []
  const sender = textOf("sender_id")
  const { members } = yield* ConversationKeys.membersOf(opened, conversation.value)
  const senders = sender === undefined || conversation.value.peer !== undefined ? members : [...members, sender]
  const change = textOf("conversation_key_change_event")
  const row = { sequenceId: "", createdAt: textOf("created_at"), event }
  return yield* History.verified(opened, conversation.value, [row], change === undefined ? [] : [change], senders)
})
