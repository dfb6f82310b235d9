/**
 * A populated service: accounts and what ties them, posts of two years, likes, lists, spaces, messages, credentials. The
 * same options over an empty store give the same rows, ids and pages.
 */
import { scopes } from "@postwire/core/Scopes"
import * as Redacted from "effect/Redacted"
import { make, type Random } from "./internal/random.ts"
import * as Vocabulary from "./internal/vocabulary.ts"
import type * as Credentials from "./store/Credentials.ts"
import * as Snowflake from "./store/Snowflake.ts"
import type { State } from "./store/Store.ts"

/** What to populate a store with. */
export interface Options {
  /** Any number; another one gives other data. */
  readonly seed: number
  /** How many posts there will be: see {@link isSize}. */
  readonly posts: number
  /** The present, in milliseconds since the epoch, 1990 or later: most posts lie within the seven days before it. */
  readonly start: number
}

/** How many posts a service can begin with, in words. */
export const size = "a whole number from 0 to 1000000"

/** Whether a service can begin with so many posts. */
export const isSize = (posts: number): boolean => Number.isInteger(posts) && posts >= 0 && posts <= 1_000_000

/** What was made, and how to sign in. Tokens depend on the seed alone. */
export interface Seeded {
  readonly users: number
  readonly posts: number
  /** The account that the user credentials belong to. */
  readonly ada: { readonly id: string; readonly username: string }
  /** Uploaded media of ada's that no post shows yet. */
  readonly mediaIds: ReadonlyArray<string>
  readonly consumerKey: string
  readonly consumerSecret: Redacted.Redacted
  readonly accessToken: Redacted.Redacted
  readonly accessTokenSecret: Redacted.Redacted
  /** A token of ada's with all scopes. */
  readonly userBearerToken: Redacted.Redacted
  /** A token of the app alone. */
  readonly appBearerToken: Redacted.Redacted
}

/** Populates an empty store. */
export const run = (store: State, options: Options): Seeded => {
  const users = store.transaction(() => {
    insertPlaces(store)
    return insertUsers(store, options)
  })
  insertPosts(store, options, users)
  return store.transaction(() => {
    insertTies(store, options, users)
    insertLists(store, options, users)
    insertSpaces(store, options, users)
    insertMessages(store, options, users)
    return insertCredentials(store, options, users[2]!, users.length)
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

interface Account {
  readonly id: string
  readonly username: string
  readonly protected: boolean
  readonly language: Vocabulary.Language
}

interface Recent {
  readonly id: string
  readonly author: Account
  readonly text: string
  readonly repostable: boolean
  readonly reposters: Set<Account>
}

const minute = 60_000
const day = 24 * 60 * minute
const year = 365 * day

const adaBorn = Date.UTC(2015, 11, 10, 12)

// Shares of all posts, and of each part those about the topic: a recent search for it finds about 79 posts of 100.
const recentShare = 0.87
const topicShare = { recent: 0.93, old: 0.3 }

const insertPlaces = (store: State): void => {
  for (const [i, [name, country, country_code, ...bbox]] of Vocabulary.places.entries()) {
    store.attachments.insertPlace({
      id: placeId(i),
      full_name: `${name}, ${country}`,
      name,
      country,
      country_code,
      place_type: "city",
      geo: { type: "Feature", bbox, properties: {} }
    })
  }
}

const placeId = (i: number): string => (0x5e1f00d0 + i * 0x01000193 >>> 0).toString(16).padStart(16, "0")

const usersOf = ({ posts }: Pick<Options, "posts">): number => Math.max(12, Math.round(2 * Math.sqrt(posts)))

const insertUsers = (store: State, { posts, seed, start }: Options): ReadonlyArray<Account> => {
  const random = make(seed, "users")
  const names = new Set<string>(["ada"])
  const count = usersOf({ posts })
  const users = Array.from({ length: count }, (_, rank): Account => {
    const ada = rank === 2
    const first = random.pick(Vocabulary.firstNames)
    const last = random.pick(Vocabulary.lastNames)
    const username = ada ? "ada" : usernameFor(first, last, names, random)
    const createdAt = ada ? adaBorn : Math.floor(start - 2 * year - random.next() * 10 * year)
    // The last two always are, so that there are some in the smallest service.
    const isProtected = random.chance(0.05) && rank > 9 || rank >= count - 2
    const language = ada ? Vocabulary.languages[0]! : random.weighted(Vocabulary.languages)
    const place = random.pick(Vocabulary.places)
    const id = store.users.insert({
      id: String(Snowflake.fromMillis(createdAt) + BigInt(rank)),
      username,
      name: ada ? "Ada Lovelace" : `${first} ${last}`,
      createdAt,
      description: ada ? "Notes on the engine. #effect" : random.pick(Vocabulary.descriptions),
      ...(random.chance(0.5) && { location: `${place[0]}, ${place[1]}` }),
      ...(random.chance(0.3) && { url: `https://${username.replaceAll("_", "-")}.example.com` }),
      verifiedType: random.chance(0.1) ? random.pick(["blue", "business", "government"] as const) : "none",
      protected: isProtected,
      photoTagging: random.chance(0.9),
      receivesDm: ada || random.chance(0.7)
    })
    return { id, username, protected: isProtected, language }
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

const insertPosts = (store: State, { posts, seed, start }: Options, users: ReadonlyArray<Account>): void => {
  const random = make(seed, "posts")
  const active = random.ranked(users)
  const ada = users[2]!
  const latest: Array<Recent> = []
  const times = timesOf(posts, start, random)

  const insert = (i: number): void => {
    const createdAt = times(i)
    const author = active()
    const said = random.chance(createdAt >= start - 7 * day ? topicShare.recent : topicShare.old)
    const kind = random.next()
    const target = latest[latest.length - 1 - Math.floor(-Math.log(1 - random.next()) * 40)]
    const popularity = Math.min(60, Math.floor((1 - random.next()) ** -0.55) - 1)
    const common = {
      authorId: author.id,
      createdAt,
      lang: author.language.code,
      source: random.pick(Vocabulary.sources),
      impressions: popularity * 37 + random.below(200)
    }
    if (kind < 0.12 && target?.repostable && target.author !== author && !target.reposters.has(author)) {
      target.reposters.add(author)
      store.posts.insert({
        ...common,
        text: `RT @${target.author.username}: ${target.text}`,
        lang: target.author.language.code,
        repostedPostId: target.id
      })
      return
    }
    const quotes = kind >= 0.12 && kind < 0.18 && target !== undefined
    const replies = kind >= 0.18 && kind < 0.43 && target !== undefined
    const original = !quotes && !replies
    const text = (replies ? `@${target.author.username} ` : "") +
      compose(author.language, said, replies, active, random)
    const id = store.posts.insert({
      ...common,
      text,
      inReplyToPostId: replies ? target.id : undefined,
      quotedPostId: quotes ? target.id : undefined,
      mediaKeys: random.chance(0.06) ? [insertMedia(store, author, createdAt, random)] : undefined,
      pollId: original && random.chance(0.012) ? insertPoll(store, createdAt, random) : undefined,
      placeId: random.chance(0.04) ? placeId(random.below(Vocabulary.places.length)) : undefined,
      replySettings: random.chance(0.03) ? random.pick(["mentionedUsers", "following"]) : undefined,
      possiblySensitive: random.chance(0.01)
    })
    // Nobody answers, reposts or likes what only followers can see.
    if (author.protected) return
    for (let n = popularity; n > 0; n--) store.likes.set((n % 2 === 0 ? active() : random.pick(users)).id, id, true)
    if (random.chance(0.04)) store.bookmarks.set(ada.id, id, true)
    if (random.chance(0.01)) store.bookmarks.set(active().id, id, true)
    latest.push({ id, author, text, repostable: true, reposters: new Set() })
    if (latest.length > 1024) latest.splice(0, 512)
  }

  for (let first = 0; first < posts; first += 10_000) {
    store.transaction(() => {
      for (let i = first; i < Math.min(posts, first + 10_000); i++) insert(i)
    })
  }
}

/** Ascending times: older posts over two years, recent ones over 6.9 days until 40 s before the start, with nights. */
const timesOf = (posts: number, start: number, random: Random): (i: number) => number => {
  const old = posts - Math.round(posts * recentShare)
  const border = start - 6.9 * day
  const wave = (time: number) => time + 0.6 * day / (2 * Math.PI) * Math.sin(2 * Math.PI * time / day)
  const spread = (i: number, count: number, from: number, to: number) =>
    Math.floor(Math.min(to, Math.max(from, wave(from + (i + random.next()) / count * (to - from)))))
  return (i) =>
    i < old
      ? spread(i, old, start - 2 * year, border - 1)
      : spread(i - old, posts - old, border, start - 40_000)
}

const compose = (
  language: Vocabulary.Language,
  said: boolean,
  replies: boolean,
  someone: () => Account,
  random: Random
): string => {
  const tagged = said && random.chance(0.3)
  const subject = said && !tagged ? random.pick(Vocabulary.topic.words) : random.pick(language.subjects)
  const statement = random.pick(language.statements).replace("{t}", subject)
  const parts = [statement]
  if (replies) parts.unshift(random.pick(language.replies))
  else if (random.chance(0.6)) parts.unshift(random.pick(language.openers))
  if (random.chance(0.5)) {
    if (!statement.endsWith("?")) parts.push(parts.pop() + language.stop)
    parts.push(random.pick(language.closers))
  }
  if (random.chance(0.12)) parts.push(`cc @${someone().username}`)
  if (tagged) parts.push(`#${Vocabulary.topic.tag}`)
  if (random.chance(0.25)) parts.push(`#${random.pick(Vocabulary.tags)}`)
  if (random.chance(0.03)) parts.push(`$${random.pick(Vocabulary.cashtags)}`)
  if (random.chance(0.15)) parts.push(random.pick(Vocabulary.emoji))
  if (random.chance(0.12)) parts.push(`${random.pick(Vocabulary.sites)}${random.below(100_000)}`)
  return parts.join(" ")
}

const insertMedia = (store: State, owner: Account, createdAt: number, random: Random): string => {
  const type = random.weighted(
    [
      { type: "photo", share: 0.8 },
      { type: "video", share: 0.15 },
      { type: "animated_gif", share: 0.05 }
    ] as const
  ).type
  const name = `https://media.sandbox.invalid/${random.text(12)}`
  const size = { width: 1200, height: random.pick([675, 800, 1200]) }
  const id = store.attachments.insertMedia({
    ownerId: owner.id,
    type,
    createdAt,
    facts: type === "photo"
      ? { ...size, url: `${name}.jpg`, ...(random.chance(0.4) && { alt_text: random.pick(Vocabulary.tags) }) }
      : {
        ...size,
        preview_image_url: `${name}.jpg`,
        variants: [{ bit_rate: 832_000, content_type: "video/mp4", url: `${name}.mp4` }],
        ...(type === "video" &&
          { duration_ms: 1000 + random.below(120_000), public_metrics: { view_count: random.below(5000) } })
      }
  })
  return store.attachments.mediaKeys([id])[0]!
}

const insertPoll = (store: State, createdAt: number, random: Random): string => {
  const options = random.pick([["Yes", "No"], ["Tabs", "Spaces", "Both"], ["Now", "Later", "Never", "Show me"]])
  return store.attachments.insertPoll({
    options,
    votes: options.map(() => random.below(120)),
    durationMinutes: random.pick([60, 1440, 4320, 10080]),
    createdAt
  })
}

/** Ada waits for one protected account and follows another, blocks, mutes and is blocked; so do a few others. */
const insertTies = (store: State, { seed }: Options, users: ReadonlyArray<Account>): void => {
  const random = make(seed, "ties")
  const ada = users[2]!
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

const insertLists = (store: State, { seed, start }: Options, users: ReadonlyArray<Account>): void => {
  const random = make(seed, "lists")
  const ada = users[2]!
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
  }
}

/** Ada's are one of each state, with tickets sold; the others' are of any. */
const insertSpaces = (store: State, { seed, start }: Options, users: ReadonlyArray<Account>): void => {
  const random = make(seed, "spaces")
  const ada = users[2]!
  const someone = random.ranked(users)
  const count = 9 + Math.floor(users.length / 25)
  for (const topic of Vocabulary.topics) store.spaces.insertTopic(topic)
  for (let i = 0; i < count; i++) {
    const creator = i < 3 ? ada : someone()
    const kind = i < 3 ? i : random.below(3)
    const speakers = [someone(), someone()].filter((user) => user !== creator)
    const isTicketed = creator === ada || random.chance(0.2)
    const space = store.spaces.insert({
      creatorId: creator.id,
      createdAt: start - 4 * day + Math.floor(i / count * 3 * day),
      title: random.pick(Vocabulary.spaceTitles),
      scheduledStart: kind === 0 ? start + day : undefined,
      startedAt: kind === 0 ? undefined : kind === 1 ? start - 30 * minute : start - 20 * 60 * minute,
      endedAt: kind === 2 ? start - 19 * 60 * minute : undefined,
      isTicketed,
      lang: creator.language.code,
      people: {
        host_ids: [creator.id],
        ...(speakers.length > 0 && { speaker_ids: [...new Set(speakers.map((user) => user.id))] }),
        topic_ids: [random.pick(Vocabulary.topics).id]
      },
      participants: kind === 0 ? 0 : random.below(500),
      subscribers: random.below(200)
    })
    for (let n = isTicketed ? 3 + random.below(8) : 0; n > 0; n--) {
      const buyer = someone()
      if (buyer !== creator) store.spaces.sell(space, buyer.id)
    }
    const shared = store.timelines.byAuthor({ authorId: someone().id, viewer: { userId: undefined }, limit: 5 })
    for (const post of shared.items.toReversed()) store.spaces.share(space, post.id)
  }
}

const insertMessages = (store: State, { seed, start }: Options, users: ReadonlyArray<Account>): void => {
  const random = make(seed, "messages")
  const ada = users[2]!
  const [a, b, c, d, e] = users.filter((user) => user !== ada)
  const pairs = [[ada, a!], [ada, b!], [ada, c!], [d!, ada], [d!, e!]] as const
  const messages = 240
  const group = [a!, d!, e!]
  let groupId: string | undefined
  for (let i = 0; i < messages; i++) {
    const createdAt = Math.floor(start - 45 * day + (i + random.next()) / messages * (45 * day - minute))
    const pair = random.pick(pairs)
    if (i === messages / 2) {
      groupId = store.messages.openGroup({ creatorId: ada.id, participantIds: group.map((user) => user.id), createdAt })
    }
    const inGroup = groupId !== undefined && random.chance(0.3)
    const sender = inGroup ? random.pick([ada, ...group]) : random.pick(pair)
    store.messages.insert({
      conversationId: inGroup && groupId !== undefined ? groupId : store.messages.open(pair[0].id, pair[1].id),
      senderId: sender.id,
      createdAt,
      text: compose(sender.language, random.chance(0.3), random.chance(0.5), () => ada, random),
      mediaKey: random.chance(0.05) ? insertMedia(store, sender, createdAt, random) : undefined
    })
  }
}

const insertCredentials = (
  store: State,
  { posts, seed, start }: Options,
  { id, username }: Seeded["ada"],
  users: number
): Seeded => {
  const random = make(seed, "credentials")
  const secret = (length: number) => Redacted.make(random.text(length))
  const consumerKey = random.text(25)
  const consumerSecret = secret(50)
  const token = `${id}-${random.text(30)}`
  const accessTokenSecret = secret(45)
  const userBearerToken = secret(72)
  const appBearerToken = secret(104)
  const rights: Credentials.Rights = "read-write-directmessages"
  if (store.credentials.appByConsumerKey(consumerKey) === undefined) {
    const appId = store.credentials.insertApp({
      name: "Sandbox app",
      access: "research",
      rights,
      consumerKey,
      consumerSecret,
      createdAt: adaBorn
    })
    store.credentials.insertAccessToken({ token, secret: accessTokenSecret, appId, userId: id, rights })
    store.credentials.insertBearerToken({
      token: userBearerToken,
      appId,
      userId: id,
      rights,
      scopes
    })
    store.credentials.insertBearerToken({ token: appBearerToken, appId, userId: undefined, rights, scopes: [] })
  }
  return {
    users,
    posts,
    ada: { id, username },
    mediaIds: (["photo", "photo", "video"] as const).map((type, i) =>
      store.attachments.insertMedia({
        ownerId: id,
        type,
        createdAt: start - minute,
        facts: { width: 1200, height: 800, url: `https://media.sandbox.invalid/draft${i + 1}` }
      })
    ),
    consumerKey,
    consumerSecret,
    accessToken: Redacted.make(token),
    accessTokenSecret,
    userBearerToken,
    appBearerToken
  }
}
