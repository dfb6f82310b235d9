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
import type { AccessLevel } from "@postwire/core/schema/Parameters"
import type { Scope } from "@postwire/core/schema/Scopes"
import type { MediaType } from "./store/Attachments.ts"
import type { Rights } from "./store/Credentials.ts"
import type { ReplySettings, Withheld } from "./store/Post.ts"
import type { SpaceState } from "./store/Spaces.ts"
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
  /** Where, and why, its text is not shown. */
  readonly withheld?: Withheld
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
  readonly rights?: Rights
  /** Whether it can keep a secret. Default `public`: it has none. */
  readonly kind?: "public" | "confidential"
  /** Where users who signed in are sent back to: exactly these. Default: those of the apps of the seed. */
  readonly redirects?: ReadonlyArray<string>
  /**
   * What becomes of a refresh token that is used twice: `strict` always ends the grant; `lenient`, the default, takes it
   * once more as long as nothing that it brought was used.
   */
  readonly rotation?: "lenient" | "strict"
  /** Whose app it is: what they read of their own has a lower price. Default: nobody's. */
  readonly owner?: { readonly id: string }
}

/** What a credential may do. */
export interface Grant {
  /** Default: the app of the seed. */
  readonly app?: App
  /** Default: those that the app has now. The credential keeps them when the app gets others. */
  readonly rights?: Rights
  /** Of the bearer token. Default: all. */
  readonly scopes?: ReadonlyArray<Scope>
}

/** An app. */
export interface App extends Identified {
  /** The credentials of the app alone. */
  readonly settings: Settings
  /** What it signs users in with; confidential ones have a secret. */
  readonly client: { readonly id: string; readonly secret?: string }
  /** What credentials from now on may do. */
  readonly setRights: (rights: Rights) => App
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
  /** Makes a folder of bookmarks, and bookmarks these posts into it. */
  readonly bookmarkFolder: (name: string, ...posts: ReadonlyArray<Identified>) => Identified
  readonly pins: (post: Identified) => User
  /** Takes the places of posts away, for ever. */
  readonly scrubsGeo: (...posts: ReadonlyArray<Identified>) => User
  /** The service takes the account away: nobody sees it, nor its posts. `false` ends that. */
  readonly suspended: (suspended?: boolean) => User
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
