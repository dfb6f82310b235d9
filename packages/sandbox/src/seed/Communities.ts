/** Seeds communities, their members, and affiliates of organizations. */
import type { State } from "../store/Store.ts"
import { make } from "../text/random.ts"
import * as Vocabulary from "../text/vocabulary.ts"
import { type Account, adaOf } from "./Accounts.ts"
import type { Options } from "./Plan.ts"

/** Creates the communities, with the same ids in every service; ada is a member of the first. */
export const insertCommunities = (store: State, { seed, start }: Options, users: ReadonlyArray<Account>): void => {
  const random = make(seed, "communities")
  const someone = random.ranked(users)
  for (const [i, community] of Vocabulary.communities.entries()) {
    const id = store.communities.insert({ ...community, createdAt: start })
    if (i === 0) store.communities.setMember(id, adaOf(users).id, true)
    for (let n = 3 + random.below(users.length); n > 0; n--) store.communities.setMember(id, someone().id, true)
  }
}

/** Makes some accounts affiliates of the two most followed ones. */
export const insertAffiliates = (store: State, { seed }: Options, users: ReadonlyArray<Account>): void => {
  const random = make(seed, "affiliates")
  const [first, second, ...others] = users
  if (first === undefined || second === undefined) return
  for (const organization of [first, second]) {
    for (let n = 2 + random.below(4); n > 0; n--) store.affiliates.set(organization.id, random.pick(others).id, true)
  }
}
