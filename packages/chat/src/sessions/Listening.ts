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
import type { Item, Tombstone } from "../conversations/Message.ts"
import * as Recent from "../conversations/Recent.ts"
import type { Activity } from "../service/Calls.ts"

/** The types of events that bring messages. */
const types = ["chat.received", "chat.sent"] as const

/** Live items of all conversations of a user: each message once. */
export const listen = (
  opened: ConversationKeys.Opened,
  activity: typeof Activity.Service
): Stream.Stream<Item, ConversationKeys.UseError | StreamError, Client> =>
  Stream.unwrap(Effect.map(subscribe(opened), () => {
    const isNew = Recent.make()
    return activity.pipe(
      Stream.filter(({ event_type, filter }) =>
        types.some((type) => type === event_type) && (filter?.user_id ?? opened.userId) === opened.userId
      ),
      Stream.mapEffect((event) => itemsOf(opened, event.payload)),
      Stream.flatMap(Stream.fromIterable),
      Stream.filter((item) => item.kind === "tombstone" || isNew(`${item.conversation} ${item.senderId} ${item.id}`))
    )
  }))

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

/** The items of a payload: a tombstone if it is not one that this version knows, or if a lookup fails. */
const itemsOf = (
  opened: ConversationKeys.Opened,
  payload: unknown
): Effect.Effect<ReadonlyArray<Item>, never, Client> => {
  const textOf = (member: string): string | undefined =>
    Predicate.hasProperty(payload, member) && typeof payload[member] === "string" ? payload[member] : undefined
  const event = textOf("encoded_event")
  const id = textOf("conversation_id") ?? ""
  const senderId = textOf("sender_id")
  const row = { sequenceId: undefined, senderId, createdAt: textOf("created_at") }
  const bury = (reason: Tombstone["reason"], error?: Error): ReadonlyArray<Item> => [
    { kind: "tombstone", sequenceId: undefined, conversation: id, senderId, createdAt: undefined, reason, error }
  ]
  if (event === undefined) return Effect.succeed(bury("unknown"))
  const change = textOf("conversation_key_change_event")
  return Effect.gen(function*() {
    const conversation = yield* parse(id, opened.userId)
    const { members } = yield* ConversationKeys.membersOf(opened, conversation)
    const changes = change === undefined ? [] : [change]
    return yield* History.verified(opened, conversation, [{ ...row, event }], changes, members)
  }).pipe(
    Effect.catchTag("InvalidParameters", () => Effect.succeed(bury("unknown"))),
    Effect.catch((error) => Effect.succeed(bury("unavailable", error)))
  )
}
