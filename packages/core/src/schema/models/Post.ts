import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"
import { Entities, TextEntities, UrlEntity } from "./Entities.ts"

const Context = /*#__PURE__*/ Schema.Struct({
  id: Schema.optionalKey(Schema.String),
  name: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String)
})

/** A post. */
export const Post = /*#__PURE__*/ Model.make({
  kind: "post",
  identifier: "id",
  includes: "posts",
  defaults: ["id", "text", "edit_history_post_ids"],
  unselectable: ["username"],
  fields: {
    id: Schema.String,
    text: Schema.String,
    edit_history_post_ids: Schema.Array(Schema.String),
    article: Schema.optionalKey(Model.Json),
    article_title: Schema.optionalKey(Model.Json),
    attachments: Schema.optionalKey(Schema.Struct({
      media_keys: Schema.optionalKey(Schema.Array(Schema.String)),
      media_source_post_id: Schema.optionalKey(Schema.Array(Schema.String)),
      poll_ids: Schema.optionalKey(Schema.Array(Schema.String))
    })),
    author_id: Schema.String,
    card_uri: Schema.optionalKey(Schema.String),
    community_id: Schema.optionalKey(Schema.String),
    context_annotations: Schema.optionalKey(Schema.Array(Schema.Struct({ domain: Context, entity: Context }))),
    conversation_id: Schema.String,
    created_at: Schema.String,
    display_text_range: Schema.optionalKey(Schema.Array(Schema.Int)),
    edit_controls: Schema.optionalKey(Schema.Struct({
      is_edit_eligible: Schema.optionalKey(Schema.Boolean),
      editable_until: Schema.optionalKey(Schema.String),
      edits_remaining: Schema.optionalKey(Schema.Int)
    })),
    entities: Schema.optionalKey(Entities),
    geo: Schema.optionalKey(Schema.Struct({
      place_id: Schema.optionalKey(Schema.String),
      coordinates: Schema.optionalKey(Schema.Struct({
        type: Model.known("Point"),
        coordinates: Schema.Array(Schema.Finite)
      }))
    })),
    in_reply_to_user_id: Schema.optionalKey(Schema.String),
    lang: Schema.String,
    matched_media_notes: Schema.optionalKey(Schema.Array(Schema.Struct({
      match_status: Schema.optionalKey(Schema.String),
      note_id: Schema.optionalKey(Schema.String)
    }))),
    media_metadata: Schema.optionalKey(Schema.Array(Model.Json)),
    non_public_metrics: Schema.optionalKey(Schema.Struct({
      impression_count: Schema.optionalKey(Schema.Int)
    })),
    note_post: Schema.optionalKey(Schema.Struct({
      text: Schema.optionalKey(Schema.String),
      entities: Schema.optionalKey(TextEntities)
    })),
    note_request_suggestions: Schema.optionalKey(Schema.Array(Schema.Struct({
      source_link: Schema.optionalKey(Schema.String),
      suggestion: Schema.optionalKey(Schema.String),
      suggestion_id: Schema.optionalKey(Schema.String)
    }))),
    organic_metrics: Schema.optionalKey(Schema.Struct({
      impression_count: Schema.optionalKey(Schema.Int),
      like_count: Schema.optionalKey(Schema.Int),
      reply_count: Schema.optionalKey(Schema.Int),
      repost_count: Schema.optionalKey(Schema.Int)
    })),
    paid_partnership: Schema.optionalKey(Schema.Boolean),
    possibly_sensitive: Schema.Boolean,
    promoted_metrics: Schema.optionalKey(Schema.Struct({
      impression_count: Schema.optionalKey(Schema.Int),
      like_count: Schema.optionalKey(Schema.Int),
      reply_count: Schema.optionalKey(Schema.Int),
      repost_count: Schema.optionalKey(Schema.Int)
    })),
    public_metrics: Schema.Struct({
      bookmark_count: Schema.Int,
      impression_count: Schema.Int,
      like_count: Schema.Int,
      quote_count: Schema.optionalKey(Schema.Int),
      reply_count: Schema.Int,
      repost_count: Schema.Int
    }),
    referenced_posts: Schema.optionalKey(
      Schema.Array(Schema.Struct({ type: Model.known("reposted", "quoted", "replied_to"), id: Schema.String }))
    ),
    reply_settings: Model.known("everyone", "mentionedUsers", "following", "other", "subscribers", "verified"),
    scopes: Schema.optionalKey(Schema.Struct({ followers: Schema.optionalKey(Schema.Boolean) })),
    source: Schema.optionalKey(Schema.String),
    // Since August 2026, URLs are texts, and several have counts.
    suggested_source_links: Schema.optionalKey(Schema.Array(Schema.Union([UrlEntity, Schema.String]))),
    suggested_source_links_with_counts: Schema.optionalKey(Schema.Union([
      Schema.Struct({ count: Schema.optionalKey(Schema.Int), url: Schema.optionalKey(UrlEntity) }),
      Schema.Array(Schema.Struct({ count: Schema.optionalKey(Schema.Int), url: Schema.optionalKey(Schema.String) }))
    ])),
    username: Schema.optionalKey(Schema.String),
    withheld: Schema.optionalKey(Schema.Struct({
      copyright: Schema.Boolean,
      country_codes: Schema.Array(Schema.String),
      scope: Schema.optionalKey(Model.known("post", "user"))
    }))
  },
  expansions: {
    "article.cover_media": "media",
    "article.media_entities": "media",
    "attachments.media_keys": "media",
    "attachments.media_source_post": "post",
    "attachments.poll_ids": "poll",
    author_id: "user",
    edit_history_post_ids: "post",
    "entities.mentions.username": "user",
    "geo.place_id": "place",
    in_reply_to_user_id: "user",
    "entities.note.mentions.username": "user",
    "referenced_posts.id": "post",
    "referenced_posts.id.attachments.media_keys": "media",
    "referenced_posts.id.author_id": "user"
  }
})
/** A post with every field selected. */
export interface Post extends Model.Type<typeof Post> {}
