/** The record of an article in the journal: its owner, and the last step. It holds the only copy of the draft's id. */
import * as Schema from "effect/Schema"
import * as VersionedRecord from "../../storage/VersionedRecord.ts"

const State = /*#__PURE__*/ Schema.Union([
  /*#__PURE__*/ Schema.TaggedStruct("waiting", {}),
  /** The draft is about to be sent, or was sent without a response so far; not before `at`. */
  /*#__PURE__*/ Schema.TaggedStruct("drafting", { at: Schema.Finite }),
  /*#__PURE__*/ Schema.TaggedStruct("drafted", { article_id: Schema.String }),
  /** The same of its publication. */
  /*#__PURE__*/ Schema.TaggedStruct("publishing", { article_id: Schema.String, at: Schema.Finite }),
  /*#__PURE__*/ Schema.TaggedStruct("published", { article_id: Schema.String, post_id: Schema.String })
])
/** The step that was taken last. */
export type State = typeof State.Type

const ArticleRecord = /*#__PURE__*/ Schema.Struct({
  version: /*#__PURE__*/ Schema.Literal(1),
  contents: Schema.String,
  authorId: Schema.String,
  credential: Schema.String,
  state: State
})
/** The record of an article. */
export type ArticleRecord = typeof ArticleRecord.Type

/** Reads and writes records. */
export const records = /*#__PURE__*/ VersionedRecord.make(ArticleRecord)

/** The journal's key for an article. */
export const nameOf = (key: string): string => `article.${key}`

/** The key for the upload of a file. Files count from 1. */
export const uploadKeyOf = (key: string, file: number): string => `${file}.article.${key}`
