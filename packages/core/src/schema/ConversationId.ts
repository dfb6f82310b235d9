/** The id of a direct message conversation, which events lack (`dm.received`) and message events have by request only. */

/**
 * The `dm_conversation_id` of the conversation of two users: both user ids, the smaller one first. Groups have ids of their own.
 *
 * ```ts
 * ConversationId.ofUsers("783214", "2244994945") // "783214-2244994945"
 * ```
 */
export const ofUsers = (one: string, other: string): string =>
  BigInt(one) < BigInt(other) ? `${one}-${other}` : `${other}-${one}`
