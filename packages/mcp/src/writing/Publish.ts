/** `publish`: sends what was prepared under a handle, once, after the user has agreed. */
import { Client } from "@postwire/core/client/Client"
import * as Publishing from "@postwire/core/publishing/Publish"
import type { Definition } from "@postwire/core/schema/Definition"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Effect from "effect/Effect"
import { Gate } from "../money/Gate.ts"
import { Refused } from "../money/Refused.ts"
import * as Inputs from "../session/Inputs.ts"
import { named } from "../session/Operations.ts"
import * as Page from "../session/Page.ts"
import { Session } from "../session/Session.ts"
import * as Tool from "../session/Tool.ts"
import * as Book from "./Book.ts"
import * as Files from "./Files.ts"
import * as Host from "./Host.ts"
import { contentsOf } from "./PreparePost.ts"

export const tool = Tool.make({
  name: "publish",
  title: "Publish what was prepared",
  description:
    "Sends what was prepared under a handle, once. The user confirms it. After a lost answer the same handle only looks for the post.",
  toolset: "writes",
  effect: "change",
  operations: [],
  inputs: { handle: Parameters.required(Parameters.text(64)), ...Inputs.common },
  run: ({ handle }) =>
    Effect.gen(function*() {
      const { action, contents, state } = yield* found(handle)
      if (state === "sent") return yield* look(handle, action, contents)
      const files = action._tag === "post" ? yield* Effect.forEach(action.media, Files.reopen) : []
      const { isDryRun, write } = yield* Gate
      if (isDryRun) return { lines: [...contents.lines, "Nothing was sent."] }
      const { lines, micros, of } = contents
      yield* write({ of, micros, lines, handle })
      if (!(yield* Book.move(handle, ["waiting", "approved"], "sent"))) return yield* unusable
      const done = Effect.ignore(Book.move(handle, ["sent"], "done"))
      // Whatever ends this otherwise leaves the outcome open, and the handle used.
      return yield* send(action, files).pipe(
        Effect.tapError(({ _tag }) => _tag === "OutcomeUnknown" ? Effect.void : done),
        Effect.tap(() => done)
      )
    })
})

const unusable = new Refused({
  reason: "handle: there is none like this, or its 10 minutes are over, or the user declined it.",
  advice: "Nothing was sent. Prepare the write again if the user wants it."
})

/** The write of a handle with these credentials, if it may still be sent, or may have been. */
const found = (handle: string) =>
  Effect.gen(function*() {
    const entry = yield* Book.find(handle)
    if (entry?.state === "done") {
      return yield* new Refused({
        reason: "handle: was used before.",
        advice: "Nothing was sent now. Prepare another write if the user wants one."
      })
    }
    const action = entry?.contents.action
    if (entry === undefined || action === undefined || (entry.isExpired && entry.state !== "sent")) {
      return yield* unusable
    }
    if (entry.contents.account !== (yield* Host.account)) {
      return yield* new Refused({
        reason: "handle: was prepared for another account.",
        advice: "Nothing was sent. Prepare the write again."
      })
    }
    return { action, contents: entry.contents, state: entry.state }
  })

/** Looks for a post whose answer was lost. */
const look = (handle: string, action: Book.Action, { until = 0 }: Book.Contents) =>
  Effect.gen(function*() {
    const { settings: { userAuth, userId } } = yield* Session
    const id = action._tag === "calls" ? undefined : yield* Publishing.find(contentsOf(action, []), {
      authorId: userId ?? (yield* Page.userIdOf(undefined)),
      notBefore: new Date(until - Book.validMillis),
      hasMedia: action.media.length > 0,
      user_auth: userAuth === true
    })
    if (id !== undefined) {
      yield* Book.move(handle, ["sent"], "done")
      return { lines: [`posted: id:${id} (its answer was lost; it is among the account's posts)`] }
    }
    const next = action._tag === "post"
      ? "It is not among the account's posts. In a minute, look again with this handle; posts appear late"
      : "Find out with a tool that reads"
    return {
      lines: [`unknown: its answer was lost, and it may have happened. It is never retried. ${next}. ${ifAbsent}`]
    }
  })

const ifAbsent = "Only if it is absent then, and the user agrees, prepare it again."

const send = (
  action: Book.Action,
  files: ReadonlyArray<Publishing.Media["file"]>
): Effect.Effect<Tool.Listing, Tool.Failure, Tool.Needs> =>
  Effect.gen(function*() {
    if (action._tag === "post") {
      const { settings } = yield* Session
      const { id } = yield* Publishing.publish(contentsOf(action, files), { user_auth: settings.userAuth === true })
      return { lines: [`posted: id:${id}`] }
    }
    const definition = named(action.operation)
    if (definition === undefined) return yield* unusable
    if (action.id !== undefined) return yield* sendEach(definition, action, action.id)
    const answer = yield* Page.linesOf(definition, yield* call(definition, action.parameters[0]), "normal")
    return { ...answer, lines: [`done: ${definition.name}`, ...answer.lines] }
  })

const call = (definition: Definition, parameters: Readonly<Record<string, unknown>> | undefined) =>
  Effect.gen(function*() {
    const client = yield* Client
    return yield* client.read(definition, yield* client.request(definition, parameters))
  })

/** Refusals of one id, after which the others may still succeed. */
const ofOne: ReadonlySet<string> = new Set(["BadRequest", "Forbidden", "NotFound"])

/** Sends calls one after another. It stops at an error that concerns the others, too. */
const sendEach = (definition: Definition, { parameters }: Book.Calls, id: string) =>
  Effect.gen(function*() {
    const failed: Array<string> = []
    let done = 0
    for (const [i, one] of parameters.entries()) {
      const result = yield* Effect.result(call(definition, one))
      if (result._tag === "Success") {
        done++
        continue
      }
      failed.push(`${one[id]}: ${result.failure._tag}`)
      if (!ofOne.has(result.failure._tag)) {
        failed.push(`not sent: ${parameters.slice(i + 1).map((rest) => rest[id]).join(", ") || "none"}`)
        break
      }
    }
    return { lines: [`done: ${done} of ${parameters.length}`, ...failed] }
  })
