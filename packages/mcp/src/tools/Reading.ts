/** Tools that read what one operation returns: each picks the operation by its inputs. */
import { catalogue } from "@postwire/core/Catalogue"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Effect from "effect/Effect"
import * as Ledger from "../money/Ledger.ts"
import { Refused } from "../money/Refused.ts"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import * as Tool from "../session/Tool.ts"

/** `search`: posts that match a query, or how many there are. */
export const search = Tool.make({
  name: "search",
  title: "Search posts",
  description:
    "Searches posts of the last 7 days. count returns how many match, cheaply: use it before reading much. Operators: from:ada, to:, @ada, #tag, \"phrase\", lang:en, has:links, -is:retweet, OR.",
  toolset: "posts",
  effect: "read",
  operations: [catalogue.searchRecentPosts.definition],
  inputs: {
    query: Parameters.required(Parameters.recentQuery),
    archive: Parameters.boolean,
    count: Parameters.boolean,
    sort_order: Parameters.choice(["recency", "relevancy"]),
    start_time: Parameters.timestamp,
    end_time: Parameters.timestamp,
    ...Inputs.listing
  },
  hints: {
    archive: "All years, if the app has access",
    rows: "Above 100: written to a file"
  },
  run: ({ archive = false, count = false, detail, end_time, query, rows, sort_order, start_time }) =>
    count
      ? Page.read(
        (archive ? catalogue.getAllPostsCount : catalogue.getRecentPostsCount).definition,
        { query, granularity: "day", start_time, end_time },
        { detail }
      )
      : Page.read(
        (archive ? catalogue.searchAllPosts : catalogue.searchRecentPosts).definition,
        { query, sort_order, start_time, end_time },
        { detail, rows }
      )
})

const ofPost = {
  quotes: catalogue.getQuotePosts.definition,
  likers: catalogue.getLikingUsers.definition,
  reposters: catalogue.getReposters.definition
}

/** `read_posts`: posts by id, or the reactions to one. */
export const readPosts = Tool.make({
  name: "read_posts",
  title: "Read posts",
  description: "Reads up to 100 posts by id; with show, the reactions to the first of them.",
  toolset: "posts",
  effect: "read",
  operations: [catalogue.getPosts.definition, ...Object.values(ofPost)],
  inputs: {
    ids: Parameters.required(Parameters.ids(100)),
    show: Parameters.choice(["posts", "quotes", "likers", "reposters"]),
    ...Inputs.listing
  },
  run: ({ detail, ids, rows, show = "posts" }) =>
    show === "posts"
      ? Page.read(catalogue.getPosts.definition, { ids }, { detail, rows: rows ?? 100 })
      : Page.read(ofPost[show], { id: typeof ids === "string" ? ids.split(",")[0] : ids[0] }, { detail, rows })
})

const aboutUser = {
  posts: catalogue.getUsersPosts.definition,
  mentions: catalogue.getUsersMentions.definition,
  likes: catalogue.getLikedPosts.definition,
  followers: catalogue.getUsersFollowers.definition,
  following: catalogue.getUsersFollowing.definition
}

/** `read_user`: a profile, and what belongs to it. */
export const readUser = Tool.make({
  name: "read_user",
  title: "Read a user",
  description:
    "Reads a user by handle or id: the profile, or their posts, mentions, likes, followers, or whom they follow.",
  toolset: "users",
  effect: "read",
  operations: [catalogue.getUser.definition, ...Object.values(aboutUser)],
  inputs: {
    user: Parameters.text(64),
    show: Parameters.choice(["profile", "posts", "mentions", "likes", "followers", "following"]),
    ...Inputs.listing
  },
  hints: { user: "Default: the account itself" },
  run: ({ detail, rows, show = "profile", user }) =>
    Effect.gen(function*() {
      if (show === "profile") {
        return yield* user === undefined
          ? Page.read(catalogue.getMe.definition, {}, { detail })
          : Page.read(
            catalogue.getUser.definition,
            /^\d{1,19}$/.test(user) ? { id: user } : { username: user.replace(/^@/, "") },
            { detail }
          )
      }
      return yield* Page.read(aboutUser[show], { id: yield* Page.userIdOf(user) }, { detail, rows })
    })
})

/** `timeline`: what the account sees at home. */
export const timeline = Tool.make({
  name: "timeline",
  title: "Read the home timeline",
  description: "Reads the home timeline of the account: posts of those whom it follows, newest first.",
  toolset: "posts",
  effect: "read",
  operations: [catalogue.getHomeTimeline.definition],
  inputs: {
    since_id: Parameters.id,
    exclude: Parameters.list(["replies", "retweets"]),
    ...Inputs.listing
  },
  run: ({ detail, exclude, rows, since_id }) =>
    Page.read(catalogue.getHomeTimeline.definition, { exclude, since_id }, { detail, rows })
})

const listsOfUser = {
  owned: catalogue.getOwnedLists.definition,
  followed: catalogue.getFollowedLists.definition,
  memberships: catalogue.getListMemberships.definition
}

const partsOfList = {
  list: catalogue.getList.definition,
  posts: catalogue.getListPosts.definition,
  members: catalogue.getListMembers.definition,
  followers: catalogue.getListFollowers.definition
}

/** `lists`: the lists of a user, and what is in one. */
export const lists = Tool.make({
  name: "lists",
  title: "Read lists",
  description:
    "Reads the lists of a user (owned, followed, memberships; pinned are the account's), or one list by id (list, posts, members, followers).",
  toolset: "lists",
  effect: "read",
  operations: [...Object.values(listsOfUser), ...Object.values(partsOfList), catalogue.getPinnedLists.definition],
  inputs: {
    show: Parameters.choice(["owned", "followed", "memberships", "pinned", "list", "posts", "members", "followers"]),
    id: Parameters.id,
    user: Parameters.text(64),
    ...Inputs.listing
  },
  run: ({ detail, id, rows, show = id === undefined ? "owned" : "posts", user }) =>
    Effect.gen(function*() {
      if (show === "pinned") return yield* Page.read(catalogue.getPinnedLists.definition, {}, { detail, rows })
      if (show === "owned" || show === "followed" || show === "memberships") {
        return yield* Page.read(listsOfUser[show], { id: yield* Page.userIdOf(user) }, { detail, rows })
      }
      if (id === undefined) {
        return yield* new Refused({
          reason: `id: is required to show ${show}.`,
          advice: "Find the list's id with show: owned or show: followed."
        })
      }
      return yield* Page.read(partsOfList[show], { id }, { detail, rows })
    })
})

/** `bookmarks`: the bookmarked posts of the account, and its folders. */
export const bookmarks = Tool.make({
  name: "bookmarks",
  title: "Read bookmarks",
  description: "Reads the account's bookmarks, its folders, or the ids of the posts in a folder.",
  toolset: "bookmarks",
  effect: "read",
  operations: [catalogue.getBookmarks.definition, catalogue.getBookmarkFolders.definition],
  inputs: { show: Parameters.choice(["posts", "folders"]), folder_id: Parameters.id, ...Inputs.listing },
  run: ({ detail, folder_id, rows, show }) =>
    folder_id !== undefined
      ? Page.read(catalogue.getBookmarkFolderPosts.definition, { folder_id }, { detail, rows })
      : Page.read((show === "folders" ? catalogue.getBookmarkFolders : catalogue.getBookmarks).definition, {}, {
        detail,
        rows
      })
})

/** `trends`: what many posts are about, and stories made of posts. */
export const trends = Tool.make({
  name: "trends",
  title: "Read trends",
  description:
    "Reads the trends of a place, those picked for the account (personal), or news: stories of posts, whose texts a model has written.",
  toolset: "trends",
  effect: "read",
  operations: [catalogue.getTrends.definition, catalogue.searchNews.definition],
  inputs: {
    news: Parameters.text(2048),
    story: Parameters.id,
    woeid: Parameters.integer({ minimum: 1, maximum: 999_999_999 }),
    personal: Parameters.boolean,
    ...Inputs.reading
  },
  hints: {
    news: "Words of stories, instead of trends",
    story: "The id of a story",
    woeid: "Where On Earth id; 1 (default) is the world"
  },
  run: ({ detail, news, personal = false, story, woeid = 1 }) =>
    story !== undefined
      ? Page.read(catalogue.getNewsStory.definition, { id: story }, { detail: detail ?? "full" })
      : news !== undefined
      ? Page.read(catalogue.searchNews.definition, { query: news }, { detail, rows: 10 })
      : personal
      ? Page.read(
        catalogue.getPersonalizedTrends.definition,
        { personalized_trend_fields: ["category", "trend_name"] },
        {
          detail
        }
      )
      : Page.read(catalogue.getTrends.definition, { woeid, trend_fields: ["post_count", "trend_name"] }, {
        detail,
        rows: 50
      })
})

/** `messages`: the direct messages of the account. */
export const messages = Tool.make({
  name: "messages",
  title: "Read direct messages",
  description:
    "Reads direct messages of the last 30 days, newest first: all, or of one conversation, or with one user.",
  toolset: "messages",
  effect: "read",
  operations: [catalogue.getDirectMessageEvents.definition],
  inputs: { user: Parameters.text(64), conversation_id: Parameters.segment, ...Inputs.listing },
  run: ({ conversation_id, detail, rows, user }) =>
    Effect.gen(function*() {
      const which = {
        dm_conversation_id: conversation_id,
        participant_id: user === undefined ? undefined : yield* Page.userIdOf(user)
      }
      return yield* Page.read(catalogue.getDirectMessageEvents.definition, which, { detail, rows })
    })
})

/** `spend`: what was spent, and what is left. */
export const spend = Tool.make({
  name: "spend",
  title: "Show what was spent",
  description: "Shows what this session, today and this month have spent, and what is left of their limits. Free.",
  toolset: undefined,
  effect: "read",
  openWorld: false,
  operations: [],
  inputs: {},
  run: () =>
    Effect.gen(function*() {
      const { accounts } = yield* Ledger.Ledger
      return { lines: Ledger.lines(yield* accounts) }
    })
})
