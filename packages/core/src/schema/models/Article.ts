/** The content of an Article: blocks of text, and what they refer to. */
import * as Schema from "effect/Schema"

const natural = /*#__PURE__*/ Schema.Int.check(/*#__PURE__*/ Schema.isGreaterThanOrEqualTo(0))
const text = /*#__PURE__*/ Schema.optionalKey(Schema.String)

const found = /*#__PURE__*/ Schema.optionalKey(
  /*#__PURE__*/ Schema.Array(
    /*#__PURE__*/ Schema.Struct({ from_index: natural, to_index: natural, text: Schema.String })
  )
)

/** An uploaded file. */
export const ArticleMedia = /*#__PURE__*/ Schema.Struct({ media_id: Schema.String, media_category: Schema.String })
/** An uploaded file. */
export interface ArticleMedia extends Schema.Schema.Type<typeof ArticleMedia> {}

/** A paragraph, heading, item, quotation, or an `atomic` block, which shows an entity. */
export const ArticleBlock = /*#__PURE__*/ Schema.Struct({
  type: /*#__PURE__*/ Schema.Literals([
    "unstyled",
    "header-one",
    "header-two",
    "header-three",
    "unordered-list-item",
    "ordered-list-item",
    "blockquote",
    "atomic"
  ]),
  text: Schema.String,
  key: text,
  data: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Struct({ cashtags: found, hashtags: found, mentions: found, urls: found })
  ),
  /** Ranges that are entities, by the key of the entity. */
  entity_ranges: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Array(/*#__PURE__*/ Schema.Struct({ key: natural, length: natural, offset: natural }))
  ),
  inline_style_ranges: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Array(
      /*#__PURE__*/ Schema.Struct({
        style: /*#__PURE__*/ Schema.Literals(["bold", "italic", "strikethrough"]),
        length: natural,
        offset: natural
      })
    )
  )
})
/** A paragraph, heading, item, quotation, or an `atomic` block, which shows an entity. */
export interface ArticleBlock extends Schema.Schema.Type<typeof ArticleBlock> {}

/** The target of a range or of an `atomic` block: a link, an image, a post, a piece of Markdown. */
export const ArticleEntity = /*#__PURE__*/ Schema.Struct({
  key: Schema.String,
  value: /*#__PURE__*/ Schema.Struct({
    type: /*#__PURE__*/ Schema.Literals(["post", "link", "image", "emoji", "markdown", "divider", "latex"]),
    mutability: /*#__PURE__*/ Schema.Literals(["immutable", "mutable", "segmented"]),
    data: /*#__PURE__*/ Schema.Struct({
      caption: text,
      entity_key: text,
      markdown: text,
      media_items: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Array(ArticleMedia)),
      post_id: text,
      url: text
    })
  })
})
/** The target of a range or of an `atomic` block. */
export interface ArticleEntity extends Schema.Schema.Type<typeof ArticleEntity> {}

/** The content of an Article. */
export const ArticleContent = /*#__PURE__*/ Schema.Struct({
  blocks: /*#__PURE__*/ Schema.Array(ArticleBlock),
  entities: /*#__PURE__*/ Schema.Array(ArticleEntity)
})
/** The content of an Article. */
export interface ArticleContent extends Schema.Schema.Type<typeof ArticleContent> {}
