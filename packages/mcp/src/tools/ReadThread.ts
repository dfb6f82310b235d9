import { getPosts } from "@postwire/core/operations/Posts"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Conversation from "@postwire/core/workflows/Conversation"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import { Session } from "../session/Session.ts"
import * as Tool from "../session/Tool.ts"
import * as Fence from "../text/Fence.ts"
import type * as Lines from "../text/Lines.ts"

/** `read_thread`: the conversation of a post. */
export const tool = Tool.make({
  name: "read_thread",
  title: "Read a conversation",
  description: "Reads the conversation of a post: its first post and the replies of the last 7 days, newest first.",
  toolset: "posts",
  effect: "read",
  operations: [getPosts.definition, searchRecentPosts.definition],
  inputs: {
    id: Parameters.required(Parameters.id),
    archive: Parameters.boolean,
    ...Inputs.listing,
    // A conversation is not written to a file.
    rows: Parameters.integer({ minimum: 1, maximum: 100 })
  },
  run: ({ archive, detail = "normal", id, rows = usualRows }) =>
    Effect.gen(function*() {
      const { settings: { trustedOnly = false } } = yield* Session
      const options = {
        archive,
        authors: trustedOnly || detail !== "low",
        user_fields: trustedOnly ? ["connection_status", "verified"] as const : ["verified"] as const,
        post_fields: ["lang", "note_post"] as const
      }
      const opened = yield* Conversation.open(id, options)
      // The price of a search depends on the size of its page.
      const query = { ...opened.query, max_results: Math.max(rows, smallestPage) }
      return yield* part({ ...opened, query }, options, { detail, rows }, undefined)
    })
})

const smallestPage = 10

const usualRows = 20

/** The posts of the next pages, so many at least. */
const part = (
  opened: Conversation.Opened,
  options: Conversation.Options,
  given: { readonly detail: Lines.Detail; readonly rows: number },
  from: string | undefined
): Effect.Effect<Tool.Listing, Tool.Failure, Tool.Needs> =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    let cursor = from
    do {
      const [page] = yield* Stream.runCollect(Stream.take(Conversation.pages(opened, options, cursor), 1))
      if (page === undefined) break
      lines.push(...yield* linesOf(page, given.detail))
      cursor = page.next
    } while (cursor !== undefined && lines.length < given.rows)
    const next = cursor
    return {
      lines,
      rows: given.rows,
      next: next === undefined ? undefined : part(opened, options, given, next),
      hasStrangers: true
    }
  })

const linesOf = (page: Conversation.Page, detail: Lines.Detail) =>
  Effect.gen(function*() {
    const users = new Map((page.includes["users"] ?? []).map((user) => ["id" in user ? user.id : undefined, user]))
    const author = (post: object) => users.get("author_id" in post ? post.author_id : undefined)
    const { lines } = yield* Page.linesOf(getPosts.definition, { data: page.items, errors: [], author }, detail)
    return [
      ...page.items.length === 0 ? [] : lines,
      ...page.missing.map(({ id, reason }) => `not shown: ${Fence.id(id)} (${reason})`),
      ...page.outOfReach === undefined ? [] : ["older replies are out of reach without archive: true"]
    ]
  })
