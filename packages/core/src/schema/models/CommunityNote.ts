import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

const text = /*#__PURE__*/ Schema.optionalKey(Schema.String)
const integer = /*#__PURE__*/ Schema.optionalKey(Schema.Int)

const tags = /*#__PURE__*/ Schema.optionalKey(
  /*#__PURE__*/ Schema.Array(/*#__PURE__*/ Schema.Struct({ tag_count: integer, tag_name: text }))
)

const ratings = /*#__PURE__*/ Schema.optionalKey(
  /*#__PURE__*/ Schema.Struct({
    helpful_count: integer,
    helpful_tag_counts: tags,
    not_helpful_count: integer,
    not_helpful_tag_counts: tags,
    somewhat_helpful_count: integer
  })
)

/** How a note classifies its post. */
export const classifications = ["misinformed_or_potentially_misleading", "not_misleading"] as const

/** Why a post may mislead. */
export const misleadingTags = [
  "disputed_claim_as_fact",
  "factual_error",
  "manipulated_media",
  "misinterpreted_satire",
  "missing_important_context",
  "other",
  "outdated_information"
] as const

/** A Community Note: context that users write about a post. */
export const CommunityNote = /*#__PURE__*/ Model.make({
  kind: "note",
  identifier: "id",
  includes: undefined,
  defaults: ["id"],
  fields: {
    id: Schema.String,
    info: /*#__PURE__*/ Schema.optionalKey(
      /*#__PURE__*/ Schema.Struct({
        classification: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Model.known(...classifications)),
        misleading_tags: /*#__PURE__*/ Schema.optionalKey(
          /*#__PURE__*/ Schema.Array(/*#__PURE__*/ Model.known(...misleadingTags))
        ),
        post_id: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Model.called("post_id", Schema.String)),
        rating_status: text,
        text,
        trustworthy_sources: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean)
      })
    ),
    scoring_status: /*#__PURE__*/ Schema.optionalKey(
      /*#__PURE__*/ Schema.Struct({
        has_access: /*#__PURE__*/ Schema.optionalKey(Schema.Boolean),
        rating_counts_per_model: /*#__PURE__*/ Schema.optionalKey(
          /*#__PURE__*/ Schema.Array(
            /*#__PURE__*/ Schema.Struct({
              model_name: text,
              value: /*#__PURE__*/ Schema.optionalKey(
                /*#__PURE__*/ Schema.Struct({
                  negative_factor_bucket_counts: ratings,
                  neutral_factor_bucket_counts: ratings,
                  positive_factor_bucket_counts: ratings
                })
              )
            })
          )
        )
      })
    ),
    status: text,
    test_result: /*#__PURE__*/ Schema.optionalKey(
      /*#__PURE__*/ Schema.Struct({
        evaluation_outcome: /*#__PURE__*/ Schema.optionalKey(
          /*#__PURE__*/ Schema.Array(
            /*#__PURE__*/ Schema.Struct({ evaluator_score_bucket: text, evaluator_type: text })
          )
        )
      })
    )
  }
})
/** A Community Note with every field selected. */
export interface CommunityNote extends Model.Type<typeof CommunityNote> {}
