/**
 * The state of the service. Everything is synchronous, and each function is one atomic step; `transaction` joins
 * several.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Activity from "./Activity.ts"
import * as Affiliates from "./Affiliates.ts"
import * as Attachments from "./Attachments.ts"
import * as AuthorizationCodes from "./AuthorizationCodes.ts"
import * as BookmarkFolders from "./BookmarkFolders.ts"
import * as Charges from "./Charges.ts"
import * as Chats from "./Chats.ts"
import * as Communities from "./Communities.ts"
import * as ComplianceJobs from "./ComplianceJobs.ts"
import * as Credentials from "./Credentials.ts"
import type { Database } from "./Database.ts"
import * as DatabaseFile from "./DatabaseFile.ts"
import * as Documents from "./Documents.ts"
import { NodeUnsupported } from "./Engine.ts"
import * as Follows from "./Follows.ts"
import * as Grants from "./Grants.ts"
import * as Layout from "./Layout.ts"
import * as Lists from "./Lists.ts"
import * as Messages from "./Messages.ts"
import * as Overview from "./Overview.ts"
import * as Posts from "./Posts.ts"
import * as PublicPosts from "./PublicPosts.ts"
import * as Reactions from "./Reactions.ts"
import * as RequestTokens from "./RequestTokens.ts"
import * as Restrictions from "./Restrictions.ts"
import * as Spaces from "./Spaces.ts"
import * as StoreEvents from "./StoreEvents.ts"
import * as StreamRules from "./StreamRules.ts"
import * as Timelines from "./Timelines.ts"
import * as Uploads from "./Uploads.ts"
import * as Users from "./Users.ts"
import * as Webhooks from "./Webhooks.ts"

/** The database file of a sandbox could not be opened: it is no database, is in use, or is not writable. The sandbox was not started. */
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

export interface Options {
  /** A file, created if it does not exist, or ":memory:". */
  readonly file: string
}

export type State = ReturnType<typeof stateOf>

/** The state of the service. */
export class Store extends Context.Service<
  Store,
  State & {
    /**
     * Replaces the state by a snapshot after `prepare` has run on it. Throws, and changes nothing, if the bytes are not a
     * database of a supported layout or `prepare` throws.
     */
    readonly restore: <A>(snapshot: Uint8Array, prepare: (next: State) => A) => A
  }
>()("@postwire/sandbox/store/Store") {
  /** Opens a store and closes it with the scope. Committed data survives a crash of the process. */
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

const stateOf = (database: Database) => {
  const credentials = Credentials.make(database)
  const events = StoreEvents.make(database)
  const grants = new Grants.Grants(database, credentials.replaced, events)
  const follows = Follows.make(database, events)
  return {
    users: Users.make(database, events),
    posts: Posts.make(database, events),
    timelines: Timelines.make(database),
    attachments: Attachments.make(database),
    uploads: Uploads.make(database),
    likes: Reactions.make(database, "likes", events),
    bookmarks: Reactions.make(database, "bookmarks", events),
    bookmarkFolders: BookmarkFolders.make(database),
    follows,
    /** A block ends the follows and the follow requests between the two. */
    blocks: Restrictions.make(database, "blocks", (sourceId, targetId, blocked) => {
      events.publish({ _tag: "Related", type: blocked ? "block.block" : "block.unblock", sourceId, targetId })
      if (!blocked) return
      follows.set(sourceId, targetId, "none")
      follows.set(targetId, sourceId, "none")
    }),
    /** Blocks of direct messages alone. */
    dmBlocks: Restrictions.make(database, "dm_blocks"),
    mutes: Restrictions.make(
      database,
      "mutes",
      (sourceId, targetId, muted) =>
        events.publish({ _tag: "Related", type: muted ? "mute.mute" : "mute.unmute", sourceId, targetId })
    ),
    lists: Lists.make(database),
    affiliates: Affiliates.make(database),
    communities: Communities.make(database),
    spaces: Spaces.make(database, events),
    messages: Messages.make(database, events),
    chats: Chats.make(database, events),
    complianceJobs: ComplianceJobs.make(database),
    documents: Documents.make(database, events),
    publicPosts: PublicPosts.make(database),
    credentials,
    charges: Charges.make(database),
    grants,
    authorizationCodes: AuthorizationCodes.make(database, grants),
    requestTokens: RequestTokens.make(database, credentials.replaced),
    streamRules: StreamRules.make(database),
    webhooks: Webhooks.make(database),
    activity: Activity.make(database),
    events,
    /** Runs `body` in a transaction: commits when it returns, rolls back when it throws. */
    transaction: database.transaction,
    /** Deletes everything. */
    clear: (): void => Layout.clear(database),
    /** Throws if the database is not writable. */
    touch: (): void => Layout.touch(database),
    /** Empties the log of writes after the current transaction: after a crash, a start reads all of it. */
    settle: (): void => database.afterCommit(() => database.exec("PRAGMA wal_checkpoint(TRUNCATE)")),
    /** Throws if the tables differ from those of this version or hold invalid contents. Reads the whole database. */
    verify: (): void => Layout.verify(database),
    /** The whole state as the bytes of an SQLite file. */
    snapshot: database.snapshot,
    /** The size of each collection. */
    counts: Layout.counter(database),
    /** The contents of the tables, regardless of visibility. */
    overview: Overview.make(database)
  }
}
