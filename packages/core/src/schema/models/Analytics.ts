/** Figures of one's own posts and media in a span of time. */
import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

const text = /*#__PURE__*/ Schema.optionalKey(Schema.String)
const count = /*#__PURE__*/ Schema.optionalKey(Schema.Int)

const metrics = {
  app_install_attempts: count,
  app_opens: count,
  bookmarks: count,
  detail_expands: count,
  email_post: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Model.called("email_tweet", Schema.Int)),
  engagements: count,
  follows: count,
  hashtag_clicks: count,
  impressions: count,
  likes: count,
  media_views: count,
  permalink_clicks: count,
  quote_posts: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Model.called("quote_tweets", Schema.Int)),
  replies: count,
  reposts: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Model.called("retweets", Schema.Int)),
  shares: count,
  unfollows: count,
  unlikes: count,
  url_clicks: count,
  user_profile_clicks: count
}

/** Figures of a post: of the whole span, or of each part of it in `timestamped_metrics`. */
export const PostAnalytics = /*#__PURE__*/ Model.make({
  kind: "analytics",
  identifier: "id",
  includes: undefined,
  defaults: ["id"],
  fields: {
    id: Schema.String,
    ...metrics,
    timestamp: text,
    timestamped_metrics: /*#__PURE__*/ Schema.optionalKey(
      /*#__PURE__*/ Schema.Array(
        /*#__PURE__*/ Schema.Struct({
          timestamp: text,
          metrics: /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Schema.Struct(metrics))
        })
      )
    )
  }
})
/** Figures of a post with every field selected. */
export interface PostAnalytics extends Model.Type<typeof PostAnalytics> {}

const plays = {
  cta_url_clicks: count,
  cta_watch_clicks: count,
  play_from_tap: count,
  playback25: count,
  playback50: count,
  playback75: count,
  playback_complete: count,
  playback_start: count,
  video_views: count,
  watch_time_ms: count
}

/** The service sends these as numbers or as text. */
const digits = /*#__PURE__*/ Schema.optionalKey(/*#__PURE__*/ Model.sentAsText(Schema.Int))

/** Figures of a video: of the whole span, or of each part of it in `timestamped_metrics`. */
export const MediaAnalytics = /*#__PURE__*/ Model.make({
  kind: "media_analytics",
  identifier: "media_key",
  includes: undefined,
  defaults: ["media_key"],
  fields: {
    media_key: Schema.String,
    ...plays,
    timestamp: text,
    timestamped_metrics: /*#__PURE__*/ Schema.optionalKey(
      /*#__PURE__*/ Schema.Array(
        /*#__PURE__*/ Schema.Struct({
          timestamp: text,
          metrics: /*#__PURE__*/ Schema.optionalKey(
            /*#__PURE__*/ Schema.Struct({
              cta_url_clicks: digits,
              cta_watch_clicks: digits,
              play_from_tap: digits,
              playback25: digits,
              playback50: digits,
              playback75: digits,
              playback_complete: digits,
              playback_start: digits,
              video_views: digits,
              watch_time_ms: digits
            })
          )
        })
      )
    )
  }
})
/** Figures of a video with every field selected. */
export interface MediaAnalytics extends Model.Type<typeof MediaAnalytics> {}
