/**
 * The tables of a copy. Their columns follow from the models of the service: objects within a resource become columns
 * (`public_metrics_like_count`), lists become JSON, and fields without a column are kept as JSON in `other`.
 */
import type * as Model from "@postwire/core/schema/Model"
import { DirectMessageEvent } from "@postwire/core/schema/models/DirectMessageEvent"
import { List } from "@postwire/core/schema/models/List"
import { Media } from "@postwire/core/schema/models/Media"
import { Place } from "@postwire/core/schema/models/Place"
import { Poll } from "@postwire/core/schema/models/Poll"
import { Post } from "@postwire/core/schema/models/Post"
import { Space } from "@postwire/core/schema/models/Space"
import { User } from "@postwire/core/schema/models/User"
import * as Table from "@postwire/export/rows/Table"

/** The name of a table of resources. */
export type TableName = "posts" | "users" | "media" | "lists" | "spaces" | "messages" | "places" | "polls"

/** A table of resources. */
export interface CopyTable {
  readonly name: TableName
  readonly model: Model.AnyModel
  /** The column that identifies a resource. */
  readonly key: "id" | "media_key"
  /** The columns of the service, the last of which is `other`. */
  readonly columns: ReadonlyArray<Table.Column>
  /** The columns whose values are kept over time in a table of their own. */
  readonly metrics: ReadonlyArray<Table.Column>
  /** True if the ids are numbers that grow with time. */
  readonly isTimed: boolean
}

/** The fields that have columns, by selector. They are also those that a sync requests by default. */
export const fields = {
  post_fields: [
    "author_id",
    "created_at",
    "conversation_id",
    "in_reply_to_user_id",
    "referenced_posts",
    "attachments",
    "entities",
    "lang",
    "public_metrics",
    "possibly_sensitive",
    "reply_settings",
    "withheld",
    "geo",
    "community_id",
    "note_post"
  ],
  user_fields: [
    "created_at",
    "description",
    "location",
    "url",
    "entities",
    "protected",
    "verified",
    "verified_type",
    "profile_image_url",
    "profile_banner_url",
    "pinned_post_id",
    "public_metrics",
    "withheld"
  ],
  media_fields: ["type", "url", "preview_image_url", "variants", "alt_text", "width", "height", "duration_ms"],
  list_fields: ["created_at", "description", "owner_id", "private", "member_count", "follower_count"],
  space_fields: [
    "title",
    "state",
    "creator_id",
    "host_ids",
    "speaker_ids",
    "lang",
    "created_at",
    "scheduled_start",
    "started_at",
    "ended_at",
    "participant_count",
    "topic_ids"
  ],
  dm_event_fields: [
    "event_type",
    "text",
    "created_at",
    "sender_id",
    "dm_conversation_id",
    "participant_ids",
    "referenced_posts",
    "attachments",
    "entities"
  ],
  place_fields: ["name", "full_name", "country", "country_code", "place_type", "geo", "contained_within"],
  poll_fields: ["options", "duration_minutes", "end_datetime", "voting_status"]
} as const

const make = (name: TableName, model: Model.AnyModel): CopyTable => {
  const selected: Readonly<Record<string, ReadonlyArray<string>>> = fields
  const result = { _tag: "Many", kind: model.kind, model } as const
  const table = Table.items({ result }, { [model.selector]: selected[model.selector] ?? [] })
  // The whole text of a long post is in its text.
  const columns = table.columns.filter(({ path: [first] }) => first !== "note_post")
  return {
    name,
    model,
    key: model.identifier === "media_key" ? "media_key" : "id",
    columns,
    metrics: columns.filter(({ path: [first] }) => first === "public_metrics"),
    isTimed: name === "posts" || name === "messages"
  }
}

/** Every table of resources, by its name. */
export const tables: { readonly [Name in TableName]: CopyTable } = {
  posts: make("posts", Post),
  users: make("users", User),
  media: make("media", Media),
  lists: make("lists", List),
  spaces: make("spaces", Space),
  messages: make("messages", DirectMessageEvent),
  places: make("places", Place),
  polls: make("polls", Poll)
}

/** The table of a bucket of `includes`, or of a kind of items; `undefined` for resources that a copy does not keep. */
export const of = (kind: string): CopyTable | undefined =>
  Object.values(tables).find(({ model }) => model.kind === kind || model.includes === kind)
