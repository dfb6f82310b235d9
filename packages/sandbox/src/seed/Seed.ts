/**
 * Populates a service: accounts and their relations, posts of two years, likes, lists, spaces, messages, credentials. The
 * same options over an empty store create the same rows, ids and pages.
 */
import type { State } from "../store/Store.ts"
import { adaOf, insertTies, insertUsers, usersOf } from "./Accounts.ts"
import { insertPlaces } from "./Attachments.ts"
import { insertAffiliates, insertCommunities } from "./Communities.ts"
import { insertCredentials, type Seeded } from "./Credentials.ts"
import { insertBookmarkFolders, insertLists } from "./Lists.ts"
import { insertMessages } from "./Messages.ts"
import type { Options } from "./Plan.ts"
import { insertPosts } from "./Posts.ts"
import { insertSpaces } from "./Spaces.ts"

export type { Seeded } from "./Credentials.ts"
export type { Options } from "./Plan.ts"

/** The largest number of posts. */
export const maxPosts = 10_000_000

/** The allowed number of posts, in words. */
export const size = `a whole number from 0 to ${maxPosts}`

/** True if a service can be seeded with this number of posts. */
export const isSize = (posts: number): boolean => Number.isInteger(posts) && posts >= 0 && posts <= maxPosts

/** Populates an empty store. */
export const run = (store: State, options: Options): Seeded => {
  const users = store.transaction(() => {
    insertPlaces(store)
    return insertUsers(store, options)
  })
  insertPosts(store, options, users)
  return store.transaction(() => {
    insertTies(store, options, users)
    insertBookmarkFolders(store, options, users)
    insertLists(store, options, users)
    insertSpaces(store, options, users)
    insertCommunities(store, options, users)
    insertAffiliates(store, options, users)
    insertMessages(store, options, users)
    return insertCredentials(store, options, adaOf(users), users.length)
  })
}

/**
 * The credentials of an existing population; undefined if there is none. For a seed other than the population's,
 * credentials are added. `users` and `posts` are the numbers that the options imply.
 */
export const existing = (store: State, options: Options): Seeded | undefined => {
  const ada = store.users.byUsername("ada")
  return ada && store.transaction(() => insertCredentials(store, options, ada, usersOf(options)))
}

/** True if a store contains this population. */
export const isIn = (store: State, { ada, consumerKey, mediaIds }: Seeded): boolean =>
  store.users.byUsername("ada")?.id === ada.id && store.credentials.appByConsumerKey(consumerKey) !== undefined &&
  store.attachments.mediaKeys(mediaIds, ada.id).length === mediaIds.length
