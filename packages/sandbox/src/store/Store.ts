/**
 * The state of the service. Everything is synchronous, and each function is one atomic step; `transaction` joins
 * several.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Affiliates from "./Affiliates.ts"
import * as Attachments from "./Attachments.ts"
import * as AuthorizationCodes from "./AuthorizationCodes.ts"
import * as BookmarkFolders from "./BookmarkFolders.ts"
import * as Charges from "./Charges.ts"
import * as Communities from "./Communities.ts"
import * as ComplianceJobs from "./ComplianceJobs.ts"
import * as Credentials from "./Credentials.ts"
import type { Database } from "./Database.ts"
import * as DatabaseFile from "./DatabaseFile.ts"
import { NodeUnsupported } from "./Engine.ts"
import * as Follows from "./Follows.ts"
import * as Grants from "./Grants.ts"
import * as Happenings from "./Happenings.ts"
import * as Layout from "./Layout.ts"
import * as Lists from "./Lists.ts"
import * as Marks from "./Marks.ts"
import * as Messages from "./Messages.ts"
import * as Overview from "./Overview.ts"
import * as Posts from "./Posts.ts"
import * as RequestTokens from "./RequestTokens.ts"
import * as Spaces from "./Spaces.ts"
import * as StreamRules from "./StreamRules.ts"
import * as Talk from "./Talk.ts"
import * as Ties from "./Ties.ts"
import * as Timelines from "./Timelines.ts"
import * as Uploads from "./Uploads.ts"
import * as Users from "./Users.ts"

/** The file of the store could not be opened. */
export class StoreUnavailable
  extends Schema.TaggedError<StoreUnavailable>("@postwire/sandbox/store/Store/StoreUnavailable")(
    "StoreUnavailable",
    { file: Schema.String, cause: Schema.Defect() }
  )
{
  override get message() {
    return `Cannot open ${this.file}`
  }
}

/** Where a store keeps its state. */
export interface Options {
  /** A file, made when it does not exist, or ":memory:". */
  readonly file: string
}

/** What there is, to read and to change. */
export interface State {
  readonly users: Users.Users
  readonly posts: Posts.Posts
  readonly timelines: Timelines.Timelines
  readonly attachments: Attachments.Attachments
  readonly uploads: Uploads.Uploads
  readonly likes: Marks.Marks
  readonly bookmarks: Marks.Marks
  readonly bookmarkFolders: BookmarkFolders.BookmarkFolders
  readonly follows: Follows.Follows
  /** A block ends the follows and the follow requests between the two. */
  readonly blocks: Ties.Ties
  /** Blocks of direct messages alone. */
  readonly dmBlocks: Ties.Ties
  readonly mutes: Ties.Ties
  readonly lists: Lists.Lists
  readonly affiliates: Affiliates.Affiliates
  readonly communities: Communities.Communities
  readonly spaces: Spaces.Spaces
  readonly messages: Messages.Messages
  readonly complianceJobs: ComplianceJobs.ComplianceJobs
  readonly talk: Talk.Talk
  readonly credentials: Credentials.Credentials
  readonly charges: Charges.Charges
  readonly grants: Grants.Grants
  readonly authorizationCodes: AuthorizationCodes.AuthorizationCodes
  readonly requestTokens: RequestTokens.RequestTokens
  readonly streamRules: StreamRules.StreamRules
  readonly happenings: Happenings.Happenings
  /** Runs `body` as one atomic write: all of it is kept when it returns, nothing when it throws. */
  readonly transaction: <A>(body: () => A) => A
  /** Forgets everything. */
  readonly clear: () => void
  /** Writes what is there already; throws when nothing can be written. */
  readonly touch: () => void
  /** Throws when the tables are others than this version makes, or hold what it would not write. Reads all there is. */
  readonly verify: () => void
  /** Everything there is, as the bytes of an SQLite file. */
  readonly snapshot: () => Uint8Array
  /** How many there are of what a service holds. */
  readonly counts: () => Layout.Counts
  /** What is in the tables, whoever may see it. */
  readonly overview: Overview.Overview
}

/** The state of the service. */
export class Store extends Context.Service<
  Store,
  State & {
    /**
     * Puts the state of a snapshot in the place of this one, once `prepare` has made what is needed of it. Throws, and
     * leaves this one as it is, when it is no database of a layout that can be read or `prepare` throws.
     */
    readonly restore: <A>(snapshot: Uint8Array, prepare: (next: State) => A) => A
  }
>()("@postwire/sandbox/store/Store") {
  /** Opens a store and closes it with the scope. What was written before a crash of the process is there again. */
  static readonly open = (
    options: Options
  ): Effect.Effect<Store["Service"], StoreUnavailable | NodeUnsupported, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.try({
        try: () => connect(options),
        catch: (cause) => cause instanceof NodeUnsupported ? cause : new StoreUnavailable({ file: options.file, cause })
      }),
      ({ database }) => Effect.sync(database.close)
    ).pipe(Effect.map(({ store }) => store))

  static readonly layer = (options: Options): Layer.Layer<Store, StoreUnavailable | NodeUnsupported> =>
    Layer.effect(Store, Store.open(options))
}

const connect = ({ file }: Options) => {
  const database = DatabaseFile.open(file, Layout.create)
  const state = stateOf(database)
  const store = Store.of({
    ...state,
    restore: (snapshot, prepare) => {
      Layout.check(snapshot)
      const prepared = database.restore(snapshot, (next) => {
        Layout.update(next)
        return prepare(stateOf(next))
      })
      state.credentials.replaced()
      return prepared
    }
  })
  return { database, store }
}

const stateOf = (database: Database): State => {
  const follows = Follows.make(database)
  const credentials = Credentials.make(database)
  const grants = Grants.make(database, credentials.replaced)
  const happenings = Happenings.make(database)
  return {
    users: Users.make(database, happenings),
    posts: Posts.make(database, happenings),
    timelines: Timelines.make(database),
    attachments: Attachments.make(database),
    uploads: Uploads.make(database),
    likes: Marks.make(database, "likes", happenings),
    bookmarks: Marks.make(database, "bookmarks", happenings),
    bookmarkFolders: BookmarkFolders.make(database),
    follows,
    blocks: Ties.make(database, "blocks", (sourceId, targetId) => {
      follows.set(sourceId, targetId, "none")
      follows.set(targetId, sourceId, "none")
    }),
    dmBlocks: Ties.make(database, "dm_blocks"),
    mutes: Ties.make(database, "mutes"),
    lists: Lists.make(database),
    affiliates: Affiliates.make(database),
    communities: Communities.make(database),
    spaces: Spaces.make(database),
    messages: Messages.make(database),
    complianceJobs: ComplianceJobs.make(database),
    talk: Talk.make(database),
    credentials,
    charges: Charges.make(database),
    grants,
    authorizationCodes: AuthorizationCodes.make(database, grants),
    requestTokens: RequestTokens.make(database, credentials.replaced),
    streamRules: StreamRules.make(database),
    happenings,
    transaction: database.transaction,
    clear: () => Layout.clear(database),
    touch: () => Layout.touch(database),
    verify: () => Layout.verify(database),
    snapshot: database.snapshot,
    counts: Layout.counter(database),
    overview: Overview.make(database)
  }
}
