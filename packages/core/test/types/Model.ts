import * as Schema from "effect/Schema"
import * as Model from "../../src/schema/Model.ts"
import { DirectMessageEvent } from "../../src/schema/models/DirectMessageEvent.ts"
import type { Includes } from "../../src/schema/models/Includes.ts"
import { Media } from "../../src/schema/models/Media.ts"
import { Post } from "../../src/schema/models/Post.ts"
import { Space } from "../../src/schema/models/Space.ts"
import { Topic } from "../../src/schema/models/Topic.ts"
import type { User } from "../../src/schema/models/User.ts"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const equal = <A, B>(_: Equal<A, B>): void => {}

// Literals survive.
equal<typeof Post.kind, "post">(true)
equal<typeof Post.identifier, "id">(true)
equal<typeof Media.identifier, "media_key">(true)
equal<typeof Post.selector, "post_fields">(true)
equal<typeof DirectMessageEvent.selector, "dm_event_fields">(true)
equal<typeof Topic.selector, "topic_fields">(true)
equal<typeof Post.includes, "posts">(true)
equal<typeof Space.includes, undefined>(true)
equal<(typeof Post.defaults)[number], "id" | "text" | "edit_history_post_ids">(true)
equal<(typeof Post.expansions)["referenced_posts.id.author_id"], "user">(true)
equal<keyof typeof Topic.expansions, never>(true)

declare const post: Post
declare const user: User
declare const space: Space

// Asked for: there, or optional where the service may leave it out.
const text: string = post.text
const repostCount: number = post.public_metrics.repost_count
// @ts-expect-error may be left out
const replyTo: string = post.in_reply_to_user_id
const mediaKeys: ReadonlyArray<string> | undefined = post.attachments?.media_keys
const referenced: string | undefined = post.referenced_posts?.[0]?.type
const handle: string = user.username
// @ts-expect-error no such field
post.retweet_count
// @ts-expect-error read-only
post.text = "other"
// @ts-expect-error read-only, deeper
post.public_metrics.like_count = 1

// Known values are offered, others are accepted.
const live: Space["state"] = "live"
const later: Space["state"] = "a state of next year"
// @ts-expect-error not a string
const wrong: Space["state"] = 1
equal<Space["state"], "live" | "scheduled" | "ended" | (string & {})>(true)

// Received: only the identifier is certain.
const received: typeof Post.schema.Type = { id: "1" }
// @ts-expect-error the identifier is required
const nameless: typeof Post.schema.Type = { text: "a" }
const maybe: string | undefined = received.text
// @ts-expect-error may not have been asked for
const certain: string = received.text
declare const includes: Includes
const tag: string | undefined = includes.posts?.[0]?.entities?.hashtags?.[0]?.tag

// Models alike.
const any: Model.AnyModel = Media
const all: ReadonlyArray<Model.AnyModel> = [Post, Space, DirectMessageEvent, Topic]

Model.make({
  kind: "topic",
  identifier: "id",
  // @ts-expect-error another resource's
  includes: "users",
  defaults: ["id"],
  fields: { id: Schema.String }
})
Model.make({
  kind: "poll",
  identifier: "id",
  includes: "polls",
  // @ts-expect-error not a field
  defaults: ["title"],
  fields: { id: Schema.String }
})
Model.make({
  kind: "list",
  identifier: "id",
  includes: undefined,
  defaults: ["id"],
  fields: { id: Schema.String },
  // @ts-expect-error not a resource
  expansions: { owner_id: "owner" }
})

void [text, repostCount, replyTo, mediaKeys, referenced, handle, live, later, wrong, nameless, maybe, certain, tag]
void [any, all, space]
