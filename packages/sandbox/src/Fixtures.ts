/**
 * What a test needs to be there, as plain calls: users and what they do, and credentials to act for them.
 *
 * ```ts
 * const grace = sandbox.user({ username: "grace", protected: true }).follows(sandbox.ada)
 * const post = grace.post("On compilers").post({ text: "Which one?", poll: ["A-0", "B-0"] })
 * const client = createClient(grace.settings({ scopes: ["post.read", "users.read"] }))
 * ```
 *
 * The same calls on a sandbox with the same population make the same ids and secrets. What is made lies an hour before
 * the clock of the service, one second after the other, unless `at` says when: `at` may be before what is there already.
 */
import type { AccessLevel } from "@postwire/core/Parameters"
import * as Scopes from "@postwire/core/Scopes"
import * as Redacted from "effect/Redacted"
import { make as random } from "./internal/random.ts"
import type { Seeded } from "./Seed.ts"
import type { ServiceClock } from "./ServiceClock.ts"
import type { MediaFacts, MediaType } from "./store/Attachments.ts"
import type * as Credentials from "./store/Credentials.ts"
import type { ReplySettings } from "./store/Posts.ts"
import * as Snowflake from "./store/Snowflake.ts"
import type { SpaceState } from "./store/Spaces.ts"
import type { Store } from "./store/Store.ts"
import type { VerifiedType } from "./store/Users.ts"

/** Anything with an id: what a fixture made, or what an answer held. */
export interface Identified {
  readonly id: string
}

/** An instant: a `Date`, milliseconds since the epoch, or ISO 8601. */
export type Instant = Date | number | string

/** What a client takes to act with a credential; `createClient` takes it as it is. */
export interface Settings {
  readonly baseUrl: string
  readonly bearerToken: string
  readonly consumerKey: string
  readonly consumerSecret: string
  /** Of a user; an app alone has none. */
  readonly accessToken?: string
  /** Of a user; an app alone has none. */
  readonly accessTokenSecret?: string
}

/** A user to be. */
export interface UserOptions {
  /** Default `user1`, `user2`, ... */
  readonly username?: string
  /** Default: the username. */
  readonly name?: string
  readonly protected?: boolean
  /** Default `none`. */
  readonly verified?: VerifiedType
  readonly description?: string
  readonly location?: string
  readonly url?: string
  /** Whether strangers may send messages. Default true. */
  readonly receivesMessages?: boolean
  /** Whether others may tag the user in media. Default true. */
  readonly taggable?: boolean
  /** Default: a year ago. */
  readonly at?: Instant
}

/** A post to be. */
export interface PostOptions {
  /** Default: empty. */
  readonly text?: string
  readonly replyTo?: Identified
  readonly quotes?: Identified
  /** Kinds of media to upload with it. */
  readonly media?: ReadonlyArray<MediaType>
  /** The choices of a poll, which is open for a day, or more about it. */
  readonly poll?: ReadonlyArray<string> | PollOptions
  /** Default `und`. */
  readonly lang?: string
  readonly replySettings?: ReplySettings
  readonly sensitive?: boolean
  readonly impressions?: number
  readonly at?: Instant
}

/** A poll to be. */
export interface PollOptions {
  readonly choices: ReadonlyArray<string>
  /** By choice; none when left out. */
  readonly votes?: ReadonlyArray<number>
  /** Default: a day. */
  readonly minutes?: number
}

/** A list to be. */
export interface ListOptions {
  readonly name: string
  readonly description?: string
  readonly private?: boolean
  readonly members?: ReadonlyArray<Identified>
  readonly followers?: ReadonlyArray<Identified>
  readonly at?: Instant
}

/** A space to be. */
export interface SpaceOptions {
  readonly title?: string
  /** Default `live`: it began at `at`. One that ended did so a minute later; one that is scheduled begins in a day. */
  readonly state?: SpaceState
  readonly ticketed?: boolean
  readonly lang?: string
  readonly speakers?: ReadonlyArray<Identified>
  /** Who has a ticket. */
  readonly buyers?: ReadonlyArray<Identified>
  /** What is shared in it. */
  readonly posts?: ReadonlyArray<Identified>
  readonly at?: Instant
}

/** A message to be. */
export interface MessageOptions {
  readonly text?: string
  readonly media?: MediaType
  readonly at?: Instant
}

/** An app to be. */
export interface AppOptions {
  readonly name?: string
  /** Default `research`; `standard` has no full archive. */
  readonly access?: AccessLevel
  /** Default `read-write-directmessages`. */
  readonly rights?: Credentials.Rights
}

/** What a credential may do. */
export interface Grant {
  /** Default: the app of the seed. */
  readonly app?: App
  /** Default: those that the app has now. The credential keeps them when the app gets others. */
  readonly rights?: Credentials.Rights
  /** Of the bearer token. Default: all. */
  readonly scopes?: ReadonlyArray<Scopes.Scope>
}

/** An app. */
export interface App extends Identified {
  /** The credentials of the app alone. */
  readonly settings: Settings
  /** What credentials from now on may do. */
  readonly setRights: (rights: Credentials.Rights) => App
}

/** A post. */
export interface Post extends Identified {
  readonly author: User
  /** Another post of the same author. */
  readonly post: User["post"]
}

/** A message. */
export interface Message extends Identified {
  readonly conversationId: string
}

/** A user, to whom things happen by calls that return the user again, or what was made. */
export interface User extends Identified {
  readonly username: string
  /** Takes the text alone, too. */
  readonly post: (post?: PostOptions | string) => Post
  readonly reply: (to: Identified, post?: PostOptions | string) => Post
  readonly quote: (post: Identified, options?: PostOptions | string) => Post
  readonly repost: (post: Identified) => Post
  /** Also a protected account, as if it had agreed. */
  readonly follows: (...users: ReadonlyArray<Identified>) => User
  /** Waits for protected accounts to agree. */
  readonly asksToFollow: (...users: ReadonlyArray<Identified>) => User
  /** Ends what both follow of each other. */
  readonly blocks: (...users: ReadonlyArray<Identified>) => User
  readonly mutes: (...users: ReadonlyArray<Identified>) => User
  readonly likes: (...posts: ReadonlyArray<Identified>) => User
  readonly bookmarks: (...posts: ReadonlyArray<Identified>) => User
  readonly pins: (post: Identified) => User
  readonly list: (list: ListOptions) => Identified
  readonly space: (space?: SpaceOptions) => Identified
  /** To one user, or to a new group of several. Takes the text alone, too. */
  readonly message: (to: Identified | ReadonlyArray<Identified>, message: MessageOptions | string) => Message
  /** Uploads media that no post shows yet; its id is one for `media_ids`. */
  readonly media: (type?: MediaType) => Identified
  /** Makes credentials of both kinds, and returns what a client takes to act for the user. */
  readonly settings: (grant?: Grant) => Settings & Required<Pick<Settings, "accessToken" | "accessTokenSecret">>
}

/** What a sandbox offers to those who arrange a test. */
export interface Fixtures {
  /** Makes a user. Throws when the username is taken. */
  readonly user: (user?: UserOptions) => User
  /** Makes an app. */
  readonly app: (app?: AppOptions) => App
  /** The user of the seed. */
  readonly ada: User
  /** What a client takes to act for ada with the credentials of the seed. */
  readonly settings: Settings & Required<Pick<Settings, "accessToken" | "accessTokenSecret">>
}

/** What fixtures are made in. */
export interface Place {
  readonly store: Store["Service"]
  readonly clock: ServiceClock
  readonly seeded: () => Seeded
  readonly baseUrl: () => string
}

/** The fixtures of a sandbox. `clear` makes their ids and secrets begin anew. */
export const make = ({ baseUrl, clock, seeded, store }: Place): Fixtures & { readonly clear: () => void } => {
  let made = 0
  const { credentials } = store

  /** The instant of what is made next. Hours that have passed count, so that it stays recent. */
  const next = (at: Instant | undefined): number => {
    made++
    if (at !== undefined) return instantOf(at)
    const passed = Math.floor((clock.now() - clock.origin()) / hour) * hour
    return Math.min(clock.origin() + passed - hour + made * 1_000, clock.now() - 31_000)
  }

  /** An id of this millisecond that no post has, for posts that are older than others. */
  const postId = (millis: number): string => {
    let id = Snowflake.fromMillis(millis)
    while (store.posts.byId(String(id)) !== undefined) id++
    return String(id)
  }

  /** A secret that was not given out before. */
  const secret = (length: number, isTaken: (text: string) => boolean): string => {
    for (let i = 0;; i++) {
      const text = random(i, `fixture ${++made} ${seeded().consumerKey}`).text(length)
      if (!isTaken(text)) return text
    }
  }
  const bearerToken = (length: number): string =>
    secret(length, (text) => credentials.bearerToken(Redacted.make(text)) !== undefined)

  const freeUsername = (): string => {
    for (let n = 1;; n++) if (store.users.byUsername(`user${n}`) === undefined) return `user${n}`
  }

  const upload = (ownerId: string, type: MediaType, createdAt: number): string =>
    store.attachments.insertMedia({ ownerId, type, createdAt, facts: facts(type) })

  const appOf = (consumerKey: string): Credentials.App => {
    const app = credentials.appByConsumerKey(consumerKey)
    if (app === undefined) throw new Error("The app is gone: the state was reset or restored")
    return app
  }

  const userOf = ({ id, username }: Seeded["ada"]): User => {
    const toEach = (set: (id: string) => unknown) => (...others: ReadonlyArray<Identified>): User => {
      for (const other of others) set(other.id)
      return self
    }
    const insert = (options: PostOptions, repost?: Identified): Post => {
      const { at, media = [], poll } = options
      return store.transaction(() => {
        const createdAt = next(at)
        const original = repost && existing(store.posts.byId(repost.id), repost)
        const text = original === undefined
          ? options.text ?? ""
          : `RT @${store.users.byId(original.author_id)?.username}: ${original.text}`
        const { choices, minutes = 1_440, votes = [] }: PollOptions = poll === undefined || "choices" in poll
          ? poll ?? { choices: [] }
          : { choices: poll }
        const postedId = store.posts.insert({
          authorId: id,
          text,
          createdAt,
          id: at === undefined ? undefined : postId(createdAt),
          inReplyToPostId: options.replyTo?.id,
          quotedPostId: options.quotes?.id,
          repostedPostId: original?.id,
          mediaKeys: store.attachments.mediaKeys(media.map((type) => upload(id, type, createdAt))),
          pollId: choices.length === 0
            ? undefined
            : store.attachments.insertPoll({ options: choices, votes, durationMinutes: minutes, createdAt }),
          lang: options.lang ?? original?.lang,
          replySettings: options.replySettings,
          possiblySensitive: options.sensitive,
          impressions: options.impressions
        })
        return { id: postedId, author: self, post: self.post }
      })
    }
    const self: User = {
      id,
      username,
      post: (post) => insert(written(post)),
      reply: (to, post) => insert({ ...written(post), replyTo: to }),
      quote: (post, options) => insert({ ...written(options), quotes: post }),
      repost: (post) => insert({}, post),
      follows: toEach((other) => store.follows.set(id, other, "following")),
      asksToFollow: toEach((other) => store.follows.set(id, other, "requested")),
      blocks: toEach((other) => store.blocks.set(id, other, true)),
      mutes: toEach((other) => store.mutes.set(id, other, true)),
      likes: toEach((post) => store.likes.set(id, post, true)),
      bookmarks: toEach((post) => store.bookmarks.set(id, post, true)),
      pins: (post) => {
        store.users.pin(id, post.id)
        return self
      },
      list: ({ at, followers = [], members = [], ...list }) =>
        store.transaction(() => {
          const listId = store.lists.insert({ ownerId: id, createdAt: next(at), ...list })
          for (const member of members) store.lists.setMember(listId, member.id, true)
          for (const follower of followers) store.lists.setFollower(listId, follower.id, true)
          return { id: listId }
        }),
      space: ({ at, buyers = [], lang, posts = [], speakers = [], state = "live", ticketed, title } = {}) =>
        store.transaction(() => {
          const createdAt = next(at)
          const spaceId = store.spaces.insert({
            creatorId: id,
            createdAt,
            title,
            lang,
            isTicketed: ticketed,
            scheduledStart: state === "scheduled" ? clock.now() + 24 * hour : undefined,
            startedAt: state === "scheduled" ? undefined : createdAt,
            endedAt: state === "ended" ? createdAt + 60_000 : undefined,
            people: {
              host_ids: [id],
              ...(speakers.length > 0 && { speaker_ids: speakers.map((speaker) => speaker.id) })
            }
          })
          for (const buyer of buyers) store.spaces.sell(spaceId, buyer.id)
          for (const post of posts) store.spaces.share(spaceId, post.id)
          return { id: spaceId }
        }),
      message: (to, message) => {
        const { at, media, text } = written(message)
        return store.transaction(() => {
          const createdAt = next(at)
          const conversationId = "id" in to
            ? store.messages.open(id, to.id)
            : store.messages.openGroup({ creatorId: id, participantIds: to.map((user) => user.id), createdAt })
          const mediaKey = media && store.attachments.mediaKeys([upload(id, media, createdAt)])[0]
          return {
            id: store.messages.insert({ conversationId, senderId: id, createdAt, text, mediaKey }),
            conversationId
          }
        })
      },
      media: (type = "photo") => ({ id: upload(id, type, next(undefined)) }),
      settings: ({ app, rights, scopes = Scopes.scopes } = {}) => {
        const owner = appOf(app?.settings.consumerKey ?? seeded().consumerKey)
        const granted = { appId: owner.id, userId: id, rights: rights ?? owner.rights }
        const token = bearerToken(72)
        const accessToken = secret(30, (text) => credentials.accessToken(`${id}-${text}`) !== undefined)
        const accessTokenSecret = secret(45, () => false)
        store.transaction(() => {
          credentials.insertBearerToken({ ...granted, token: Redacted.make(token), scopes })
          credentials.insertAccessToken({
            ...granted,
            token: `${id}-${accessToken}`,
            secret: Redacted.make(accessTokenSecret)
          })
        })
        return {
          baseUrl: baseUrl(),
          bearerToken: token,
          consumerKey: owner.consumerKey,
          consumerSecret: Redacted.value(owner.consumerSecret),
          accessToken: `${id}-${accessToken}`,
          accessTokenSecret
        }
      }
    }
    return self
  }

  return {
    user: ({ at, receivesMessages, taggable, username, verified, ...user } = {}) => {
      const createdAt = at === undefined ? next(undefined) - 365 * 24 * hour : next(at)
      const given = username ?? freeUsername()
      if (store.users.byUsername(given) !== undefined) throw new Error(`There is a user ${given} already`)
      const id = store.users.insert({
        name: given,
        ...user,
        username: given,
        createdAt,
        id: userId(store, createdAt),
        ...(verified !== undefined && { verifiedType: verified }),
        ...(taggable !== undefined && { photoTagging: taggable }),
        ...(receivesMessages !== undefined && { receivesDm: receivesMessages })
      })
      return userOf({ id, username: given })
    },
    app: ({ access = "research", name = "Fixture app", rights = "read-write-directmessages" } = {}) => {
      const consumerKey = secret(25, (text) => credentials.appByConsumerKey(text) !== undefined)
      const consumerSecret = secret(50, () => false)
      const token = bearerToken(104)
      const id = store.transaction(() => {
        const appId = credentials.insertApp({
          name,
          access,
          rights,
          consumerKey,
          consumerSecret: Redacted.make(consumerSecret),
          createdAt: next(undefined)
        })
        credentials.insertBearerToken({
          token: Redacted.make(token),
          appId,
          userId: undefined,
          rights,
          scopes: []
        })
        return appId
      })
      const app: App = {
        id,
        settings: { baseUrl: baseUrl(), bearerToken: token, consumerKey, consumerSecret },
        setRights: (rights) => {
          credentials.setRights(id, rights)
          return app
        }
      }
      return app
    },
    get ada() {
      return userOf(seeded().ada)
    },
    get settings() {
      const made = seeded()
      return {
        baseUrl: baseUrl(),
        bearerToken: Redacted.value(made.userBearerToken),
        consumerKey: made.consumerKey,
        consumerSecret: Redacted.value(made.consumerSecret),
        accessToken: Redacted.value(made.accessToken),
        accessTokenSecret: Redacted.value(made.accessTokenSecret)
      }
    },
    clear: () => {
      made = 0
    }
  }
}

const hour = 3_600_000

const instantOf = (at: Instant): number => {
  const millis = new Date(at).getTime()
  if (Number.isNaN(millis)) throw new RangeError(`${String(at)} is no instant`)
  return millis
}

const written = <Options extends object>(options: Options | string | undefined): Options & { readonly text?: string } =>
  typeof options === "string" ? { text: options } as Options & { readonly text: string } : { ...options } as Options

const existing = <A>(found: A | undefined, { id }: Identified): A => {
  if (found === undefined) throw new Error(`There is no post ${id}`)
  return found
}

const userId = (store: Store["Service"], millis: number): string => {
  let id = Snowflake.fromMillis(millis)
  while (store.users.byId(String(id)) !== undefined) id++
  return String(id)
}

const facts = (type: MediaType): MediaFacts => {
  const name = "https://media.sandbox.invalid/fixture"
  const size = { width: 1200, height: 800 }
  return type === "photo" ? { ...size, url: `${name}.jpg` } : {
    ...size,
    preview_image_url: `${name}.jpg`,
    variants: [{ bit_rate: 832_000, content_type: "video/mp4", url: `${name}.mp4` }],
    ...(type === "video" && { duration_ms: 10_000 })
  }
}
