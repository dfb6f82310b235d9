import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"
import { Media } from "./Media.ts"
import { Place } from "./Place.ts"
import { Poll } from "./Poll.ts"
import { Post } from "./Post.ts"
import { Topic } from "./Topic.ts"
import { User } from "./User.ts"

/** The verification of the related objects of a response; unknown buckets pass. */
export const Includes = /*#__PURE__*/ Model.essential(
  /*#__PURE__*/ Schema.Struct({
    posts: Schema.optionalKey(Schema.Array(Post.schema)),
    users: Schema.optionalKey(Schema.Array(User.schema)),
    media: Schema.optionalKey(Schema.Array(Media.schema)),
    places: Schema.optionalKey(Schema.Array(Place.schema)),
    polls: Schema.optionalKey(Schema.Array(Poll.schema)),
    topics: Schema.optionalKey(Schema.Array(Topic.schema))
  }),
  "posts",
  "users",
  "media",
  "places",
  "polls",
  "topics"
)
/** The related objects of a response. */
export interface Includes extends Schema.Schema.Type<typeof Includes> {}
