/** `act`: small writes by id. Several together are prepared, and `publish` does them. */
import { catalogue } from "@postwire/core/Catalogue"
import { Client } from "@postwire/core/client/Client"
import type { Definition } from "@postwire/core/schema/Definition"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Prices from "@postwire/core/spend/Prices"
import * as Effect from "effect/Effect"
import { dollars } from "../money/Dollars.ts"
import { Gate } from "../money/Gate.ts"
import { Refused } from "../money/Refused.ts"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import { Session } from "../session/Session.ts"
import * as Tool from "../session/Tool.ts"
import * as Fence from "../text/Fence.ts"
import type * as Book from "./Book.ts"
import * as Host from "./Host.ts"

/** The operation of an act. */
interface Act {
  readonly definition: Definition
  /** The parameter that is the id. */
  readonly id: string
  readonly of: "post" | "user"
  /** Can be undone, and is not announced: confirmed only after a read of strangers' texts. */
  readonly isQuiet?: boolean
}

const acts: Readonly<Record<string, Act>> = {
  like: { definition: catalogue.like.definition, id: "post_id", of: "post", isQuiet: true },
  unlike: { definition: catalogue.unlike.definition, id: "post_id", of: "post", isQuiet: true },
  bookmark: { definition: catalogue.bookmark.definition, id: "post_id", of: "post", isQuiet: true },
  unbookmark: { definition: catalogue.removeBookmark.definition, id: "post_id", of: "post", isQuiet: true },
  repost: { definition: catalogue.repost.definition, id: "post_id", of: "post" },
  unrepost: { definition: catalogue.unrepost.definition, id: "source_post_id", of: "post", isQuiet: true },
  delete: { definition: catalogue.deletePost.definition, id: "id", of: "post" },
  follow: { definition: catalogue.followUser.definition, id: "target_user_id", of: "user" },
  unfollow: { definition: catalogue.unfollowUser.definition, id: "target_user_id", of: "user" },
  mute: { definition: catalogue.mute.definition, id: "target_user_id", of: "user", isQuiet: true },
  unmute: { definition: catalogue.unmute.definition, id: "target_user_id", of: "user", isQuiet: true },
  add_to_list: { definition: catalogue.addListMember.definition, id: "user_id", of: "user", isQuiet: true },
  remove_from_list: { definition: catalogue.removeListMember.definition, id: "user_id", of: "user", isQuiet: true },
  message: { definition: catalogue.createDirectMessage.definition, id: "participant_id", of: "user" }
}

const names = Object.keys(acts)

export const tool = Tool.make({
  name: "act",
  title: "Like, follow, delete ...",
  description:
    "Does one thing to a post or a user: likes, reposts, bookmarks, deletes own posts, follows, mutes, changes lists (list_id), sends a message (text). Several ids are only prepared: publish does them.",
  toolset: "writes",
  effect: "change",
  operations: Object.values(acts).map(({ definition }) => definition),
  inputs: {
    do: Parameters.required(Parameters.choice(names)),
    ids: Parameters.required(Parameters.textArray({ minimum: 1, maximum: 100, each: 64 })),
    list_id: Parameters.id,
    text: Parameters.text(10_000),
    ...Inputs.common
  },
  hints: { ids: "Ids of posts, or ids or handles of users" },
  run: ({ do: name, ids, list_id, text }) =>
    Effect.gen(function*() {
      const act = acts[name]
      if (act === undefined) return yield* new Refused({ reason: "do: is unknown.", advice: names.join(", ") })
      const { definition, id, isQuiet, of } = act
      // `id` is another parameter of the operations that change no list: the post that `delete` removes, for example.
      if (list_id !== undefined && id !== "user_id") {
        return yield* new Refused({ reason: `list_id: ${name} changes no list.`, advice: "Omit it." })
      }
      const targets = of === "post" ? ids : yield* Effect.forEach(ids, Page.userIdOf)
      const parameters = targets.map((target): Readonly<Record<string, string>> => ({
        [id]: target,
        ...text !== undefined && { text },
        ...list_id !== undefined && { id: String(list_id) }
      }))
      const client = yield* Client
      for (const one of parameters) yield* client.check(definition, one)
      const { hasReadStrangers, settings: { prices } } = yield* Session
      const micros = targets.length * Prices.most(definition, parameters[0], prices)
      const shown = targets.map((target, i) =>
        target === ids[i] ? target : `${target} (${Fence.handle(ids[i]?.replace(/^@/, ""))})`
      )
      const lines = [
        `${name}, for up to ${dollars(micros)}: ${targets.length} ${of}${targets.length > 1 ? "s" : ""}, ${
          shown.join(", ")
        }`,
        ...list_id === undefined ? [] : [`list: ${list_id}`],
        ...text === undefined ? [] : [`text: ${Fence.exact(text)}`]
      ]
      if (targets.length > 1) {
        const action: Book.Calls = { _tag: "calls", operation: definition.name, parameters, id }
        return yield* Host.prepare({ of: name, micros, lines, action })
      }
      const { isDryRun, write } = yield* Gate
      if (!isDryRun && (hasReadStrangers || isQuiet !== true)) yield* write({ of: name, micros, lines })
      yield* client.read(definition, yield* client.request(definition, parameters[0]))
      return { lines: [`done: ${name} ${shown.join()}`] }
    })
})
