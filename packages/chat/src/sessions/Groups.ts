/** Groups: their creation and their members. */
import type { Client } from "@postwire/core/client/Client"
import { dataOf } from "@postwire/core/client/DataOf"
import {
  addChatGroupMembers,
  createChatGroup,
  getChatConversation,
  initializeChatGroup
} from "@postwire/core/operations/Chat"
import * as Effect from "effect/Effect"
import type { ConversationId } from "../conversations/ConversationId.ts"
import * as ConversationKeys from "../conversations/ConversationKeys.ts"
import { keyOf } from "../keys/ChatStore.ts"
import { confirmed } from "../service/Calls.ts"

/** A group to create. This user is a member of it, and its admin. */
export interface Group {
  readonly members: ReadonlyArray<string>
  /** Not encrypted: the service and its members sign and see the same text. */
  readonly title?: string | undefined
}

/** Creates a group, and returns its id. */
export const create = Effect.fnUntraced(function*(
  { library, publicKeys, store, userId }: ConversationKeys.Opened,
  { members, title }: Group
): Effect.fn.Return<string, ConversationKeys.UseError, Client> {
  const memberIds = [...new Set([userId, ...members])]
  const { conversation_id: id } = yield* dataOf("initializeChatGroup", initializeChatGroup())
  const recipients = yield* publicKeys.recipients(memberIds)
  const prepared = yield* ConversationKeys.use(id, () =>
    library.prepareGroupCreate({
      publicKeys: recipients,
      conversationId: id,
      memberIds,
      adminIds: [userId],
      ...title !== undefined && { title }
    }))
  yield* confirmed(
    createChatGroup({
      conversation_id: id,
      group_members: memberIds,
      group_admins: [userId],
      // Byte for byte the signed title, or the service refuses the signature.
      ...title !== undefined && { group_name: title },
      ...ConversationKeys.bodyOf(prepared)
    }),
    Effect.isSuccess(getChatConversation({ id }))
  )
  yield* store.addKeys(id, [keyOf(prepared.conversationKeyVersion, prepared.conversationKey, true)])
  return id
})

/** Adds members to a group. They can read what is sent from now on. */
export const addMembers = Effect.fnUntraced(function*(
  opened: ConversationKeys.Opened,
  conversation: ConversationId,
  added: ReadonlyArray<string>
): Effect.fn.Return<void, ConversationKeys.UseError, Client> {
  const { library, publicKeys, store } = opened
  const { id, path } = conversation
  const { admins, members, title } = yield* ConversationKeys.membersOf(opened, conversation)
  const newMemberIds = [...new Set(added)].filter((userId) => !members.includes(userId))
  if (newMemberIds.length === 0) return
  const recipients = yield* publicKeys.recipients([...members, ...newMemberIds])
  const prepared = yield* ConversationKeys.use(id, () =>
    library.prepareGroupMembersChange({
      publicKeys: recipients,
      conversationId: id,
      newMemberIds,
      currentMemberIds: [...members],
      currentAdminIds: [...admins],
      currentPendingMemberIds: [],
      ...title !== undefined && { currentTitle: title }
    }))
  yield* addChatGroupMembers({ id: path, user_ids: newMemberIds, ...ConversationKeys.bodyOf(prepared) })
  yield* store.addKeys(id, [keyOf(prepared.conversationKeyVersion, prepared.conversationKey, true)])
})
