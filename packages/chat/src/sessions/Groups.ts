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
import * as Predicate from "effect/Predicate"
import type { ConversationId } from "../conversations/ConversationId.ts"
import * as ConversationKeys from "../conversations/ConversationKeys.ts"
import { confirmed } from "../service/Calls.ts"

/** A group to create. This user is a member of it, and its admin. */
export interface Group {
  readonly members: ReadonlyArray<string>
  /** Not encrypted: the service and its members sign and see the same text. */
  readonly title?: string | undefined
}

/** Creates a group, and returns its id. */
export const create = Effect.fnUntraced(function*(
  opened: ConversationKeys.Opened,
  { members, title }: Group
): Effect.fn.Return<string, ConversationKeys.UseError, Client> {
  const { library, store, userId } = opened
  const memberIds = [...new Set([userId, ...members])]
  const { conversation_id: id } = yield* dataOf("initializeChatGroup", initializeChatGroup())
  const group = { conversationId: id, memberIds, adminIds: [userId], ...title !== undefined && { title } }
  // The title is byte for byte the signed one, or the service refuses the signature.
  const named = { conversation_id: id, group_members: memberIds, group_admins: [userId], group_name: title }
  yield* store.accepted("members", id, memberIds, true)
  yield* ConversationKeys.change(opened, id, memberIds, {
    prepare: (publicKeys) => library.prepareGroupCreate({ publicKeys, ...group }),
    pass: (body) =>
      confirmed(
        createChatGroup({ ...named, ...body }),
        getChatConversation({ id }).pipe(
          Effect.as(true),
          Effect.catchIf(Predicate.isTagged("NotFound"), () => Effect.succeed(false))
        )
      )
  })
  return id
})

/** Adds members to a group. They can read what is sent from now on. */
export const addMembers = Effect.fnUntraced(function*(
  opened: ConversationKeys.Opened,
  conversation: ConversationId,
  added: ReadonlyArray<string>
): Effect.fn.Return<void, ConversationKeys.UseError, Client> {
  const { id, path } = conversation
  const { admins, members, title } = yield* ConversationKeys.acceptedMembersOf(opened, conversation)
  const newMemberIds = [...new Set(added)].filter((userId) => !members.includes(userId))
  if (newMemberIds.length === 0) return
  const all = [...members, ...newMemberIds]
  yield* opened.store.accepted("members", id, all, true)
  yield* ConversationKeys.change(opened, id, all, {
    prepare: (publicKeys) =>
      opened.library.prepareGroupMembersChange({
        publicKeys,
        conversationId: id,
        newMemberIds,
        currentMemberIds: [...members],
        currentAdminIds: [...admins],
        currentPendingMemberIds: [],
        ...title !== undefined && { currentTitle: title }
      }),
    pass: (body) => addChatGroupMembers({ id: path, user_ids: newMemberIds, ...body })
  })
})
