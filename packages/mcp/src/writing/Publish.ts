/** `publish`: sends what was prepared under a handle, once, after the user has agreed. */
import type { AnyError } from "@postwire/core/errors/Errors"
import { createPost } from "@postwire/core/operations/Posts"
import * as Publishing from "@postwire/core/publishing/Publish"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Effect from "effect/Effect"
import { Gate } from "../money/Gate.ts"
import { Refused } from "../money/Refused.ts"
import * as Inputs from "../session/Inputs.ts"
import { Session } from "../session/Session.ts"
import * as Tool from "../session/Tool.ts"
import * as Act from "./Act.ts"
import type * as Action from "./Action.ts"
import * as Book from "./Book.ts"
import * as Files from "./Files.ts"
import * as Host from "./Host.ts"
import { contentsOf } from "./PreparePost.ts"

export const tool = Tool.make({
  name: "publish",
  title: "Publish what was prepared",
  description: "Sends what prepare_post or act has prepared under a handle, once. The user confirms it.",
  toolset: "writes",
  effect: "change",
  operations: [createPost.definition, ...Act.operations],
  inputs: { handle: Parameters.required(Parameters.text(64)), ...Inputs.common },
  run: ({ handle }) =>
    Effect.gen(function*() {
      const { action, contents } = yield* found(handle)
      const files = action._tag === "post" ? yield* Effect.forEach(action.media, Files.reopen) : []
      const { isDryRun, write } = yield* Gate
      if (isDryRun) return { lines: [...contents.lines, "Nothing was sent."] }
      const { lines, micros, of } = contents
      yield* write({ of, micros, lines, handle })
      if (!(yield* Book.move(handle, ["waiting", "approved"], "sent"))) return yield* unusable
      const sent = action._tag === "calls" ? Act.perform(action) : post(action, files)
      // Whatever ends this otherwise leaves the outcome open, and the handle used.
      return yield* Effect.tap(
        Effect.tapError(sent, ({ _tag }) =>
          _tag === "OutcomeUnknown" ? Effect.void : Effect.ignore(Book.move(handle, ["sent"], "done"))),
        () =>
          Effect.ignore(Book.move(handle, ["sent"], "done"))
      )
    })
})

const unusable = new Refused({
  reason: "handle: there is none like this, or its 10 minutes are over, or the user declined it.",
  advice: "Nothing was sent. Prepare the write again if the user wants it."
})

/** The write of a handle, if it may still be sent with these credentials. */
const found = (handle: string) =>
  Effect.gen(function*() {
    const entry = yield* Book.find(handle)
    if (entry?.state === "sent") {
      return yield* new Refused({
        reason: "handle: this was sent before, and its outcome is unknown: it may have happened.",
        advice:
          "It is never sent again. Find out with read_user and show: posts, in a minute. Only if it is absent, and the user agrees, prepare it again."
      })
    }
    if (entry?.state === "done") {
      return yield* new Refused({
        reason: "handle: was used before.",
        advice: "Nothing was sent now. Prepare another write if the user wants one."
      })
    }
    const action = entry?.contents.action
    if (entry === undefined || action === undefined || entry.isExpired) return yield* unusable
    if (entry.contents.account !== (yield* Host.account)) {
      return yield* new Refused({
        reason: "handle: was prepared for another account.",
        advice: "Nothing was sent. Prepare the write again."
      })
    }
    return { action, contents: entry.contents }
  })

const post = (
  action: Action.Post,
  files: ReadonlyArray<Publishing.Media["file"]>
): Effect.Effect<Tool.Listing, PostError, Tool.Needs> =>
  Effect.gen(function*() {
    const { settings } = yield* Session
    const { id } = yield* Publishing.publish(contentsOf(action, files), { user_auth: settings.userAuth === true })
    return { lines: [`posted: id:${id}`] }
  })

type PostError = AnyError | Publishing.PublishError
