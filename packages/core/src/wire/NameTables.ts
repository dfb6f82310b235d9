/**
 * The names of the service, one set per date of publication: tables from the names of this library to the service's own, by
 * position. A name that is in no table is unchanged.
 */

/** From names of this library to those of the service. */
export type Names = ReadonlyMap<string, string>

/** The names of one date. */
export interface Vocabulary {
  /** Segments and parameters of paths, and the keys of request bodies. */
  readonly requests: Names
  /** Keys of queries. */
  readonly queries: Names
  /** Fields, and segments of expansions that are in no other table. */
  readonly fields: Names
  /** Whole expansions. */
  readonly expansions: Names
  /** Keys of responses. */
  readonly members: Names
  /** Members of enumerations in requests and responses; a separate table, because `post` alone is never a name. */
  readonly values: Names
  /** Fields that cannot be selected here: the expansion of that name adds them, with the objects they refer to. */
  readonly expanded: ReadonlySet<string>
  /** The fields among them that are delivered by default. */
  readonly byDefault: ReadonlySet<string>
  /** Fields and expansions without a name; after a kind of resource and a space, those of that kind only. */
  readonly unavailable: ReadonlySet<string>
  /** Operations without selectors. */
  readonly withoutSelectors: ReadonlySet<string>
}

const nothing: ReadonlySet<string> = /*#__PURE__*/ new Set()

// The same on all dates.
const requests: Names = /*#__PURE__*/ new Map([
  ["posts", "tweets"],
  ["liked_posts", "liked_tweets"],
  ["quote_posts", "quote_tweets"],
  ["reposts", "retweets"],
  ["reposted_by", "retweeted_by"],
  ["post_id", "tweet_id"],
  ["source_post_id", "source_tweet_id"],
  ["quote_post_id", "quote_tweet_id"],
  ["in_reply_to_post_id", "in_reply_to_tweet_id"]
])

const februaryNames: Names = /*#__PURE__*/ new Map([
  ...requests,
  ["post.fields", "tweet.fields"],
  ["pinned_post_id", "pinned_tweet_id"],
  ["most_recent_post_id", "most_recent_tweet_id"],
  ["media_source_post", "media_source_tweet"],
  ["media_source_post_id", "media_source_tweet_id"],
  ["edit_history_post_ids", "edit_history_tweet_ids"],
  ["referenced_posts", "referenced_tweets"],
  ["note_post", "note_tweet"],
  ["post_count", "tweet_count"],
  ["total_post_count", "total_tweet_count"],
  ["reposted", "retweeted"],
  ["repost_count", "retweet_count"]
])

// Parameters of like streams.
const likes: Names = /*#__PURE__*/ new Map([
  ["like_with_post_author.fields", "like_with_tweet_author.fields"],
  ["liked_post_id", "liked_tweet_id"],
  ["liked_post_author_id", "liked_tweet_author_id"]
])

// Names that only streams deliver; the same on all dates.
const streamed: Names = /*#__PURE__*/ new Map([
  ["liked_post_id", "liked_tweet_id"],
  ["liked_post_author_id", "tweet_author_id"],
  ["post", "tweet"],
  ["post_edit", "tweet_edit"],
  ["initial_post_id", "initial_tweet_id"],
  ["edit_post_ids", "edit_tweet_ids"],
  ["up_to_post_id", "up_to_tweet_id"],
  ["quote_post_id", "quote_tweet_id"],
  ["public_post_notice", "public_tweet_notice"],
  ["public_post_unviewable", "public_tweet_unviewable"]
])

// The names of streams in connections.
const endpoints: Names = /*#__PURE__*/ new Map([
  ["posts_compliance_stream", "tweets_compliance_stream"],
  ["post_label_stream", "tweet_label_stream"]
])

/** February 2026 (OpenAPI 2.159). */
export const february: Vocabulary = {
  requests: februaryNames,
  queries: /*#__PURE__*/ new Map([...februaryNames, ...likes]),
  fields: /*#__PURE__*/ new Map([...februaryNames, ...likes]),
  expansions: /*#__PURE__*/ new Map(),
  members: /*#__PURE__*/ new Map([...februaryNames, ...streamed]),
  values: /*#__PURE__*/ new Map([
    ["post", "tweet"],
    ["posts", "tweets"],
    ["reposted", "retweeted"],
    ...endpoints
  ]),
  expanded: nothing,
  byDefault: nothing,
  unavailable: /*#__PURE__*/ new Set([
    "article_title",
    "like_with_post_author attachments.media_keys",
    "like_with_post_author attachments_media_keys",
    "matched_media_notes",
    "note_request_suggestions",
    "paid_partnership",
    "subscribes_to_you"
  ]),
  withoutSelectors: /*#__PURE__*/ new Set(["createComplianceJob"])
}

/** August 2026 (OpenAPI 2.167). */
export const august: Vocabulary = {
  requests,
  queries: /*#__PURE__*/ new Map(),
  fields: /*#__PURE__*/ new Map(),
  expansions: /*#__PURE__*/ new Map([
    ["affiliation.user_id", "affiliation"],
    ["attachments.media_source_post", "attachments.media_source_tweet"],
    ["entities.note.mentions.username", "username"],
    ["referenced_posts.id", "referenced_posts"]
  ]),
  members: /*#__PURE__*/ new Map([
    ["media_source_post_id", "media_source_tweet_id"],
    ["reposted", "retweeted"],
    ...streamed
  ]),
  values: /*#__PURE__*/ new Map([["posts", "tweets"], ["reposted", "retweeted"], ...endpoints]),
  expanded: /*#__PURE__*/ new Set([
    "admin_ids",
    "affiliation",
    "author_id",
    "creator_id",
    "edit_history_post_ids",
    "host_ids",
    "in_reply_to_user_id",
    "invited_user_ids",
    "member_ids",
    "most_recent_post_id",
    "owner_id",
    "participant_ids",
    "pinned_post_id",
    "referenced_posts",
    "sender_id",
    "speaker_ids",
    "topic_ids"
  ]),
  byDefault: /*#__PURE__*/ new Set(["edit_history_post_ids"]),
  unavailable: /*#__PURE__*/ new Set(["referenced_posts.id.attachments.media_keys", "referenced_posts.id.author_id"]),
  withoutSelectors: nothing
}

/** August 2026, for streams: their requests still use the names of February, as far as August has them. */
export const augustStreams: Vocabulary = {
  ...february,
  members: august.members,
  values: august.values,
  unavailable: /*#__PURE__*/ new Set(["article_title", "subscribes_to_you"]),
  withoutSelectors: nothing
}
