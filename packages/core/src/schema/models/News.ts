import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

const text = /*#__PURE__*/ Schema.optionalKey(Schema.String)

/** A story that the service has made of posts. A model has written its texts, as `disclaimer` notes. */
export const News = /*#__PURE__*/ Model.make({
  kind: "news",
  identifier: "id",
  includes: undefined,
  defaults: ["id"],
  fields: {
    /** `rest_id` on `x-2026-02`. */
    id: text,
    category: text,
    /** The posts that the story is made of. */
    cluster_posts_results: /*#__PURE__*/ Schema.optionalKey(
      /*#__PURE__*/ Schema.Array(
        /*#__PURE__*/ Schema.Struct({
          post_id: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Model.called("post_id", Schema.String))
        })
      )
    ),
    /** Topics, people, places, companies: JSON without a documented form. */
    contexts: /*#__PURE__*/ Schema.optionalKey(Model.Json),
    disclaimer: text,
    hook: text,
    /** JSON without a documented form. */
    keywords: /*#__PURE__*/ Schema.optionalKey(Model.Json),
    name: text,
    summary: text,
    updated_at: text
  }
})
/** A story with every field selected. */
export interface News extends Model.Type<typeof News> {}
