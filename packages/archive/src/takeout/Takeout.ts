/**
 * Imports the archive that the service gives its users into a copy. What the copy has stays, and nothing is requested: an import
 * costs nothing, and the next sync reads only what came later.
 *
 * ```ts
 * const { added, problems } = yield* Takeout.run("twitter-2026-11-28.zip", { sources: [{ kind: "posts" }] })
 * ```
 */
import type { ExportError } from "@postwire/export/files/ExportErrors"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import * as Copy from "../copy/Copy.ts"
import { type CopyUnusable, type SyncRunning, TakeoutUnusable } from "../copy/CopyErrors.ts"
import * as layout from "../copy/Layout.ts"
import * as Media from "../media/Media.ts"
import { type KindName, kinds } from "../sources/Kinds.ts"
import { nameOf, type Source, subjectsOf } from "../sources/SyncFile.ts"
import { isPaged } from "../sync/Due.ts"
import * as windows from "../sync/Window.ts"
import * as elements from "./Elements.ts"
import * as parts from "./Parts.ts"

/** Settings of an import. */
export interface Options {
  /** The sources of later syncs, which continue after the archive. */
  readonly sources: ReadonlyArray<Source>
  /** The folder of media, or true for that beside the copy, to keep the files of the archive, too. Default false. */
  readonly media?: string | boolean | undefined
  /** Called after every batch of elements. */
  readonly onBatch?: ((summary: Summary) => Effect.Effect<void>) | undefined
}

/** The result of an import. */
export interface Summary {
  readonly username: string
  /** The elements that were read, and the rows that were new. */
  readonly items: number
  readonly added: number
  /** The files of media that were new. */
  readonly files: number
  /** Files that could not be read to their end, or have elements of another form. The rest was imported. */
  readonly problems: ReadonlyArray<{ readonly file: string; readonly reason: string }>
}

export type TakeoutError = ExportError | SqlError | SyncRunning | TakeoutUnusable | CopyUnusable

/** Imports an archive. A killed import is continued by the next one, and importing it again changes nothing. */
export const run = (path: string, options: Options): Effect.Effect<Summary, TakeoutError, Copy.Current> =>
  Effect.scoped(running(path, options))

/** The objects and relations of an element. */
interface Taken {
  readonly posts?: ReadonlyArray<object>
  /** Posts whose text may be cut. */
  readonly previews?: ReadonlyArray<object>
  readonly media?: ReadonlyArray<object>
  readonly messages?: ReadonlyArray<object>
  readonly edges?: ReadonlyArray<Copy.Edge>
  /** The post, which may be the newest one. */
  readonly newest?: { readonly id: string; readonly created_at: string }
}

/** The files that hold a kind of source. */
interface Reader {
  readonly kind: KindName
  readonly files: RegExp
  readonly take: (element: unknown) => Option.Option<Taken>
}

const reader = <A>(
  kind: KindName,
  names: string,
  element: Schema.Decoder<A>,
  take: (element: A) => Taken
): Reader => {
  const decode = Schema.decodeUnknownOption(element)
  return { kind, files: new RegExp(`^(${names})(-part\\d+)?\\.js$`), take: (value) => Option.map(decode(value), take) }
}

const readersOf = (me: string, note: (text: string, millis: number) => string | undefined): ReadonlyArray<Reader> => [
  reader("posts", "tweets?|community-tweet", elements.PostElement, (element) => {
    const { isCut, media, post } = elements.postOf(element, me, note)
    return { [isCut ? "previews" : "posts"]: [post], media, newest: post }
  }),
  reader("likes", "like", elements.LikeElement, ({ like }) => ({
    previews: [elements.previewOf(like)],
    edges: [{ kind: "likes", from: me, to: like.tweetId }]
  })),
  reader("bookmarks", "bookmarks?", elements.BookmarkElement, ({ bookmark }) => ({
    previews: [elements.previewOf(bookmark)],
    edges: [{ kind: "bookmarks", from: me, to: bookmark.tweetId }]
  })),
  reader("followers", "follower", elements.FollowerElement, ({ follower }) => ({
    edges: [{ kind: "follows", from: follower.accountId, to: me }]
  })),
  reader("following", "following", elements.FollowingElement, ({ following }) => ({
    edges: [{ kind: "follows", from: me, to: following.accountId }]
  })),
  reader("messages", "direct-messages(-group)?", elements.ConversationElement, (conversation) => {
    const messages = elements.messagesOf(conversation)
    return { messages, edges: messages.map(({ id }) => ({ kind: "messages", from: me, to: id })) }
  })
]

const running = Effect.fnUntraced(function*(
  path: string,
  { media = false, onBatch = () => Effect.void, sources }: Options
): Effect.fn.Return<Summary, TakeoutError, Copy.Current | Scope.Scope> {
  const copy = yield* Copy.hold(yield* Copy.Current)
  const opened = yield* parts.open(path)
  const problems: Array<Summary["problems"][number]> = []
  const all = <A>(names: RegExp, element: Schema.Decoder<A>) =>
    Effect.gen(function*() {
      const decode = Schema.decodeUnknownOption(element)
      const found: Array<A> = []
      for (const name of opened.names.filter((name) => names.test(name))) {
        yield* Stream.runForEach(read(opened, name), (value) =>
          Effect.sync(() => found.push(...Option.toArray(decode(value))))).pipe(
            Effect.catch((reason) =>
              Effect.sync(() => problems.push({ file: name, reason }))
            )
          )
      }
      return found
    })
  const [account] = yield* all(/^account\.js$/, elements.AccountElement)
  if (account === undefined) {
    return yield* new TakeoutUnusable({ path, reason: "it has no data/account.js with an account" })
  }
  const [profile] = yield* all(/^profile\.js$/, elements.ProfileElement)
  const note = elements.noteFinder(yield* all(/^note-tweet(-part\d+)?\.js$/, elements.NoteElement))
  const { accountId: id, username } = account.account
  yield* Copy.write(copy, { objects: { users: [elements.userOf(account, profile?.profile)] }, isArchived: true })
  let counts = { items: 0, added: 0 }
  const complete = new Map<KindName, State>()
  for (const own of readersOf(id, note)) {
    const states: Array<State> = []
    const files = opened.names.filter((name) => own.files.test(name))
    for (const file of files) {
      const state = yield* importFile(copy, opened, file, own, (items, added) => {
        counts = { items: counts.items + items, added: counts.added + added }
        return onBatch({ username, ...counts, files: 0, problems })
      }).pipe(Effect.catchTag("Malformed", ({ reason }) => Effect.sync(() => void problems.push({ file, reason }))))
      if (state === undefined) continue
      if (state.malformed > 0) problems.push({ file, reason: `${state.malformed} elements have another form` })
      else states.push(state)
    }
    if (files.length > 0 && states.length === files.length) complete.set(own.kind, states.reduce(later))
  }
  yield* settle(copy, sources, account.account, complete)
  const files = media === false ? 0 : yield* importMedia(copy, opened, media === true ? undefined : media, problems)
  return { username, ...counts, files, problems }
})

class Malformed extends Schema.TaggedError<Malformed>()("Malformed", { reason: Schema.String }) {}

const read = (opened: parts.Parts, name: string): Stream.Stream<unknown, string> =>
  Stream.fromAsyncIterable(opened.elements(name), parts.messageOf)

/** The progress of a file. */
const State = Schema.Struct({
  count: Schema.Int,
  malformed: Schema.Int,
  isDone: Schema.Boolean,
  newest: Schema.optionalKey(Schema.Struct({ id: Schema.String, created_at: Schema.String }))
})

interface State extends Schema.Schema.Type<typeof State> {}

const json = Schema.fromJsonString(State)

const isLater = (id: string, than: string | undefined): boolean => than === undefined || BigInt(id) > BigInt(than)

const later = <S extends Pick<State, "newest">>(a: S, b: Pick<Taken, "newest">): S =>
  b.newest !== undefined && isLater(b.newest.id, a.newest?.id) ? { ...a, newest: b.newest } : a

/** The name of its progress, which no source of a file can have. */
const source = " import"

/** The elements of a transaction. */
const batchSize = 500

/** The posts that are gone. Not even their media return. */
const goneOf = (
  { dialect, sql }: Copy.Copy,
  taken: ReadonlyArray<Taken>
): Effect.Effect<ReadonlySet<string>, SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly id: string }>(
      `SELECT id FROM posts WHERE gone IS NOT NULL AND id IN (SELECT v.value->>0 FROM ${layout.elements(dialect, 1)})`,
      [JSON.stringify(taken.flatMap(({ newest }) => newest === undefined ? [] : [[newest.id]]))]
    ),
    (rows) => new Set(rows.map(({ id }) => id))
  )

/** Imports the rest of a file. */
const importFile = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  opened: parts.Parts,
  file: string,
  { take }: Reader,
  onBatch: (items: number, added: number) => Effect.Effect<void>
): Effect.fn.Return<State, Malformed | SqlError> {
  const subject = opened.identity(file)
  const known = (yield* Copy.progressOf(copy, source)).get(subject)
  let state = Option.getOrElse(
    Schema.decodeUnknownOption(json)(known),
    (): State => ({ count: 0, malformed: 0, isDone: false })
  )
  if (state.isDone) return state
  const progress = () => ({ source, subject, state: Schema.encodeSync(json)(state) })
  const batch = Effect.fnUntraced(function*(values: ReadonlyArray<unknown>) {
    const all = values.map(take).flatMap(Option.toArray)
    const gone = yield* goneOf(copy, all)
    const found = all.filter(({ newest }) => newest === undefined || !gone.has(newest.id))
    const of = (key: "posts" | "previews" | "media" | "messages") => found.flatMap((taken) => taken[key] ?? [])
    const previews = yield* Copy.write(copy, { objects: { posts: of("previews") }, isPreview: true, isArchived: true })
    state = all.reduce(later<State>, {
      ...state,
      count: state.count + values.length,
      malformed: state.malformed + values.length - all.length
    })
    const { added } = yield* Copy.write(copy, {
      objects: { posts: of("posts"), media: of("media"), messages: of("messages") },
      edges: found.flatMap(({ edges = [] }) => edges),
      isArchived: true,
      progress: progress()
    })
    yield* onBatch(values.length, previews.added + added)
  })
  yield* read(opened, file).pipe(
    Stream.mapError((reason) => new Malformed({ reason })),
    Stream.drop(state.count),
    Stream.grouped(batchSize),
    Stream.runForEach(batch)
  )
  state = { ...state, isDone: true }
  yield* Copy.write(copy, { objects: {}, progress: progress() })
  return state
})

/** Imports the files of media. Each has the id of its post and its own name. */
const importMedia = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  opened: parts.Parts,
  folder: string | undefined,
  problems: Array<Summary["problems"][number]>
): Effect.fn.Return<number, ExportError | SqlError | CopyUnusable> {
  yield* Media.makeFolder(copy, folder)
  let count = 0
  for (const file of opened.names) {
    const [, post, name] = /^tweets_media\/(\d+)-([\w-]+\.\w+)$/.exec(file) ?? []
    if (post === undefined || name === undefined) continue
    const content = Stream.unwrap(Effect.map(
      Effect.tryPromise({ try: () => opened.read(file), catch: malformed }),
      (bytes) => Stream.fromAsyncIterable<Uint8Array, Malformed>(bytes, malformed)
    ))
    const isKept = yield* Effect.scoped(Media.adopt(copy, post, name, content)).pipe(
      Effect.catchTag(
        ["Malformed", "NotFetched"],
        ({ reason }) => Effect.as(Effect.sync(() => problems.push({ file, reason })), false)
      )
    )
    if (isKept) count++
  }
  return count
})

const malformed = (cause: unknown) => new Malformed({ reason: parts.messageOf(cause) })

/**
 * Lets later syncs continue after the archive: posts begin after its newest one, and lists count as read completely, so that they
 * are read from the newest item down to those of the archive.
 */
const settle = Effect.fnUntraced(function*(
  copy: Copy.Copy,
  sources: ReadonlyArray<Source>,
  { accountId: id, username }: { readonly accountId: string; readonly username: string },
  complete: ReadonlyMap<KindName, State>
): Effect.fn.Return<void, SqlError> {
  const now = yield* Clock.currentTimeMillis
  const own = new Set(["me", id, `@${username.toLowerCase()}`])
  // An archive does not say when it was made.
  const { created_at: at } = complete.get("posts")?.newest ?? {}
  for (const source of sources) {
    const found = isPaged(source.kind) ? complete.get(source.kind) : undefined
    if (found === undefined || !isPaged(source.kind)) continue
    const known = yield* Copy.progressOf(copy, nameOf(source))
    for (const subject of subjectsOf(source).filter((subject) => own.has(subject.toLowerCase()))) {
      const state = windows.stateOf(known.get(subject))
      const { newest } = found
      const after = kinds[source.kind].how === "since"
        ? newest !== undefined && isLater(newest.id, state.newest) && { newest: newest.id, newestAt: newest.created_at }
        : state.fullAt === undefined && { fullAt: now }
      // An open window continues from its own start.
      if (after === false || state.window !== undefined) continue
      const progress = windows.progressOf({ source: nameOf(source), subject }, {
        ...at === undefined ? {} : { doneAt: Date.parse(at) },
        ...state,
        id,
        ...after
      })
      yield* Copy.write(copy, { objects: {}, progress })
    }
  }
})
