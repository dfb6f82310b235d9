/** Every operation with parameters that the service accepts, as requests of both wires. */
import { catalogue, type Name } from "@postwire/core/Catalogue"
import { prepare } from "@postwire/core/Prepare"
import * as Words from "@postwire/core/Wire"
import type { Wire } from "@postwire/core/WireNames"
import { type Bench, day, minute, now } from "./Requests.ts"

export const names = Object.values(catalogue).map(({ definition }) => definition.name as Name)
  .filter((name, i, all) => all.indexOf(name) === i)

/** A request. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
}

/** The request of a call by `identity`. Bounds are left to the service. */
export const requestOf = (name: Name, parameters: object, identity: string, wire: Wire = "neutral"): Sent => {
  const prepared = prepare(catalogue[name].definition, parameters, Words.named[wire], { checks: "identifiers" })
  if ("_tag" in prepared) throw new Error(`${name}: ${prepared.message}`)
  const { body, identityAt, method, path, query } = prepared
  const whole = identityAt === undefined ? path : path.slice(0, identityAt) + identity + path.slice(identityAt)
  return { method, path: query === "" ? whole : `${whole}?${query}`, body }
}

/** Things for ada to act on, and for each operation parameters that act on them. */
export const scene = ({ seeded: { ada }, store }: Pick<Bench, "seeded" | "store">) => {
  const other = store.users.insert({ username: "Grace_H", name: "Grace", createdAt: now - 900 * day })
  const pest = store.users.insert({ username: "pest", name: "Pest", createdAt: now - 800 * day })
  const post = store.posts.insert({ authorId: other, text: "needle @ada", createdAt: now - 5 * minute })
  const root = store.posts.insert({ authorId: ada.id, text: "root", createdAt: now - 4 * minute })
  const reply = store.posts.insert({ authorId: other, text: "no", createdAt: now - 3 * minute, inReplyToPostId: root })
  const list = store.lists.insert({ ownerId: other, name: "List", createdAt: now - day })
  const space = store.spaces.insert({ creatorId: ada.id, title: "Needle talk", createdAt: now - day, startedAt: now })
  const doomed = () => store.posts.insert({ authorId: ada.id, text: "doomed", createdAt: now - minute })
  const parameters: { readonly [N in Name]: () => object } = {
    block: () => ({ target_user_id: pest }),
    bookmark: () => ({ post_id: post }),
    createDirectMessage: () => ({ participant_id: other, text: "hello" }),
    createDirectMessageConversation: () => ({ participant_ids: [other], text: "hello" }),
    createPost: () => ({ text: "hello" }),
    deletePost: () => ({ id: doomed() }),
    followUser: () => ({ target_user_id: other }),
    getAllPostsCount: () => ({ query: "needle" }),
    getBlocked: () => ({}),
    getBookmarks: () => ({}),
    getDirectMessageEvents: () => ({}),
    getFollowedLists: () => ({ id: ada.id }),
    getHomeTimeline: () => ({}),
    getLikedPosts: () => ({ id: ada.id }),
    getLikingUsers: () => ({ id: post }),
    getListFollowers: () => ({ id: list }),
    getListPosts: () => ({ id: list }),
    getMe: () => ({}),
    getMuted: () => ({}),
    getPost: () => ({ id: post }),
    getPosts: () => ({ ids: [post] }),
    getQuotePosts: () => ({ id: post }),
    getRecentPostsCount: () => ({ query: "needle" }),
    getReposters: () => ({ id: post }),
    getSpace: () => ({ id: space }),
    getSpaceBuyers: () => ({ id: space }),
    getSpacePosts: () => ({ id: space }),
    getSpaces: () => ({ ids: [space] }),
    getUser: () => ({ id: other }),
    getUsers: () => ({ usernames: ["ada"] }),
    getUsersFollowers: () => ({ id: ada.id }),
    getUsersFollowing: () => ({ id: ada.id }),
    getUsersMentions: () => ({ id: ada.id }),
    getUsersPosts: () => ({ id: ada.id }),
    hideReply: () => ({ id: reply }),
    like: () => ({ post_id: post }),
    mute: () => ({ target_user_id: other }),
    removeBookmark: () => ({ post_id: post }),
    repost: () => ({ post_id: post }),
    searchAllPosts: () => ({ query: "needle" }),
    searchRecentPosts: () => ({ query: "needle" }),
    searchSpaces: () => ({ query: "needle" }),
    unblock: () => ({ target_user_id: other }),
    unfollowList: () => ({ list_id: list }),
    unfollowUser: () => ({ target_user_id: other }),
    unhideReply: () => ({ id: reply }),
    unlike: () => ({ post_id: post }),
    unmute: () => ({ target_user_id: other }),
    unrepost: () => ({ source_post_id: post })
  }
  return { other, post, root, reply, list, space, parameters }
}
