/** Seeds ada's bookmark folders. */
import type { State } from "../store/Store.ts"
import { make } from "../text/random.ts"
import { type Account, adaBorn, adaOf } from "./Accounts.ts"
import { day, type Options } from "./Plan.ts"

/** The last one is empty. */
const names = ["To read", "Engines", "Later"]

/** The number of bookmarks to choose from. */
const latest = 100

/** Creates the folders, with the same ids in every service, and adds some of ada's bookmarks. */
export const insertBookmarkFolders = (store: State, { seed }: Options, users: ReadonlyArray<Account>): void => {
  const random = make(seed, "folders")
  const userId = adaOf(users).id
  const folders = names.map((name, i) =>
    store.bookmarkFolders.insert({ userId, name, createdAt: adaBorn + (i + 1) * day })
  )
  for (const { id } of store.bookmarks.posts({ userId, limit: latest }).items.toReversed()) {
    for (const folder of folders.slice(0, -1)) if (random.chance(0.3)) store.bookmarkFolders.add(folder, id)
  }
}
