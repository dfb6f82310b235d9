/** The names of operations in the clients that people come from. */
import type { Name } from "../../packages/core/src/Catalogue.ts"
import { type Definition, parametersOf } from "../../packages/core/src/schema/Definition.ts"
import { table } from "./Members.ts"
import { documented } from "./Source.ts"

/** An operation in other clients, as one calls it there. */
interface Calls {
  /** On tweepy's `Client`, or its `StreamingClient`. */
  readonly tweepy: ReadonlyArray<string>
  /** On twitter-api-v2's `client.v2`. */
  readonly twitterApiV2: ReadonlyArray<string>
}

/** Every operation, also those that a client does not have; the compiler knows which are missing. */
export const calls: { readonly [N in Name]: Calls } = {
  block: { tweepy: ["block(target_user_id)"], twitterApiV2: ["block(me, targetUserId)"] },
  unblock: { tweepy: ["unblock(target_user_id)"], twitterApiV2: ["unblock(me, targetUserId)"] },
  getBlocked: { tweepy: ["get_blocked()"], twitterApiV2: ["userBlockingUsers(me)"] },
  bookmark: { tweepy: ["bookmark(tweet_id)"], twitterApiV2: ["bookmark(tweetId)"] },
  getBookmarks: { tweepy: ["get_bookmarks()"], twitterApiV2: ["bookmarks()"] },
  removeBookmark: { tweepy: ["remove_bookmark(tweet_id)"], twitterApiV2: ["deleteBookmark(tweetId)"] },
  getRecentPostsCount: { tweepy: ["get_recent_tweets_count(query)"], twitterApiV2: ["tweetCountRecent(query)"] },
  getAllPostsCount: { tweepy: ["get_all_tweets_count(query)"], twitterApiV2: ["tweetCountAll(query)"] },
  getDirectMessageEvents: {
    tweepy: ["get_direct_message_events()", "get_dm_events()"],
    twitterApiV2: ["listDmEvents()", "listDmEventsWithParticipant(id)", "listDmEventsOfConversation(id)"]
  },
  createDirectMessage: {
    tweepy: ["create_direct_message(participant_id=…, text=…)", "create_dm(participant_id=…, text=…)"],
    twitterApiV2: ["sendDmToParticipant(id, { text })", "sendDmInConversation(id, { text })"]
  },
  getConnections: { tweepy: [], twitterApiV2: [] },
  deleteConnections: { tweepy: [], twitterApiV2: [] },
  deleteAllConnections: { tweepy: [], twitterApiV2: [] },
  deleteEndpointConnections: { tweepy: [], twitterApiV2: [] },
  createDirectMessageConversation: {
    tweepy: [
      "create_direct_message_conversation(participant_ids=…, text=…)",
      "create_dm_conversation(participant_ids=…, text=…)"
    ],
    twitterApiV2: ["createDmConversation({ participant_ids, message })"]
  },
  getDirectMessageEvent: { tweepy: [], twitterApiV2: [] },
  deleteDirectMessageEvent: { tweepy: [], twitterApiV2: [] },
  downloadDirectMessageMedia: { tweepy: [], twitterApiV2: [] },
  blockDirectMessages: { tweepy: [], twitterApiV2: [] },
  unblockDirectMessages: { tweepy: [], twitterApiV2: [] },
  createComplianceJob: {
    tweepy: ["create_compliance_job(type)"],
    twitterApiV2: ["sendComplianceJob({ type, ids })"]
  },
  getComplianceJob: { tweepy: ["get_compliance_job(id)"], twitterApiV2: ["complianceJob(id)"] },
  getComplianceJobs: { tweepy: ["get_compliance_jobs(type)"], twitterApiV2: ["complianceJobs({ type })"] },
  followUser: {
    tweepy: ["follow_user(target_user_id)", "follow(target_user_id)"],
    twitterApiV2: ["follow(me, targetUserId)"]
  },
  unfollowUser: {
    tweepy: ["unfollow_user(target_user_id)", "unfollow(target_user_id)"],
    twitterApiV2: ["unfollow(me, targetUserId)"]
  },
  getUsersFollowers: { tweepy: ["get_users_followers(id)"], twitterApiV2: ["followers(userId)"] },
  getUsersFollowing: { tweepy: ["get_users_following(id)"], twitterApiV2: ["following(userId)"] },
  like: { tweepy: ["like(tweet_id)"], twitterApiV2: ["like(me, tweetId)"] },
  unlike: { tweepy: ["unlike(tweet_id)"], twitterApiV2: ["unlike(me, tweetId)"] },
  getLikingUsers: { tweepy: ["get_liking_users(id)"], twitterApiV2: ["tweetLikedBy(tweetId)"] },
  getLikedPosts: { tweepy: ["get_liked_tweets(id)"], twitterApiV2: ["userLikedTweets(userId)"] },
  createList: { tweepy: ["create_list(name)"], twitterApiV2: ["createList({ name })"] },
  updateList: { tweepy: ["update_list(id)"], twitterApiV2: ["updateList(listId, { name })"] },
  deleteList: { tweepy: ["delete_list(id)"], twitterApiV2: ["removeList(listId)"] },
  getList: { tweepy: ["get_list(id)"], twitterApiV2: ["list(listId)"] },
  getListMembers: { tweepy: ["get_list_members(id)"], twitterApiV2: ["listMembers(listId)"] },
  addListMember: { tweepy: ["add_list_member(id, user_id)"], twitterApiV2: ["addListMember(listId, userId)"] },
  removeListMember: { tweepy: ["remove_list_member(id, user_id)"], twitterApiV2: ["removeListMember(listId, userId)"] },
  getListPosts: { tweepy: ["get_list_tweets(id)"], twitterApiV2: ["listTweets(listId)"] },
  getListFollowers: { tweepy: ["get_list_followers(id)"], twitterApiV2: ["listFollowers(listId)"] },
  getOwnedLists: { tweepy: ["get_owned_lists(id)"], twitterApiV2: ["listsOwned(userId)"] },
  getListMemberships: { tweepy: ["get_list_memberships(id)"], twitterApiV2: ["listMemberships(userId)"] },
  getFollowedLists: { tweepy: ["get_followed_lists(id)"], twitterApiV2: ["listFollowed(userId)"] },
  followList: { tweepy: ["follow_list(list_id)"], twitterApiV2: ["subscribeToList(me, listId)"] },
  unfollowList: { tweepy: ["unfollow_list(list_id)"], twitterApiV2: ["unsubscribeOfList(me, listId)"] },
  getPinnedLists: { tweepy: ["get_pinned_lists()"], twitterApiV2: [] },
  pinList: { tweepy: ["pin_list(list_id)"], twitterApiV2: ["pinList(me, listId)"] },
  unpinList: { tweepy: ["unpin_list(list_id)"], twitterApiV2: ["unpinList(me, listId)"] },
  uploadMedia: { tweepy: [], twitterApiV2: ["uploadMedia(buffer, { media_type })"] },
  initializeMediaUpload: { tweepy: [], twitterApiV2: [] },
  appendMediaUpload: { tweepy: [], twitterApiV2: [] },
  finalizeMediaUpload: { tweepy: [], twitterApiV2: [] },
  getMediaUploadStatus: { tweepy: [], twitterApiV2: [] },
  createMediaMetadata: { tweepy: [], twitterApiV2: ["createMediaMetadata(mediaId, metadata)"] },
  createMediaSubtitles: { tweepy: [], twitterApiV2: [] },
  deleteMediaSubtitles: { tweepy: [], twitterApiV2: [] },
  getMediaByKeys: { tweepy: [], twitterApiV2: [] },
  getMediaByKey: { tweepy: [], twitterApiV2: [] },
  mute: { tweepy: ["mute(target_user_id)"], twitterApiV2: ["mute(me, targetUserId)"] },
  unmute: { tweepy: ["unmute(target_user_id)"], twitterApiV2: ["unmute(me, targetUserId)"] },
  getMuted: { tweepy: ["get_muted()"], twitterApiV2: ["userMutingUsers(me)"] },
  getPost: { tweepy: ["get_tweet(id)"], twitterApiV2: ["singleTweet(tweetId)"] },
  getPosts: { tweepy: ["get_tweets(ids)"], twitterApiV2: ["tweets(ids)"] },
  createPost: {
    tweepy: ["create_tweet(text=…)"],
    twitterApiV2: ["tweet(text)", "reply(text, tweetId)", "quote(text, tweetId)"]
  },
  deletePost: { tweepy: ["delete_tweet(id)"], twitterApiV2: ["deleteTweet(tweetId)"] },
  getQuotePosts: { tweepy: ["get_quote_tweets(id)"], twitterApiV2: ["quotes(tweetId)"] },
  hideReply: { tweepy: ["hide_reply(id)"], twitterApiV2: ["hideReply(tweetId, true)"] },
  unhideReply: { tweepy: ["unhide_reply(id)"], twitterApiV2: ["hideReply(tweetId, false)"] },
  repost: { tweepy: ["retweet(tweet_id)"], twitterApiV2: ["retweet(me, tweetId)"] },
  unrepost: { tweepy: ["unretweet(source_tweet_id)"], twitterApiV2: ["unretweet(me, tweetId)"] },
  getReposters: { tweepy: ["get_retweeters(id)"], twitterApiV2: ["tweetRetweetedBy(tweetId)"] },
  getStreamRules: { tweepy: ["StreamingClient.get_rules()"], twitterApiV2: ["streamRules()"] },
  updateStreamRules: {
    tweepy: ["StreamingClient.add_rules(add)", "StreamingClient.delete_rules(ids)"],
    twitterApiV2: ["updateStreamRules({ add })", "updateStreamRules({ delete: { ids } })"]
  },
  getStreamRuleCounts: { tweepy: [], twitterApiV2: [] },
  searchRecentPosts: { tweepy: ["search_recent_tweets(query)"], twitterApiV2: ["search(query)"] },
  searchAllPosts: { tweepy: ["search_all_tweets(query)"], twitterApiV2: ["searchAll(query)"] },
  searchSpaces: { tweepy: ["search_spaces(query)"], twitterApiV2: ["searchSpaces({ query, state })"] },
  getSpaces: { tweepy: ["get_spaces(ids=…)"], twitterApiV2: ["spaces(ids)", "spacesByCreators(ids)"] },
  getSpace: { tweepy: ["get_space(id)"], twitterApiV2: ["space(spaceId)"] },
  getSpaceBuyers: { tweepy: ["get_space_buyers(id)"], twitterApiV2: ["spaceBuyers(spaceId)"] },
  getSpacePosts: { tweepy: ["get_space_tweets(id)"], twitterApiV2: ["spaceTweets(spaceId)"] },
  streamPosts: { tweepy: ["StreamingClient.filter()"], twitterApiV2: ["searchStream()"] },
  streamPostsSample: { tweepy: ["StreamingClient.sample()"], twitterApiV2: ["sampleStream()"] },
  streamPostsSample10: { tweepy: [], twitterApiV2: [] },
  streamPostsFirehose: { tweepy: [], twitterApiV2: [] },
  streamPostsFirehoseEn: { tweepy: [], twitterApiV2: [] },
  streamPostsFirehoseJa: { tweepy: [], twitterApiV2: [] },
  streamPostsFirehoseKo: { tweepy: [], twitterApiV2: [] },
  streamPostsFirehosePt: { tweepy: [], twitterApiV2: [] },
  streamLikesFirehose: { tweepy: [], twitterApiV2: [] },
  streamLikesSample10: { tweepy: [], twitterApiV2: [] },
  streamPostsCompliance: { tweepy: [], twitterApiV2: [] },
  streamUsersCompliance: { tweepy: [], twitterApiV2: [] },
  streamLikesCompliance: { tweepy: [], twitterApiV2: [] },
  streamPostLabels: { tweepy: [], twitterApiV2: [] },
  getUsersPosts: { tweepy: ["get_users_tweets(id)"], twitterApiV2: ["userTimeline(userId)"] },
  getUsersMentions: { tweepy: ["get_users_mentions(id)"], twitterApiV2: ["userMentionTimeline(userId)"] },
  getHomeTimeline: { tweepy: ["get_home_timeline()"], twitterApiV2: ["homeTimeline()"] },
  searchUsers: { tweepy: [], twitterApiV2: [] },
  getAffiliates: { tweepy: [], twitterApiV2: [] },
  getReposts: { tweepy: [], twitterApiV2: [] },
  getRepostsOfMe: { tweepy: [], twitterApiV2: [] },
  getBookmarkFolders: { tweepy: [], twitterApiV2: [] },
  createBookmarkFolder: { tweepy: [], twitterApiV2: [] },
  getBookmarkFolderPosts: { tweepy: [], twitterApiV2: [] },
  getCommunity: { tweepy: [], twitterApiV2: ["community(id)"] },
  searchCommunities: { tweepy: [], twitterApiV2: ["searchCommunities(query)"] },
  getTrends: { tweepy: [], twitterApiV2: [] },
  getPersonalizedTrends: { tweepy: [], twitterApiV2: [] },
  getUsage: { tweepy: [], twitterApiV2: ["usage()"] },
  getUser: { tweepy: ["get_user(username=…)"], twitterApiV2: ["userByUsername(username)", "user(userId)"] },
  getMe: { tweepy: ["get_me()"], twitterApiV2: ["me()"] },
  getUsers: { tweepy: ["get_users(ids=…)"], twitterApiV2: ["users(ids)", "usersByUsernames(usernames)"] },
  createWebhook: { tweepy: [], twitterApiV2: [] },
  getWebhooks: { tweepy: [], twitterApiV2: [] },
  validateWebhook: { tweepy: [], twitterApiV2: [] },
  deleteWebhook: { tweepy: [], twitterApiV2: [] },
  replayWebhook: { tweepy: [], twitterApiV2: [] },
  linkStreamWebhook: { tweepy: [], twitterApiV2: [] },
  unlinkStreamWebhook: { tweepy: [], twitterApiV2: [] },
  getStreamWebhooks: { tweepy: [], twitterApiV2: [] },
  createActivitySubscription: { tweepy: [], twitterApiV2: [] },
  getActivitySubscriptions: { tweepy: [], twitterApiV2: [] },
  updateActivitySubscription: { tweepy: [], twitterApiV2: [] },
  deleteActivitySubscription: { tweepy: [], twitterApiV2: [] },
  deleteActivitySubscriptions: { tweepy: [], twitterApiV2: [] },
  streamActivity: { tweepy: [], twitterApiV2: [] },
  createAccountActivitySubscription: { tweepy: [], twitterApiV2: [] },
  checkAccountActivitySubscription: { tweepy: [], twitterApiV2: [] },
  getAccountActivitySubscriptions: { tweepy: [], twitterApiV2: [] },
  deleteAccountActivitySubscription: { tweepy: [], twitterApiV2: [] },
  getAccountActivitySubscriptionCount: { tweepy: [], twitterApiV2: [] },
  getOpenApiDocument: { tweepy: [], twitterApiV2: [] },
  getChatConversations: { tweepy: [], twitterApiV2: [] },
  getChatConversation: { tweepy: [], twitterApiV2: [] },
  getChatConversationEvents: { tweepy: [], twitterApiV2: [] },
  sendChatMessage: { tweepy: [], twitterApiV2: [] },
  deleteChatMessages: { tweepy: [], twitterApiV2: [] },
  markChatConversationRead: { tweepy: [], twitterApiV2: [] },
  sendChatTyping: { tweepy: [], twitterApiV2: [] },
  initializeChatGroup: { tweepy: [], twitterApiV2: [] },
  createChatGroup: { tweepy: [], twitterApiV2: [] },
  addChatGroupMembers: { tweepy: [], twitterApiV2: [] },
  addChatConversationKeys: { tweepy: [], twitterApiV2: [] },
  initializeChatMediaUpload: { tweepy: [], twitterApiV2: [] },
  appendChatMediaUpload: { tweepy: [], twitterApiV2: [] },
  finalizeChatMediaUpload: { tweepy: [], twitterApiV2: [] },
  downloadChatMedia: { tweepy: [], twitterApiV2: [] },
  getPublicKeys: { tweepy: [], twitterApiV2: [] },
  getUserPublicKeys: { tweepy: [], twitterApiV2: [] },
  addPublicKey: { tweepy: [], twitterApiV2: [] },
  getBroadcasts: { tweepy: [], twitterApiV2: [] },
  getBroadcast: { tweepy: [], twitterApiV2: [] },
  getScheduledBroadcasts: { tweepy: [], twitterApiV2: [] },
  getScheduledBroadcast: { tweepy: [], twitterApiV2: [] },
  createScheduledBroadcast: { tweepy: [], twitterApiV2: [] },
  updateScheduledBroadcast: { tweepy: [], twitterApiV2: [] },
  deleteScheduledBroadcast: { tweepy: [], twitterApiV2: [] },
  goLiveScheduledBroadcast: { tweepy: [], twitterApiV2: [] },
  getBroadcastChat: { tweepy: [], twitterApiV2: [] },
  sendBroadcastChat: { tweepy: [], twitterApiV2: [] },
  deleteBroadcastChatMessage: { tweepy: [], twitterApiV2: [] },
  muteBroadcastChatUser: { tweepy: [], twitterApiV2: [] },
  unmuteBroadcastChatUser: { tweepy: [], twitterApiV2: [] },
  createCommunityNote: { tweepy: [], twitterApiV2: [] },
  evaluateCommunityNote: { tweepy: [], twitterApiV2: [] },
  searchCommunityNotesWritten: { tweepy: [], twitterApiV2: [] },
  searchPostsEligibleForNotes: { tweepy: [], twitterApiV2: [] },
  deleteCommunityNote: { tweepy: [], twitterApiV2: [] },
  createArticleDraft: { tweepy: [], twitterApiV2: [] },
  publishArticle: { tweepy: [], twitterApiV2: [] },
  searchNews: { tweepy: [], twitterApiV2: [] },
  getNewsStory: { tweepy: [], twitterApiV2: [] },
  getPostAnalytics: { tweepy: [], twitterApiV2: [] },
  getMediaAnalytics: { tweepy: [], twitterApiV2: [] }
}

/** The call of an operation with what it cannot be without. */
const callOf = (definition: Definition): string => {
  const { alternatives, name, rules = [] } = definition
  const required = Object.entries(parametersOf(definition)).filter(([, { required }]) => required).map(([name]) => name)
  const either = alternatives === undefined || alternatives.none ? [] : [alternatives.of.join(" or ")]
  const first = rules.flatMap((rule) => rule._tag === "AtLeastOne" ? rule.of.slice(0, 1) : [])
  const names = [...either, ...required, ...first]
  return names.length === 0 ? `${name}()` : `${name}({ ${names.join(", ")} })`
}

const tableOf = (title: string, before: keyof Calls): string =>
  table(
    [title, "Postwire"],
    documented.flatMap(({ definition }) => {
      const there = calls[definition.name as Name][before]
      const here = `[\`${callOf(definition)}\`](reference/${definition.name}.md)`
      return there.length === 0 ? [] : [[there.map((call) => `\`${call}\``).join("<br>"), here]]
    })
  )

/** The table of tweepy's methods. */
export const tweepy = (): string => tableOf("tweepy", "tweepy")

/** The table of the methods of twitter-api-v2. */
export const twitterApiV2 = (): string => tableOf("`client.v2`", "twitterApiV2")
