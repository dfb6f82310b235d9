/** The accepted differences between the catalogue and the service's published documents, with their reasons. */
import type { WireName } from "../../packages/core/src/schema/WireName.ts"
import type { Accepted } from "./Drift.ts"

/** The differences with a reason. */
const because = (
  reason: string,
  ...differences: ReadonlyArray<string | Omit<Accepted, "reason">>
): ReadonlyArray<Accepted> =>
  differences.map((entry) => ({ ...(typeof entry === "string" ? { difference: entry } : entry), reason }))

/** Differences from documents of one wire only. */
const on = (wire: WireName, ...groups: ReadonlyArray<ReadonlyArray<Accepted>>): ReadonlyArray<Accepted> =>
  groups.flat().map((entry) => ({ ...entry, wire }))

/** All accepted differences. Those that no longer exist are reported as stale. */
export const acceptedDrift: ReadonlyArray<Accepted> = [
  ...because(
    "Blocking is in the specification; the service's documents omit it.",
    "route * /2/users/{}/blocking*"
  ),
  ...because(
    "The specification's bound differs, and is the contract; `checks: \"identifiers\"` leaves bounds to the service.",
    "body *text maxLength",
    "body participant_ids m*Items",
    { difference: "query query maxLength", operations: ["get*PostsCount", "search*Posts"] }
  ),
  ...because(
    "Ids that are not numeric have one rule, wide enough for longer ones; the service refuses other invalid ids.",
    { difference: "path segment 1 pattern", operations: ["*DirectMessage*", "getSpace*", "*Broadcast*"] },
    { difference: "path segment 2 pattern", operations: ["downloadChatMedia"] },
    { difference: "query ids pattern", operations: ["getSpaces", "getBroadcasts"] }
  ),
  ...because(
    "The specification lets apps call these; the service may answer 403 and require a user's token.",
    { difference: "credential app", operations: ["getLikedPosts", "getLikingUsers"] }
  ),
  ...because(
    "A bearer token does not show whether it is a user's; the service may answer 403 to a user's.",
    { difference: "credential user", operations: ["get*PostsCount", "searchAllPosts"] }
  ),
  ...because(
    "Objects must have what identifies them: without it a response cannot be attributed.",
    "result *.id required",
    "result media*.media_key required"
  ),
  ...because("Refusals of the service's older version have it.", "result problem.message"),
  ...because(
    "A bucket of counts has three members, which belong together: there is nothing to select.",
    "query search_count.fields"
  ),
  ...because("A token is returned unchanged, whatever its length.", "query pagination_token m*Length"),
  ...because("An instant in whole seconds.", "body metadata.content_expiration.timestamp_sec type"),
  ...because("An object of one member has it.", "body metadata.allow_download_status.allow_download required"),
  ...because(
    "There is no other command, and without one the path meant something else before.",
    "query command required"
  ),
  ...because(
    "It has the reason why processing failed; the service's documents omit it.",
    "result data.processing_info.error"
  ),
  ...because(
    "A field that can be requested; the service's documents omit it from responses.",
    "result like_with_post_author.attachments_media_keys"
  ),
  ...because("Rules that compare meaning have them.", "result matching_rules[].embedding_*"),
  ...because(
    "An event has one form for all labels; its type is optional.",
    "result data.public_tweet_unviewable.event_type"
  ),
  ...because("JSON holds bytes as base64, which is a third more.", {
    difference: "body type application/json",
    operations: ["uploadMedia", "appendMediaUpload", "appendChatMediaUpload"]
  }),
  ...because(
    "A line of a stream without it has no item; a line with only problems is reported as such.",
    { difference: "result data required", operations: ["stream*"] }
  ),
  ...because(
    "An object has what identifies it, and what it says of it: without them there is nothing to read.",
    { difference: "result data* required", operations: ["*Activity*Subscription*", "getStreamWebhooks"] }
  ),
  ...because(
    "The service's guide has these; the document omits them.",
    { difference: "body event_type=oauth.revoke", operations: ["createActivitySubscription"] },
    { difference: "result data.total_subscriptions", operations: ["createActivitySubscription"] }
  ),
  ...because(
    "No document names the connections of this stream. Where the service refuses ours, they are not listed.",
    "path segment 1=activity_stream",
    "query endpoints=activity_stream"
  ),
  ...because("An instant, sent as twelve digits.", {
    difference: "body *_date pattern",
    operations: ["replayWebhook"]
  }),
  ...because("Both accept the same texts: those with a link.", {
    difference: "body info.text pattern",
    operations: ["createCommunityNote"]
  }),
  ...because(
    "Bytes of the chat's library are base64 text, and numbers as text are digits; the document omits that of these.",
    {
      difference: "body * pattern",
      change: "differs",
      operations: ["addChat*", "createChatGroup", "sendChatMessage", "*ChatMediaUpload", "addPublicKey"]
    }
  ),
  ...because("The key itself is what is registered.", {
    difference: "body public_key.public_key required",
    operations: ["addPublicKey"]
  }),
  ...because("No file is longer.", {
    difference: "body total_bytes maximum",
    operations: ["initializeChatMediaUpload"]
  }),
  ...because("Conversations have three forms of ids, and sessions are numbers; the document omits that of these.", {
    difference: "path segment 1 pattern",
    operations: ["getChatConversation", "appendChatMediaUpload"]
  }),
  ...because("Its members are all optional, and none is needed.", {
    difference: "body type application/json",
    operations: ["createAccountActivitySubscription"]
  }),
  ...because("Webhooks are the app's, whose bearer token is enough.", {
    difference: "credential oauth1",
    operations: ["*Webhook"]
  }),
  ...on(
    "x-2026-02",
    because(
      "That document says of fewer ids that they are digits, and shows no others.",
      { difference: "path segment 1 pattern", operations: ["*"] }
    ),
    because("It describes problems that the newer document no longer has; they pass untyped.", {
      difference: "result problem.*",
      change: "new"
    }),
    because(
      "The service returns them with these names, too; that document omits them.",
      "result dm_event.entities",
      "result post.article",
      "result post.card_uri",
      "result post.media_metadata",
      "result space.topic_ids",
      "result user.confirmed_email",
      "result user.is_identity_verified",
      "result user.parody",
      "result community.access",
      "result community.description",
      "result community.join_policy",
      "result community.member_count",
      "result user.subscription",
      "result user.verified_followers_count"
    ),
    because(
      "New in August: decoded on every wire; requesting it on this wire is refused before the call.",
      "result post.article_title",
      "result post.matched_media_notes",
      "result post.note_request_suggestions",
      "result post.paid_partnership",
      "result user.subscribes_to_you"
    ),
    because(
      "New in August: decoded on every wire.",
      "result data.edit_history_tweet_ids",
      "result data.image",
      "result data.rest_id",
      "result data.video",
      "result user.public_metrics.media_count"
    ),
    because(
      "Moved into `entities`, where the newer document has them.",
      "result dm_event.cashtags",
      "result dm_event.hashtags",
      "result dm_event.mentions",
      "result dm_event.urls"
    ),
    because("A field that the newer document has in responses, too.", "result compliance_job.resumable"),
    because("A form has no lists: these are one text with commas.", "body additional_owners *"),
    because("The newer document has it.", "result connection.id"),
    because(
      "The newer document wants lists with commas.",
      "query *ids style"
    ),
    because("A list with commas, as text.", "query rules_count.fields *"),
    because("The newer document requires them.", {
      difference: "body * required",
      operations: ["deleteMediaSubtitles"]
    }),
    because("The newer document promises them.", {
      difference: "result data.* required",
      operations: ["*DirectMessage*", "delete*Connections", "getStreamRuleCounts", "*Webhook"]
    }),
    because("The newer document has all types of events, and names them as events do.", {
      difference: "body event_type=*",
      operations: ["createActivitySubscription"]
    }),
    because("The scope depends on the type of the event.", {
      difference: "scope *",
      operations: ["createActivitySubscription"]
    }),
    because(
      "The newer document has the envelope of every response, and its members.",
      { difference: "result *", operations: ["*Webhook", "createActivitySubscription"] },
      { difference: "result data type", operations: ["getStreamWebhooks"] },
      { difference: "result data.subscription.filter.direction", operations: ["updateActivitySubscription"] }
    ),
    because("The newer document does not have them.", {
      difference: "query *",
      change: "new",
      operations: ["linkStreamWebhook"]
    }),
    because(
      "The newer document has no bound, and a direction.",
      { difference: "body filter.keyword maxLength", operations: ["createActivitySubscription"] },
      { difference: "body filter.direction", change: "gone", operations: ["createActivitySubscription"] }
    ),
    because("The newer document allows larger pages.", {
      difference: "query max_results maximum",
      operations: ["getActivitySubscriptions"]
    }),
    because("The newer document says 201.", { difference: "status 20*", operations: ["createList"] }),
    because("The newer document bounds it.", "query ids maxItems"),
    because("The newer document has it as a number.", "body segment_index pattern"),
    because("The first response of an upload does not describe its processing.", {
      difference: "result data.*",
      change: "new",
      operations: ["initializeMediaUpload"]
    }),
    because("A place has nothing but its id.", "body geo.place_id required"),
    because("The newer document does not have them.", {
      difference: "body *",
      change: "new",
      operations: ["uploadMedia"]
    }),
    because(
      "New since that document: a service without this route answers that it does not exist.",
      { difference: "route GET /2/dm_conversations/media/{}/{}/{}", change: "gone" }
    ),
    because(
      "New since that document; sent only when a program passes them, and the service may refuse them.",
      { difference: "body folder_id", change: "gone", operations: ["bookmark"] },
      { difference: "body media_category=*", change: "gone", operations: ["uploadMedia"] },
      { difference: "body made_with_ai", change: "gone", operations: ["createPost"] },
      { difference: "body media.*", change: "gone", operations: ["createPost"] },
      { difference: "body paid_partnership", change: "gone", operations: ["createPost"] },
      { difference: "query pagination_token", change: "gone", operations: ["getBookmarkFolderPosts", "getSpacePosts"] },
      { difference: "query max_results", change: "gone", operations: ["getBookmarkFolderPosts"] },
      { difference: "route POST /2/users/{}/bookmarks/folders", change: "gone" },
      { difference: "credential oauth1", change: "gone", operations: ["getBookmarkFolder*"] },
      { difference: "credential oauth1", change: "gone", operations: ["getActivitySubscriptions"] },
      { difference: "credential user", change: "gone", operations: ["getActivitySubscriptions", "getTrends"] },
      { difference: "route DELETE /2/activity/subscriptions", change: "gone" },
      { difference: "route * /2/broadcasts*", change: "gone" },
      { difference: "route POST /2/articles/*", change: "gone" },
      { difference: "route * /2/chat/conversations/*", change: "gone" },
      { difference: "route GET /2/users/public_keys", change: "gone" },
      { difference: "route POST /2/notes/evaluate", change: "gone" },
      { difference: "body info.is_media_note", change: "gone", operations: ["createCommunityNote"] },
      { difference: "credential oauth1", change: "gone", operations: ["searchNews"] },
      { difference: "query *analytics.fields=timestamped_metrics", change: "gone" },
      { difference: "query chat_conversation.fields=message_ttl_ms", change: "gone" },
      { difference: "query note.fields=scoring_status", change: "gone" },
      { difference: "query public_key.fields=*", change: "gone" }
    ),
    because("In that document the path of a conversation lists its events.", {
      difference: "*",
      operations: ["getChatConversation"]
    }),
    because("The newer document has a default.", { difference: "query granularity required" }),
    because("The newer document requires them.", {
      difference: "body * required",
      operations: ["*ChatMediaUpload"]
    }),
    because("The newer document says 201.", { difference: "status 20*", operations: ["createCommunityNote"] }),
    because(
      "The newer document has it under another name, or not at all.",
      { difference: "query chat_conversation.fields=message_ttl_msec", change: "new" },
      { difference: "query public_key.fields=version", change: "new" },
      { difference: "result data.*", operations: ["addPublicKey"] },
      { difference: "result chat_conversation.message_ttl_msec", change: "new" },
      { difference: "result public_key.version", change: "new" },
      { difference: "result news.rest_id", change: "new" }
    ),
    because(
      "The newer document has it: decoded on every wire.",
      "result chat_conversation.message_ttl_ms",
      "result chat_message_event.*",
      "result news.*",
      "result note.*",
      "result public_key.*",
      { difference: "result data.success required", operations: ["markChatConversationRead", "sendChatTyping"] },
      { difference: "result data type", operations: ["get*Analytics"] },
      { difference: "result includes.users type", operations: ["getChatConversations"] }
    )
  ),
  ...on(
    "x",
    because("That document pages folders but omits the token from responses.", {
      difference: "result meta",
      operations: ["getBookmarkFolder*"]
    }),
    because("That document pages subscriptions but omits the token from responses.", {
      difference: "result meta",
      operations: ["getActivitySubscriptions"]
    }),
    because(
      "The service refuses an id or a time that begins with 0.",
      { difference: "body * pattern", operations: ["muteBroadcastChatUser"] },
      { difference: "path segment 2 pattern", operations: ["unmuteBroadcastChatUser"] }
    ),
    because("The document shows a post, which it cannot be; it passes untyped.", {
      difference: "result data type",
      operations: ["addChatGroupMembers"]
    }),
    because("That document pages planned broadcasts but omits the token from responses.", {
      difference: "result meta",
      operations: ["getScheduledBroadcasts"]
    }),
    because("Problems of this operation have an id and a reason, which are kept.", {
      difference: "result errors type",
      operations: ["deleteActivitySubscriptions"]
    }),
    because("Adding and deleting subtitles take the same parameters.", {
      difference: "body * pattern",
      operations: ["deleteMediaSubtitles"]
    }),
    because("That document declares them as objects without members.", "result post.*_metrics.*"),
    because("A rule is its value.", { difference: "result data[].value required", operations: ["*StreamRules"] }),
    because(
      "Responses with the field names of February have it, which are decoded on every wire.",
      "result data.id",
      "result place.geo.geometry",
      "result *entities*.annotations",
      "result dm_event.entities.urls[].*",
      "result post.note_post.entities.urls[].*",
      "result space.topics"
    ),
    because(
      "The path of a file is made of them: they must not lead elsewhere.",
      { difference: "path segment 2 pattern", operations: ["downloadDirectMessageMedia"] },
      { difference: "path segment 3 pattern", operations: ["downloadDirectMessageMedia"] }
    ),
    because("Bounds within an object are left to the service.", {
      difference: "body content_state.* minimum",
      operations: ["createArticleDraft"]
    }),
    because(
      "The service refuses invalid ids.",
      "body filter.user_id pattern",
      "body reply.exclude_reply_user_ids pattern"
    ),
    because("The specification gives bookmarks to OAuth 2.0 user tokens only.", {
      difference: "credential oauth1",
      change: "new",
      operations: ["getBookmarks"]
    })
  )
]
