/** Seeds lists, their members and followers, and ada's bookmark folders. */
import type { State } from "../store/Store.ts"
import { make } from "../text/random.ts"
import * as Vocabulary from "../text/vocabulary.ts"
import { type Account, adaBorn, adaOf } from "./Accounts.ts"
import { day, type Options, year } from "./Plan.ts"

/**
 * Creates the lists. The first two are ada's, one of them private. She has pinned the other one, and one that she follows.
 */
export const insertLists = (store: State, { seed, start }: Options, users: ReadonlyArray<Account>): void => {
  const random = make(seed, "lists")
  const ada = adaOf(users)
  const someone = random.ranked(users)
  const count = 6 + Math.floor(users.length / 25)
  for (let i = 0; i < count; i++) {
    const owner = i < 2 ? ada : someone()
    const list = store.lists.insert({
      ownerId: owner.id,
      name: i === 0 ? "Engine builders" : i === 1 ? "To read in private" : random.pick(Vocabulary.listNames),
      createdAt: Math.floor(start - year + i / count * year),
      description: random.chance(0.5) ? random.pick(Vocabulary.descriptions) : "",
      private: i === 1
    })
    for (let n = 3 + random.below(10); n > 0; n--) store.lists.setMember(list, someone().id, true)
    if (i === 1) continue
    for (let n = 2 + random.below(12); n > 0; n--) store.lists.setFollower(list, someone().id, true)
    if (i >= 2 && i < 5) store.lists.setFollower(list, ada.id, true)
    if (i === 0 || i === 2) store.lists.setPinned(list, ada.id, true)
  }
}

/** The last one is empty. */
const folderNames = ["To read", "Engines", "Later"]

/** The number of bookmarks to choose from. */
const latest = 100

/** Creates the folders, with the same ids in every service, and adds some of ada's bookmarks. */
export const insertBookmarkFolders = (store: State, { seed }: Options, users: ReadonlyArray<Account>): void => {
  const random = make(seed, "folders")
  const userId = adaOf(users).id
  const folders = folderNames.map((name, i) =>
    store.bookmarkFolders.insert({ userId, name, createdAt: adaBorn + (i + 1) * day })
  )
  for (const { id } of store.bookmarks.posts({ userId, limit: latest }).items.toReversed()) {
    for (const folder of folders.slice(0, -1)) if (random.chance(0.3)) store.bookmarkFolders.add(folder, id)
  }
}
