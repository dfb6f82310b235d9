/** The selector parameters that reads share. */
import type { AnyModel } from "../schema/Model.ts"
import { MediaAnalytics, PostAnalytics } from "../schema/models/Analytics.ts"
import { Broadcast, BroadcastChatMessage } from "../schema/models/Broadcast.ts"
import { ChatConversation, ChatMessageEvent, PublicKey } from "../schema/models/Chat.ts"
import { Community } from "../schema/models/Community.ts"
import { CommunityNote } from "../schema/models/CommunityNote.ts"
import { ComplianceJob } from "../schema/models/ComplianceJob.ts"
import { Connection } from "../schema/models/Connection.ts"
import { DirectMessageEvent } from "../schema/models/DirectMessageEvent.ts"
import { Like } from "../schema/models/Like.ts"
import { List } from "../schema/models/List.ts"
import { Media } from "../schema/models/Media.ts"
import { News } from "../schema/models/News.ts"
import { PersonalizedTrend } from "../schema/models/PersonalizedTrend.ts"
import { Place } from "../schema/models/Place.ts"
import { Poll } from "../schema/models/Poll.ts"
import { Post } from "../schema/models/Post.ts"
import { Space } from "../schema/models/Space.ts"
import { Topic } from "../schema/models/Topic.ts"
import { Trend } from "../schema/models/Trend.ts"
import { Usage } from "../schema/models/Usage.ts"
import { User } from "../schema/models/User.ts"
import { Webhook } from "../schema/models/Webhook.ts"
import * as Parameters from "../schema/Parameters.ts"

const fieldsOf = (model: AnyModel) => Parameters.list(model.selectable)

const expansionsOf = (model: AnyModel) => Parameters.list(Object.keys(model.expansions))

// Names of their own, so that bundlers see that a selection no operation uses can go.
const media_fields = /*#__PURE__*/ fieldsOf(Media)
const place_fields = /*#__PURE__*/ fieldsOf(Place)
const poll_fields = /*#__PURE__*/ fieldsOf(Poll)
const post_fields = /*#__PURE__*/ fieldsOf(Post)
const user_fields = /*#__PURE__*/ fieldsOf(User)

const userExpansions = /*#__PURE__*/ expansionsOf(User)

/** SEL-ALL of the specification: what reads of posts take. */
export const all = {
  expansions: /*#__PURE__*/ expansionsOf(Post),
  media_fields,
  place_fields,
  poll_fields,
  post_fields,
  user_fields
}

/** SEL-ALL of reads that answer with users: what users refer to can be expanded. */
export const allOfUsers = {
  expansions: userExpansions,
  media_fields,
  place_fields,
  poll_fields,
  post_fields,
  user_fields
}

/** SEL-USER of the specification: what reads of users take. */
export const user = { expansions: userExpansions, post_fields, user_fields }

/** The selectors of reads of photos, videos and animated GIFs. */
export const media = { media_fields }

/** The selectors of reads of spaces. */
export const space = {
  expansions: /*#__PURE__*/ expansionsOf(Space),
  space_fields: /*#__PURE__*/ fieldsOf(Space),
  topic_fields: /*#__PURE__*/ fieldsOf(Topic),
  user_fields
}

/** The selectors of reads of lists. */
export const list = {
  expansions: /*#__PURE__*/ expansionsOf(List),
  list_fields: /*#__PURE__*/ fieldsOf(List),
  user_fields
}

/** The selectors of reads of direct message events. */
export const directMessageEvent = {
  dm_event_fields: /*#__PURE__*/ fieldsOf(DirectMessageEvent),
  expansions: /*#__PURE__*/ expansionsOf(DirectMessageEvent),
  media_fields,
  post_fields,
  user_fields
}

/** The selectors of reads of usage. */
export const usage = { usage_fields: /*#__PURE__*/ fieldsOf(Usage) }

/** The selectors of reads of compliance jobs. */
export const complianceJob = { compliance_job_fields: /*#__PURE__*/ fieldsOf(ComplianceJob) }

/** The selectors of reads of communities. */
export const community = { community_fields: /*#__PURE__*/ fieldsOf(Community) }

/** The selectors of reads of the trends of a place. */
export const trend = { trend_fields: /*#__PURE__*/ fieldsOf(Trend) }

/** The selectors of reads of the trends for a user. */
export const personalizedTrend = { personalized_trend_fields: /*#__PURE__*/ fieldsOf(PersonalizedTrend) }

/** The selectors of streams of likes. */
export const likeWithPostAuthor = {
  expansions: /*#__PURE__*/ expansionsOf(Like),
  like_with_post_author_fields: /*#__PURE__*/ fieldsOf(Like),
  media_fields,
  post_fields,
  user_fields
}

/** The selectors of reads of connections. */
export const connection = { connection_fields: /*#__PURE__*/ fieldsOf(Connection) }

/** The selectors of reads of webhooks. */
export const webhook = { webhook_config_fields: /*#__PURE__*/ fieldsOf(Webhook) }

/** The selectors of reads of conversations of encrypted messages. */
export const chatConversation = {
  chat_conversation_fields: /*#__PURE__*/ fieldsOf(ChatConversation),
  expansions: /*#__PURE__*/ expansionsOf(ChatConversation),
  user_fields
}

/** The selectors of reads of events in such conversations. */
export const chatMessageEvent = { chat_message_event_fields: /*#__PURE__*/ fieldsOf(ChatMessageEvent) }

/** The selectors of reads of public keys. */
export const publicKey = { public_key_fields: /*#__PURE__*/ fieldsOf(PublicKey) }

/** The selectors of reads of broadcasts. */
export const broadcast = { broadcast_fields: /*#__PURE__*/ fieldsOf(Broadcast) }

/** The selectors of reads of the chat of a broadcast. */
export const broadcastChatMessage = {
  broadcast_chat_message_fields: /*#__PURE__*/ fieldsOf(BroadcastChatMessage),
  expansions: /*#__PURE__*/ expansionsOf(BroadcastChatMessage),
  user_fields
}

/** The selectors of reads of Community Notes. */
export const communityNote = { note_fields: /*#__PURE__*/ fieldsOf(CommunityNote) }

/** The selectors of reads of news. */
export const news = { news_fields: /*#__PURE__*/ fieldsOf(News) }

/** The selectors of reads of figures of posts. */
export const postAnalytics = { analytics_fields: /*#__PURE__*/ fieldsOf(PostAnalytics) }

/** The selectors of reads of figures of media. */
export const mediaAnalytics = { media_analytics_fields: /*#__PURE__*/ fieldsOf(MediaAnalytics) }
