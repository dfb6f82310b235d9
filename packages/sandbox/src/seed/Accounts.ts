/** Seeds accounts and their relations. */
import * as Snowflake from "../store/Snowflake.ts"
import type { State } from "../store/Store.ts"
import { make, type Random } from "../text/random.ts"
import * as Vocabulary from "../text/vocabulary.ts"
import { type Options, year } from "./Plan.ts"

/** A seeded account. */
export interface Account {
  readonly id: string
  readonly username: string
  readonly protected: boolean
  readonly verified: boolean
  readonly language: Vocabulary.Language
}

/** The rank of ada, after the two most followed accounts. */
const adaRank = 2

/** Ada's registration time. */
export const adaBorn = Date.UTC(2015, 11, 10, 12)

/** The account of the seeded credentials. */
export const adaOf = (users: ReadonlyArray<Account>): Account => users[adaRank]!

export const usersOf = ({ posts }: Pick<Options, "posts">): number => Math.max(12, Math.round(2 * Math.sqrt(posts)))

/** Creates the accounts, most followed first, and their follows. */
export const insertUsers = (store: State, { posts, seed, start }: Options): ReadonlyArray<Account> => {
  const random = make(seed, "users")
  const names = new Set<string>(["ada"])
  const count = usersOf({ posts })
  const users = Array.from({ length: count }, (_, rank): Account => {
    const ada = rank === adaRank
    const first = random.pick(Vocabulary.firstNames)
    const last = random.pick(Vocabulary.lastNames)
    const username = ada ? "ada" : usernameFor(first, last, names, random)
    const createdAt = ada ? adaBorn : Math.floor(start - 2 * year - random.next() * 10 * year)
    // The last two always are, so that even the smallest service has some.
    const isProtected = random.chance(0.05) && rank > 9 || rank >= count - 2
    const language = ada ? Vocabulary.languages[0]! : random.weighted(Vocabulary.languages)
    const place = random.pick(Vocabulary.places)
    const description = ada ? "Notes on the engine. #effect" : random.pick(Vocabulary.descriptions)
    const location = random.chance(0.5) ? `${place[0]}, ${place[1]}` : undefined
    const url = random.chance(0.3) ? `https://${username.replaceAll("_", "-")}.example.com` : undefined
    const verifiedType = random.chance(0.1) ? random.pick(["blue", "business", "government"] as const) : "none"
    const id = store.users.insert({
      id: String(Snowflake.fromMillis(createdAt) + BigInt(rank)),
      username,
      name: ada ? "Ada Lovelace" : `${first} ${last}`,
      createdAt,
      description,
      ...(location !== undefined && { location }),
      ...(url !== undefined && { url }),
      // Verified accounts may write longer posts; tests rely on ada being unverified.
      verifiedType: ada ? "none" : verifiedType,
      protected: isProtected,
      photoTagging: random.chance(0.9),
      receivesDm: ada || random.chance(0.7)
    })
    return { id, username, protected: isProtected, verified: verifiedType !== "none", language }
  })
  const popular = random.ranked(users)
  for (const user of users) {
    for (let n = 3 + random.below(20); n > 0; n--) {
      const target = popular()
      if (target === user) continue
      store.follows.set(user.id, target.id, target.protected && random.chance(0.5) ? "requested" : "following")
    }
  }
  return users
}

const usernameFor = (first: string, last: string, taken: Set<string>, random: Random): string => {
  const [a, b] = [first, last].map((name) => name.normalize("NFKD").replace(/[^A-Za-z]/g, "").toLowerCase())
  const base = random.pick([`${a}_${b}`, `${a}${b}`, `${b}_${a}`, `the_${a}`]).slice(0, 11)
  let username = base
  for (let n = 2; taken.has(username); n++) username = `${base}${n}`
  taken.add(username)
  return username
}

/**
 * Ada has requested to follow one protected account and follows another; she blocks, mutes and is blocked. So are a few
 * others.
 */
export const insertTies = (store: State, { seed }: Options, users: ReadonlyArray<Account>): void => {
  const random = make(seed, "ties")
  const ada = adaOf(users)
  const [muted, blocked, blocker, followed, asked] = users.slice(-5) as [Account, Account, Account, Account, Account]
  store.follows.set(ada.id, asked.id, "requested")
  store.follows.set(ada.id, followed.id, "following")
  store.mutes.set(ada.id, muted.id, true)
  store.blocks.set(ada.id, blocked.id, true)
  store.blocks.set(blocker.id, ada.id, true)
  for (let n = Math.ceil(users.length / 10); n > 0; n--) {
    for (const ties of [store.mutes, store.blocks]) {
      const [source, target] = [random.pick(users), random.pick(users)]
      if (source !== target && source !== ada && target !== ada) ties.set(source.id, target.id, true)
    }
  }
}
