/** The entities that the service recognised in a text; `start` and `end` are offsets into it, `end` exclusive. */
import * as Schema from "effect/Schema"

/** A link in a text. */
export const UrlEntity = /*#__PURE__*/ Schema.Struct({
  start: Schema.Int,
  end: Schema.Int,
  url: Schema.optionalKey(Schema.String),
  expanded_url: Schema.optionalKey(Schema.String),
  display_url: Schema.optionalKey(Schema.String),
  unwound_url: Schema.optionalKey(Schema.String),
  status: Schema.optionalKey(Schema.Int),
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  media_key: Schema.optionalKey(Schema.String),
  images: Schema.optionalKey(Schema.Array(Schema.Struct({
    url: Schema.optionalKey(Schema.String),
    width: Schema.optionalKey(Schema.Int),
    height: Schema.optionalKey(Schema.Int)
  })))
})
/** A link in a text. */
export interface UrlEntity extends Schema.Schema.Type<typeof UrlEntity> {}

/** A hashtag or cashtag in a text, without its sign. */
export const TagEntity = /*#__PURE__*/ Schema.Struct({ start: Schema.Int, end: Schema.Int, tag: Schema.String })
/** A hashtag or cashtag in a text, without its sign. */
export interface TagEntity extends Schema.Schema.Type<typeof TagEntity> {}

/** A user named in a text. */
export const MentionEntity = /*#__PURE__*/ Schema.Struct({
  start: Schema.Int,
  end: Schema.Int,
  username: Schema.optionalKey(Schema.String),
  id: Schema.optionalKey(Schema.String)
})
/** A user named in a text. */
export interface MentionEntity extends Schema.Schema.Type<typeof MentionEntity> {}

/** A person, place, product or organisation that the service recognised in a text. */
export const Annotation = /*#__PURE__*/ Schema.Struct({
  start: Schema.Int,
  end: Schema.Int,
  normalized_text: Schema.optionalKey(Schema.String),
  probability: Schema.optionalKey(Schema.Finite),
  type: Schema.optionalKey(Schema.String)
})
/** A person, place, product or organisation that the service recognised in a text. */
export interface Annotation extends Schema.Schema.Type<typeof Annotation> {}

/** The marked parts of a text; an empty list is omitted. */
export const TextEntities = /*#__PURE__*/ Schema.Struct({
  cashtags: Schema.optionalKey(Schema.Array(TagEntity)),
  hashtags: Schema.optionalKey(Schema.Array(TagEntity)),
  mentions: Schema.optionalKey(Schema.Array(MentionEntity)),
  urls: Schema.optionalKey(Schema.Array(UrlEntity))
})
/** The marked parts of a text; an empty list is omitted. */
export interface TextEntities extends Schema.Schema.Type<typeof TextEntities> {}

/** The marked parts of a text and the things that the service recognised in it; an empty list is omitted. */
export const Entities = /*#__PURE__*/ Schema.Struct({
  ...TextEntities.fields,
  annotations: Schema.optionalKey(Schema.Array(Annotation))
})
/** The marked parts of a text and the things that the service recognised in it; an empty list is omitted. */
export interface Entities extends Schema.Schema.Type<typeof Entities> {}
