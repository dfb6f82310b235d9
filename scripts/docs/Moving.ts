/** The names of operations in the clients that people come from. */
import { methods } from "../../packages/cli/src/migrate/Methods.ts"
import type { Name } from "../../packages/core/src/Catalogue.ts"
import { type Definition, parametersOf } from "../../packages/core/src/schema/Definition.ts"
import { table } from "./Members.ts"
import { documented } from "./Source.ts"

/** The calls of tweepy for every operation, none for those that it does not have; the compiler knows which are missing. */
export const calls: { readonly [N in Name]: ReadonlyArray<string> } = {
  block: ["block(target_user_id)"],
  unblock: ["unblock(target_user_id)"],
  getBlocked: ["get_blocked()"],
  bookmark: ["bookmark(tweet_id)"],
  getBookmarks: ["get_bookmarks()"],
  removeBookmark: ["remove_bookmark(tweet_id)"],
  getRecentPostsCount: ["get_recent_tweets_count(query)"],
  getAllPostsCount: ["get_all_tweets_count(query)"],
  getDirectMessageEvents: ["get_direct_message_events()", "get_dm_events()"],
  createDirectMessage: ["create_direct_message(participant_id=…, text=…)", "create_dm(participant_id=…, text=…)"],
  getConnections: [],
  deleteConnections: [],
  deleteAllConnections: [],
  deleteEndpointConnections: [],
  createDirectMessageConversation: [
    "create_direct_message_conversation(participant_ids=…, text=…)",
    "create_dm_conversation(participant_ids=…, text=…)"
  ],
  getDirectMessageEvent: [],
  deleteDirectMessageEvent: [],
  downloadDirectMessageMedia: [],
  blockDirectMessages: [],
  unblockDirectMessages: [],
  createComplianceJob: ["create_compliance_job(type)"],
  getComplianceJob: ["get_compliance_job(id)"],
  getComplianceJobs: ["get_compliance_jobs(type)"],
  followUser: ["follow_user(target_user_id)", "follow(target_user_id)"],
  unfollowUser: ["unfollow_user(target_user_id)", "unfollow(target_user_id)"],
  getUsersFollowers: ["get_users_followers(id)"],
  getUsersFollowing: ["get_users_following(id)"],
  like: ["like(tweet_id)"],
  unlike: ["unlike(tweet_id)"],
  getLikingUsers: ["get_liking_users(id)"],
  getLikedPosts: ["get_liked_tweets(id)"],
  createList: ["create_list(name)"],
  updateList: ["update_list(id)"],
  deleteList: ["delete_list(id)"],
  getList: ["get_list(id)"],
  getListMembers: ["get_list_members(id)"],
  addListMember: ["add_list_member(id, user_id)"],
  removeListMember: ["remove_list_member(id, user_id)"],
  getListPosts: ["get_list_tweets(id)"],
  getListFollowers: ["get_list_followers(id)"],
  getOwnedLists: ["get_owned_lists(id)"],
  getListMemberships: ["get_list_memberships(id)"],
  getFollowedLists: ["get_followed_lists(id)"],
  followList: ["follow_list(list_id)"],
  unfollowList: ["unfollow_list(list_id)"],
  getPinnedLists: ["get_pinned_lists()"],
  pinList: ["pin_list(list_id)"],
  unpinList: ["unpin_list(list_id)"],
  uploadMedia: [],
  initializeMediaUpload: [],
  appendMediaUpload: [],
  finalizeMediaUpload: [],
  getMediaUploadStatus: [],
  createMediaMetadata: [],
  createMediaSubtitles: [],
  deleteMediaSubtitles: [],
  getMediaByKeys: [],
  getMediaByKey: [],
  mute: ["mute(target_user_id)"],
  unmute: ["unmute(target_user_id)"],
  getMuted: ["get_muted()"],
  getPost: ["get_tweet(id)"],
  getPosts: ["get_tweets(ids)"],
  createPost: ["create_tweet(text=…)"],
  deletePost: ["delete_tweet(id)"],
  getQuotePosts: ["get_quote_tweets(id)"],
  hideReply: ["hide_reply(id)"],
  unhideReply: ["unhide_reply(id)"],
  repost: ["retweet(tweet_id)"],
  unrepost: ["unretweet(source_tweet_id)"],
  getReposters: ["get_retweeters(id)"],
  getStreamRules: ["StreamingClient.get_rules()"],
  updateStreamRules: ["StreamingClient.add_rules(add)", "StreamingClient.delete_rules(ids)"],
  getStreamRuleCounts: [],
  searchRecentPosts: ["search_recent_tweets(query)"],
  searchAllPosts: ["search_all_tweets(query)"],
  searchSpaces: ["search_spaces(query)"],
  getSpaces: ["get_spaces(ids=…)"],
  getSpace: ["get_space(id)"],
  getSpaceBuyers: ["get_space_buyers(id)"],
  getSpacePosts: ["get_space_tweets(id)"],
  streamPosts: ["StreamingClient.filter()"],
  streamPostsSample: ["StreamingClient.sample()"],
  streamPostsSample10: [],
  streamPostsFirehose: [],
  streamPostsFirehoseEn: [],
  streamPostsFirehoseJa: [],
  streamPostsFirehoseKo: [],
  streamPostsFirehosePt: [],
  streamLikesFirehose: [],
  streamLikesSample10: [],
  streamPostsCompliance: [],
  streamUsersCompliance: [],
  streamLikesCompliance: [],
  streamPostLabels: [],
  getUsersPosts: ["get_users_tweets(id)"],
  getUsersMentions: ["get_users_mentions(id)"],
  getHomeTimeline: ["get_home_timeline()"],
  searchUsers: [],
  getAffiliates: [],
  getReposts: [],
  getRepostsOfMe: [],
  getBookmarkFolders: [],
  createBookmarkFolder: [],
  getBookmarkFolderPosts: [],
  getCommunity: [],
  searchCommunities: [],
  getTrends: [],
  getPersonalizedTrends: [],
  getUsage: [],
  getUser: ["get_user(username=…)"],
  getMe: ["get_me()"],
  getUsers: ["get_users(ids=…)"],
  createWebhook: [],
  getWebhooks: [],
  validateWebhook: [],
  deleteWebhook: [],
  replayWebhook: [],
  linkStreamWebhook: [],
  unlinkStreamWebhook: [],
  getStreamWebhooks: [],
  createActivitySubscription: [],
  getActivitySubscriptions: [],
  updateActivitySubscription: [],
  deleteActivitySubscription: [],
  deleteActivitySubscriptions: [],
  streamActivity: [],
  createAccountActivitySubscription: [],
  checkAccountActivitySubscription: [],
  getAccountActivitySubscriptions: [],
  deleteAccountActivitySubscription: [],
  getAccountActivitySubscriptionCount: [],
  getOpenApiDocument: [],
  getChatConversations: [],
  getChatConversation: [],
  getChatConversationEvents: [],
  sendChatMessage: [],
  deleteChatMessages: [],
  markChatConversationRead: [],
  sendChatTyping: [],
  initializeChatGroup: [],
  createChatGroup: [],
  addChatGroupMembers: [],
  addChatConversationKeys: [],
  initializeChatMediaUpload: [],
  appendChatMediaUpload: [],
  finalizeChatMediaUpload: [],
  downloadChatMedia: [],
  getPublicKeys: [],
  getUserPublicKeys: [],
  addPublicKey: [],
  getBroadcasts: [],
  getBroadcast: [],
  getScheduledBroadcasts: [],
  getScheduledBroadcast: [],
  createScheduledBroadcast: [],
  updateScheduledBroadcast: [],
  deleteScheduledBroadcast: [],
  goLiveScheduledBroadcast: [],
  getBroadcastChat: [],
  sendBroadcastChat: [],
  deleteBroadcastChatMessage: [],
  muteBroadcastChatUser: [],
  unmuteBroadcastChatUser: [],
  createCommunityNote: [],
  evaluateCommunityNote: [],
  searchCommunityNotesWritten: [],
  searchPostsEligibleForNotes: [],
  deleteCommunityNote: [],
  createArticleDraft: [],
  publishArticle: [],
  searchNews: [],
  getNewsStory: [],
  getPostAnalytics: [],
  getMediaAnalytics: []
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

const tableOf = (title: string, callsOf: (name: Name) => ReadonlyArray<string>): string =>
  table(
    [title, "Postwire"],
    documented.flatMap(({ definition }) => {
      const there = callsOf(definition.name as Name)
      const here = `[\`${callOf(definition)}\`](reference/${definition.name}.md)`
      return there.length === 0 ? [] : [[there.map((call) => `\`${call}\``).join("<br>"), here]]
    })
  )

/** The calls of tweepy for an operation. */
export const tweepyCalls = (name: Name): ReadonlyArray<string> => calls[name]

/** The calls of twitter-api-v2's `client.v2` for an operation, which the codemod moves. */
export const twitterApiV2Calls = (name: Name): ReadonlyArray<string> =>
  methods.flatMap(([call, operation]) => operation === name ? [call] : [])

/** The table of tweepy's methods. */
export const tweepy = (): string => tableOf("tweepy", tweepyCalls)

/** The table of the methods of twitter-api-v2. */
export const twitterApiV2 = (): string => tableOf("`client.v2`", twitterApiV2Calls)
