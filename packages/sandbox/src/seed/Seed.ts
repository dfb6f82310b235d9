/**
 * A populated service: accounts and what ties them, posts of two years, likes, lists, spaces, messages, credentials. The
 * same options over an empty store give the same rows, ids and pages.
 */
import type { State } from "../store/Store.ts"
import { adaOf, insertTies, insertUsers, usersOf } from "./Accounts.ts"
import { insertBookmarkFolders } from "./BookmarkFolders.ts"
import { insertAffiliates, insertCommunities } from "./Communities.ts"
import { insertCredentials, type Seeded } from "./Credentials.ts"
import { insertLists } from "./Lists.ts"
import { insertMessages } from "./Messages.ts"
import { insertPlaces } from "./Places.ts"
import type { Options } from "./Plan.ts"
import { insertPosts } from "./Posts.ts"
import { insertSpaces } from "./Spaces.ts"

export type { Seeded } from "./Credentials.ts"
export type { Options } from "./Plan.ts"

/** How many posts a service can begin with, in words. */
export const size = "a whole number from 0 to 1000000"

/** Whether a service can begin with so many posts. */
export const isSize = (posts: number): boolean => Number.isInteger(posts) && posts >= 0 && posts <= 1_000_000

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
 * How to sign in to a store that was populated before; nothing when it was not. Another seed than the one it was
 * populated with gets credentials of its own. `users` and `posts` are those that the options ask for.
 */
export const existing = (store: State, options: Options): Seeded | undefined => {
  const ada = store.users.byUsername("ada")
  return ada && store.transaction(() => insertCredentials(store, options, ada, usersOf(options)))
}

/** Whether what was made is in a store. */
export const isIn = (store: State, { ada, consumerKey, mediaIds }: Seeded): boolean =>
  store.users.byUsername("ada")?.id === ada.id && store.credentials.appByConsumerKey(consumerKey) !== undefined &&
  store.attachments.mediaKeys(mediaIds, ada.id).length === mediaIds.length
