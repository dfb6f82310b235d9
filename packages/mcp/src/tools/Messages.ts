import { getDirectMessageEvents } from "@postwire/core/operations/DirectMessages"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Effect from "effect/Effect"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import * as Tool from "../session/Tool.ts"

/** `messages`: the direct messages of the account. */
export const tool = Tool.make({
  name: "messages",
  title: "Read direct messages",
  description:
    "Reads direct messages of the last 30 days, newest first: all, or of one conversation, or with one user.",
  toolset: "messages",
  effect: "read",
  operations: [getDirectMessageEvents.definition],
  inputs: { user: Parameters.text(64), conversation_id: Parameters.segment, ...Inputs.listing },
  run: ({ conversation_id, detail, rows, user }) =>
    Effect.gen(function*() {
      const which = {
        dm_conversation_id: conversation_id,
        participant_id: user === undefined ? undefined : yield* Page.userIdOf(user)
      }
      return yield* Page.read(getDirectMessageEvents.definition, which, { detail, rows })
    })
})
