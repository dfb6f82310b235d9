import { getPosts } from "@postwire/core/operations/Posts"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Conversation from "@postwire/core/workflows/Conversation"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Fence from "../text/Fence.ts"
import * as Lines from "../text/Lines.ts"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import * as Tool from "../session/Tool.ts"

/** `read_thread`: the conversation of a post. */
export const tool = Tool.make({
  name: "read_thread",
  title: "Read a conversation",
  description: "Reads the conversation of a post: its first post and the replies of the last 7 days, newest first.",
  toolset: "posts",
  effect: "read",
  operations: [getPosts.definition, searchRecentPosts.definition],
  inputs: { id: Parameters.required(Parameters.id), archive: Parameters.boolean, ...Inputs.listing },
  run: ({ archive, detail = "normal", id, rows }) =>
    Effect.gen(function*() {
      const options = {
        archive,
        authors: detail !== "low",
        user_fields: ["connection_status", "verified"] as const,
        post_fields: ["lang", "note_post"] as const
      }
      const opened = yield* Conversation.open(id, options)
      return yield* page(opened, options, { detail, rows }, undefined)
    })
})

const page = (
  opened: Conversation.Opened,
  options: Conversation.Options,
  given: Page.Given & { readonly detail: Lines.Detail },
  cursor: string | undefined
): Effect.Effect<Tool.Listing, Tool.Failure, Tool.Needs> =>
  Effect.gen(function*() {
    const [read] = yield* Stream.runCollect(Stream.take(Conversation.pages(opened, options, cursor), 1))
    if (read === undefined) return { lines: ["nothing found"] }
    const lineOptions = yield* Page.optionsOf(given.detail)
    const users = new Map(
      (read.includes["users"] ?? []).map((user): readonly [unknown, Lines.Item] => {
        const item: Lines.Item = { ...user }
        return [item["id"], item]
      })
    )
    const { next } = read
    return {
      lines: [
        ...read.items.map((post) => Lines.of("post", post, users.get(post.author_id), lineOptions)),
        ...read.missing.map(({ id, reason }) => `not shown: ${Fence.id(id)} (${reason})`),
        ...read.outOfReach === undefined ? [] : ["older replies are out of reach without archive: true"]
      ],
      rows: given.rows,
      next: next === undefined ? undefined : page(opened, options, given, next),
      hasStrangers: read.items.length > 0
    }
  })
