import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"
import { Entities, UrlEntity } from "./Entities.ts"

/** A user. */
export const User = /*#__PURE__*/ Model.make({
  kind: "user",
  identifier: "id",
  includes: "users",
  defaults: ["id", "name", "username"],
  fields: {
    id: Schema.String,
    name: Schema.String,
    username: Schema.String,
    affiliation: Schema.optionalKey(Schema.Struct({
      badge_url: Schema.optionalKey(Schema.String),
      description: Schema.optionalKey(Schema.String),
      url: Schema.optionalKey(Schema.String),
      user_id: Schema.optionalKey(Schema.Array(Schema.String))
    })),
    confirmed_email: Schema.optionalKey(Schema.String),
    connection_status: Schema.optionalKey(Schema.Array(
      Model.known("follow_request_received", "follow_request_sent", "blocking", "followed_by", "following", "muting")
    )),
    created_at: Schema.String,
    description: Schema.String,
    entities: Schema.optionalKey(Schema.Struct({
      description: Schema.optionalKey(Entities),
      url: Schema.optionalKey(Schema.Struct({ urls: Schema.optionalKey(Schema.Array(UrlEntity)) }))
    })),
    is_identity_verified: Schema.optionalKey(Schema.Boolean),
    location: Schema.optionalKey(Schema.String),
    most_recent_post_id: Schema.optionalKey(Schema.String),
    parody: Schema.optionalKey(Schema.Boolean),
    pinned_post_id: Schema.optionalKey(Schema.String),
    profile_banner_url: Schema.optionalKey(Schema.String),
    profile_image_url: Schema.String,
    protected: Schema.Boolean,
    public_metrics: Schema.Struct({
      followers_count: Schema.Int,
      following_count: Schema.Int,
      like_count: Schema.optionalKey(Schema.Int),
      listed_count: Schema.Int,
      media_count: Schema.optionalKey(Schema.Int),
      post_count: Schema.Int
    }),
    receives_your_dm: Schema.optionalKey(Schema.Boolean),
    subscribes_to_you: Schema.optionalKey(Schema.Boolean),
    subscription: Schema.optionalKey(Model.Json),
    subscription_type: Schema.optionalKey(Model.known("Basic", "Premium", "PremiumPlus", "None")),
    url: Schema.optionalKey(Schema.String),
    verified: Schema.Boolean,
    verified_followers_count: Schema.optionalKey(Schema.Int),
    verified_type: Model.known("blue", "government", "business", "none"),
    withheld: Schema.optionalKey(Schema.Struct({
      country_codes: Schema.optionalKey(Schema.Array(Schema.String)),
      scope: Schema.optionalKey(Model.known("user"))
    }))
  },
  expansions: { "affiliation.user_id": "user", most_recent_post_id: "post", pinned_post_id: "post" }
})
/** A user with every field selected. */
export interface User extends Model.Type<typeof User> {}
