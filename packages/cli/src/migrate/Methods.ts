/** The methods of twitter-api-v2's `client.v2`, and the operations that they became. The guide's table is made of these, too. */
import type { Name } from "@postwire/core/Catalogue"

/** A call there, the operation here, and the parameter for each argument: `null` for one that is not needed. */
export type Method = readonly [call: string, operation: Name, ...takes: ReadonlyArray<string | null>]

/** An object that follows the arguments is merged into the parameters. */
export const methods: ReadonlyArray<Method> = [
  ["block(me, targetUserId)", "block", null, "target_user_id"],
  ["unblock(me, targetUserId)", "unblock", null, "target_user_id"],
  ["userBlockingUsers(me)", "getBlocked", null],
  ["bookmark(tweetId)", "bookmark", "post_id"],
  ["bookmarks()", "getBookmarks"],
  ["deleteBookmark(tweetId)", "removeBookmark", "post_id"],
  ["tweetCountRecent(query)", "getRecentPostsCount", "query"],
  ["tweetCountAll(query)", "getAllPostsCount", "query"],
  ["listDmEvents()", "getDirectMessageEvents"],
  ["listDmEventsWithParticipant(id)", "getDirectMessageEvents", "participant_id"],
  ["listDmEventsOfConversation(id)", "getDirectMessageEvents", "dm_conversation_id"],
  ["sendDmToParticipant(id, { text })", "createDirectMessage", "participant_id"],
  ["sendDmInConversation(id, { text })", "createDirectMessage", "dm_conversation_id"],
  ["createDmConversation({ participant_ids, message })", "createDirectMessageConversation"],
  ["sendComplianceJob({ type, ids })", "createComplianceJob"],
  ["complianceJob(id)", "getComplianceJob", "id"],
  ["complianceJobs({ type })", "getComplianceJobs"],
  ["follow(me, targetUserId)", "followUser", null, "target_user_id"],
  ["unfollow(me, targetUserId)", "unfollowUser", null, "target_user_id"],
  ["followers(userId)", "getUsersFollowers", "id"],
  ["following(userId)", "getUsersFollowing", "id"],
  ["like(me, tweetId)", "like", null, "post_id"],
  ["unlike(me, tweetId)", "unlike", null, "post_id"],
  ["tweetLikedBy(tweetId)", "getLikingUsers", "id"],
  ["userLikedTweets(userId)", "getLikedPosts", "id"],
  ["createList({ name })", "createList"],
  ["updateList(listId, { name })", "updateList", "id"],
  ["removeList(listId)", "deleteList", "id"],
  ["list(listId)", "getList", "id"],
  ["listMembers(listId)", "getListMembers", "id"],
  ["addListMember(listId, userId)", "addListMember", "id", "user_id"],
  ["removeListMember(listId, userId)", "removeListMember", "id", "user_id"],
  ["listTweets(listId)", "getListPosts", "id"],
  ["listFollowers(listId)", "getListFollowers", "id"],
  ["listsOwned(userId)", "getOwnedLists", "id"],
  ["listMemberships(userId)", "getListMemberships", "id"],
  ["listFollowed(userId)", "getFollowedLists", "id"],
  ["subscribeToList(me, listId)", "followList", null, "list_id"],
  ["unsubscribeOfList(me, listId)", "unfollowList", null, "list_id"],
  ["pinList(me, listId)", "pinList", null, "list_id"],
  ["unpinList(me, listId)", "unpinList", null, "list_id"],
  ["uploadMedia(buffer, { media_type })", "uploadMedia"],
  ["createMediaMetadata(mediaId, metadata)", "createMediaMetadata", "id"],
  ["mute(me, targetUserId)", "mute", null, "target_user_id"],
  ["unmute(me, targetUserId)", "unmute", null, "target_user_id"],
  ["userMutingUsers(me)", "getMuted", null],
  ["singleTweet(tweetId)", "getPost", "id"],
  ["tweets(ids)", "getPosts", "ids"],
  ["tweet(text)", "createPost", "text"],
  ["reply(text, tweetId)", "createPost", "text", "in_reply_to_post_id"],
  ["quote(text, tweetId)", "createPost", "text", "quote_post_id"],
  ["deleteTweet(tweetId)", "deletePost", "id"],
  ["quotes(tweetId)", "getQuotePosts", "id"],
  ["hideReply(tweetId, true)", "hideReply", "id", null],
  ["hideReply(tweetId, false)", "unhideReply", "id", null],
  ["retweet(me, tweetId)", "repost", null, "post_id"],
  ["unretweet(me, tweetId)", "unrepost", null, "source_post_id"],
  ["tweetRetweetedBy(tweetId)", "getReposters", "id"],
  ["streamRules()", "getStreamRules"],
  ["updateStreamRules({ add })", "updateStreamRules"],
  ["updateStreamRules({ delete: { ids } })", "updateStreamRules"],
  ["search(query)", "searchRecentPosts", "query"],
  ["searchAll(query)", "searchAllPosts", "query"],
  ["searchSpaces({ query, state })", "searchSpaces"],
  ["spaces(ids)", "getSpaces", "ids"],
  ["spacesByCreators(ids)", "getSpaces", "user_ids"],
  ["space(spaceId)", "getSpace", "id"],
  ["spaceBuyers(spaceId)", "getSpaceBuyers", "id"],
  ["spaceTweets(spaceId)", "getSpacePosts", "id"],
  ["searchStream()", "streamPosts"],
  ["sampleStream()", "streamPostsSample"],
  ["userTimeline(userId)", "getUsersPosts", "id"],
  ["userMentionTimeline(userId)", "getUsersMentions", "id"],
  ["homeTimeline()", "getHomeTimeline"],
  ["community(id)", "getCommunity", "id"],
  ["searchCommunities(query)", "searchCommunities", "query"],
  ["usage()", "getUsage"],
  ["userByUsername(username)", "getUser", "username"],
  ["user(userId)", "getUser", "id"],
  ["me()", "getMe"],
  ["users(ids)", "getUsers", "ids"],
  ["usersByUsernames(usernames)", "getUsers", "usernames"]
]

/** The name of the method that a row is about. */
export const nameOf = ([call]: Method): string => call.slice(0, call.indexOf("("))

/** Methods of the client itself that are methods of `v2`. */
export const shortcuts: ReadonlyMap<string, string> = new Map([["currentUserV2", "me"], ["search", "search"]])

/** Methods that resolve with one page unless `asPaginator` is given. */
export const onePage: ReadonlySet<string> = new Set([
  "followers",
  "following",
  "tweetLikedBy",
  "tweetRetweetedBy",
  "tweetCountRecent",
  "tweetCountAll",
  "spaceBuyers",
  "searchCommunities",
  "streamRules"
])

const page = "docs/from-twitter-api-v2.md"

/** The place in the guide about calls that cannot be moved with certainty. */
const places: ReadonlyMap<string, string> = new Map([
  ["tweetThread", "docs/publish.md#threads"],
  ["searchStream", "docs/streams.md"],
  ["sampleStream", "docs/streams.md"],
  ["sample10Stream", "docs/streams.md"],
  ["sendComplianceJob", "docs/compliance.md"],
  ["complianceJobResult", "docs/compliance.md"],
  ["uploadMedia", "docs/publish.md"],
  ["generateOAuth2AuthLink", "docs/sign-in.md#sign-users-in-to-a-web-app"],
  ["loginWithOAuth2", "docs/sign-in.md#sign-users-in-to-a-web-app"],
  ["refreshOAuth2Token", "docs/sign-in.md#tokens-that-you-keep-yourself"],
  ["revokeOAuth2Token", "docs/sign-in.md#sign-out"],
  ["generateAuthLink", "docs/sign-in.md#sign-users-in-to-a-web-app"],
  ["login", "docs/sign-in.md#sign-users-in-to-a-web-app"],
  ["appLogin", "docs/credentials.md"],
  ["currentUser", `${page}#who-am-i`],
  ["get", "docs/undeclared.md"],
  ["post", "docs/undeclared.md"],
  ["put", "docs/undeclared.md"],
  ["patch", "docs/undeclared.md"],
  ["delete", "docs/undeclared.md"]
])

export const placeOf = (method: string): string => places.get(method) ?? `${page}#operation-by-operation`

/** The operations that replace calls of `client.v1`; nothing replaces the others. */
export const firstVersion: ReadonlyMap<string, string> = new Map([
  ["tweet", "createPost"],
  ["reply", "createPost"],
  ["tweetThread", "publishThread"],
  ["deleteTweet", "deletePost"],
  ["singleTweet", "getPost"],
  ["tweets", "getPosts"],
  ["search", "searchRecentPosts"],
  ["homeTimeline", "getHomeTimeline"],
  ["mentionTimeline", "getUsersMentions"],
  ["userTimeline", "getUsersPosts"],
  ["userTimelineByUsername", "getUsersPosts"],
  ["verifyCredentials", "getMe"],
  ["user", "getUser"],
  ["users", "getUsers"],
  ["createMediaMetadata", "createMediaMetadata"],
  ["uploadMedia", "upload"],
  ["sendDm", "createDirectMessage"],
  ["followUser", "followUser"],
  ["filterStream", "streamPosts"],
  ["sampleStream", "streamPostsSample"]
])
