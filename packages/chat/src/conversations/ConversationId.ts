/** The names of a conversation: one of two users is `A:B` in what is signed, with the smaller id first, and `A-B` in paths. */
import { invalidParameter, type InvalidParameters } from "@postwire/core/errors/Errors"
import * as Core from "@postwire/core/schema/ConversationId"
import * as Effect from "effect/Effect"

/** A conversation. */
export interface ConversationId {
  /** As signed: `A:B`, or `g...` for a group. */
  readonly id: string
  /** As in paths. */
  readonly path: string
  /** The other user; undefined for a group. */
  readonly peer: string | undefined
}

/** The conversation that a text names: the id of the other user, or a conversation id in either spelling. */
export const parse = (text: string, userId: string): Effect.Effect<ConversationId, InvalidParameters> => {
  if (/^g[0-9]{1,19}$/.test(text)) return Effect.succeed({ id: text, path: text, peer: undefined })
  const [, first, second = userId] = /^([0-9]{1,19})(?:[:-]([0-9]{1,19}))?$/.exec(text) ?? []
  const peer = second === userId ? first : first === userId ? second : undefined
  if (peer === undefined || peer === userId) {
    return Effect.fail(invalidParameter(
      "chat",
      "conversation",
      "must be the id of the other user, the id of a conversation of this user, or g and the id of a group",
      text
    ))
  }
  const path = Core.ofUsers(userId, peer)
  return Effect.succeed({ id: path.replace("-", ":"), path, peer })
}
