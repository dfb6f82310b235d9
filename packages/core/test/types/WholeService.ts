// Type tests of the operations of chat, broadcasts, Community Notes, Articles, news, analytics and the document.
import * as Analytics from "@postwire/core/operations/Analytics"
import * as Articles from "@postwire/core/operations/Articles"
import * as Broadcasts from "@postwire/core/operations/Broadcasts"
import * as Chat from "@postwire/core/operations/Chat"
import * as CommunityNotes from "@postwire/core/operations/CommunityNotes"
import * as OpenApi from "@postwire/core/operations/OpenApi"
import type { Ciphertext } from "@postwire/core/schema/models/Chat"
import type * as Effect from "effect/Effect"
import type { Json, JsonObject } from "effect/Schema"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const assertType = <T extends true>(): T | void => undefined
type Data<E> = E extends Effect.Effect<{ readonly data: infer D | undefined }, infer _E, infer _R> ? NonNullable<D>
  : never
type Failure<E> = E extends Effect.Effect<infer _A, infer X, infer _R> ? X : never

// Bytes of the chat's cryptography are branded where they come, and any text where they go.
const message = Chat.sendChatMessage({ id: "1", message_id: "m", encoded_message_create_event: "CwAB" })
assertType<Equal<Data<typeof message>["encoded_message_event"], Ciphertext | undefined>>()
assertType<"OutcomeUnknown" extends Failure<typeof message>["_tag"] ? true : false>()
const events = Chat.getChatConversationEvents({ id: "1", chat_message_event_fields: ["encoded_event"] })
assertType<Equal<Data<typeof events>[number]["encoded_event"], Ciphertext | undefined>>()

// Times are numbers in both directions, and so is `chat_option`.
const broadcast = Broadcasts.getBroadcast({ id: "1", broadcast_fields: ["start_ms", "chat_option"] })
assertType<Equal<Data<typeof broadcast>["start_ms"], number | undefined>>()
assertType<Equal<Data<typeof broadcast>["chat_option"], number | undefined>>()
Broadcasts.createScheduledBroadcast({ source_id: "s", scheduled_start_ms: 1, scheduled_end_ms: 2, chat_option: 1 })
// @ts-expect-error Text is not accepted.
Broadcasts.createScheduledBroadcast({ source_id: "s", scheduled_start_ms: "1", scheduled_end_ms: 2 })

// Notes are notes of the test mode.
// @ts-expect-error `test_mode` must be true.
CommunityNotes.searchCommunityNotesWritten({ test_mode: false })
CommunityNotes.searchCommunityNotesWritten({ test_mode: true })

// The content of an Article is known.
const block = { type: "unstyled", text: "Hello" } as const
Articles.createArticleDraft({ title: "T", content_state: { blocks: [block], entities: [] } })
// @ts-expect-error There is no such block.
Articles.createArticleDraft({ title: "T", content_state: { blocks: [{ ...block, type: "h1" }], entities: [] } })

// Figures have neutral names.
const figures = Analytics.getPostAnalytics({
  ids: ["1"],
  start_time: "2026-11-01T00:00:00Z",
  end_time: "2026-11-02T00:00:00Z",
  analytics_fields: ["reposts", "timestamped_metrics"]
})
assertType<Equal<Data<typeof figures>[number]["reposts"], number | undefined>>()

// The document is JSON.
const document = OpenApi.getOpenApiDocument()
assertType<Equal<Data<typeof document>, JsonObject>>()
assertType<Equal<Data<typeof document>[string], Json>>()
