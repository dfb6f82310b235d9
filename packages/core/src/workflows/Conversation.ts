/**
 * Reads conversations: the first post and all replies at any depth, found by search. Replies that a search does not return are
 * looked up if another post replies to them. Missing posts are reported: deleted, protected, or out of the search's reach.
 *
 * @stability experimental
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { CallOptions } from "../client/CallOptions.ts"
import type { Client } from "../client/Client.ts"
import { type AnyError, invalidParameter, InvalidParameters } from "../errors/Errors.ts"
import { getPosts } from "../operations/Posts.ts"
import { searchAllPosts, searchRecentPosts } from "../operations/Search.ts"
import { idPattern } from "../schema/Codecs.ts"
import type { Media as MediaModel } from "../schema/models/Media.ts"
import type { Post as PostModel } from "../schema/models/Post.ts"
import { ofOmitted, type Problem } from "../schema/models/Problem.ts"
import type { User as UserModel } from "../schema/models/User.ts"
import type { RateLimitInfo } from "../schema/RateLimitHeaders.ts"
import { idsPerRequest, outcomeOf } from "./Hydrate.ts"
import * as Ancestry from "./internal/ancestry.ts"
import {
  type Author,
  type Conversation,
  type Missing,
  type MissingReason,
  type OutOfReach,
  type Part,
  type Post,
  treeOf
} from "./internal/conversationTree.ts"

export * from "./internal/conversationTree.ts"

/** Options of reading a conversation. */
export interface Options extends Pick<CallOptions, "timeout" | "retries"> {
  /** Fields of posts besides the required ones: `author_id`, `conversation_id`, `created_at` and so on. */
  readonly post_fields?: ReadonlyArray<typeof PostModel.selectable[number]> | undefined
  /** Fields of authors besides `id`, `name` and `username`. */
  readonly user_fields?: ReadonlyArray<typeof UserModel.selectable[number]> | undefined
  /** Expansions of each post. */
  readonly expansions?: ReadonlyArray<keyof typeof PostModel.expansions & string> | undefined
  /** Fields of media, if `expansions` include them. */
  readonly media_fields?: ReadonlyArray<typeof MediaModel.selectable[number]> | undefined
  /**
   * Searches the whole archive; the app needs access. Default false: replies of the last seven days, and older ones they reply to.
   */
  readonly archive?: boolean | undefined
  /** Reads authors too; the service may charge for each. Default true. */
  readonly authors?: boolean | undefined
  /** As in the search; the archive accepts a bearer token only. */
  readonly user_auth?: boolean | undefined
}

/** A conversation that was found, with the parameters and the first of its pages. */
export interface Opened {
  /** The id of its first post. */
  readonly id: string
  /** The fields and expansions of every post. */
  readonly selection: ReturnType<typeof selectionOf>
  /** The parameters of the search for replies. */
  readonly query: { readonly query: string; readonly max_results: number; readonly start_time?: string }
  readonly archive: boolean
  /** The time of its first post, if the service shows that. */
  readonly since: string | undefined
  /** Its first post and the requested one. */
  readonly first: Page
}

/** A page of a conversation. */
export interface Page {
  readonly items: ReadonlyArray<Post>
  /** Expanded objects by kind. */
  readonly includes: Readonly<Record<string, ReadonlyArray<object>>>
  /** Problems with objects that the service does not return. */
  readonly errors: ReadonlyArray<object>
  /** Posts that were looked up and are missing. */
  readonly missing: ReadonlyArray<Missing>
  readonly outOfReach?: OutOfReach | undefined
  /** The cursor of the next page, valid in other processes too; `undefined` at the end. */
  readonly next: string | undefined
  readonly rateLimit: RateLimitInfo | undefined
}

const operation = "getConversation"

/** Fields that determine the place and time of a post. */
const fields = ["author_id", "conversation_id", "created_at", "public_metrics", "referenced_posts"] as const

const selectionOf = (
  { authors = true, expansions = [], media_fields = [], post_fields = [], user_fields = [] }: Options
) => ({
  post_fields: [...new Set([...fields, ...post_fields])],
  user_fields,
  media_fields,
  expansions: [...new Set([...authors ? ["author_id" as const] : [], ...expansions])]
})

/** The time of the service's first post, where the archive begins. */
const firstPost = "2006-03-26T00:00:01Z"

const largestPage = { recent: 100, archive: 500, withAnnotations: 100 }

/** Looks up posts by id. */
const look = Effect.fnUntraced(function*(
  ids: ReadonlyArray<string | number | bigint>,
  selection: Opened["selection"],
  { retries, timeout, user_auth }: Options
) {
  const { data: items = [], errors, includes, rateLimit } = yield* getPosts(
    { ids, ...selection, user_auth },
    { timeout, retries }
  )
  const shown = new Set(items.map(({ id }) => id))
  const missing = ids.map(String).filter((id) => !shown.has(id)).map((id) => missingOf(id, errors))
  return {
    items,
    includes: { ...includes },
    errors: [...errors, ...ofOmitted(ids.map(String), items, errors)],
    missing,
    next: undefined,
    rateLimit
  } satisfies Page
})

const missingOf = (id: string, errors: ReadonlyArray<Problem>): Missing => {
  const problem = errors.find(({ resource_id, value }) => resource_id === id || value === id)
  return { id, reason: reasonOf(problem), detail: problem?.detail ?? problem?.title }
}

const reasonOf = (problem: Problem | undefined): MissingReason => {
  const outcome = problem && outcomeOf(problem)
  return outcome === "suspended" || outcome === "deleted" || outcome === "protected" ? outcome : "unavailable"
}

const isId = (id: unknown): id is string | number | bigint =>
  (typeof id === "string" || typeof id === "number" || typeof id === "bigint") && idPattern.test(String(id))

/** Renames the operation in errors about parameters. */
const inOwnName = (error: AnyError): AnyError => {
  if (!(error instanceof InvalidParameters)) return error
  const { parameter, rule, value } = error
  return new InvalidParameters({ operation, parameter, rule, value })
}

/**
 * Finds the conversation of a post with one request, or with two if the post is not its first. A post that the service does not
 * show is treated as the first of its own conversation.
 */
export const open = (id: string | number | bigint, options: Options = {}): Effect.Effect<Opened, AnyError, Client> =>
  Effect.mapError(opening(id, options), inOwnName)

const opening = Effect.fnUntraced(function*(id: string | number | bigint, options: Options) {
  const { archive = false } = options
  if (!isId(id)) return yield* invalidParameter(operation, "id", "must be an id: 1 to 19 digits", id)
  const selection = selectionOf(options)
  const found = yield* look([id], selection, options)
  const [asked] = found.items
  const root = String(isId(asked?.conversation_id) ? asked.conversation_id : id)
  const isOther = asked !== undefined && asked.id !== root
  const other = isOther ? yield* look([root], selection, options) : undefined
  const [first] = other === undefined ? found.items : other.items
  const since = Number.isNaN(Date.parse(first?.created_at ?? "")) ? undefined : first?.created_at
  const opened: Opened = {
    id: root,
    selection,
    archive,
    since,
    query: {
      query: `conversation_id:${root}`,
      max_results: !archive
        ? largestPage.recent
        : selection.post_fields.includes("context_annotations")
        ? largestPage.withAnnotations
        : largestPage.archive,
      ...(archive ? { start_time: since ?? firstPost } : {})
    },
    first: other === undefined ? found : {
      ...found,
      items: [...other.items, ...found.items],
      includes: merged(other.includes, found.includes),
      errors: [...other.errors, ...found.errors],
      missing: other.missing
    }
  }
  return opened
})

const merged = (some: Page["includes"], others: Page["includes"]): Page["includes"] => {
  const all = new Map(Object.entries(some))
  for (const [bucket, objects] of Object.entries(others)) all.set(bucket, [...all.get(bucket) ?? [], ...objects])
  return Object.fromEntries(all)
}

/** The pages of a search from a token on. */
export type Search = (token: string | undefined) => Stream.Stream<Omit<Page, "missing">, AnyError, Client>

/** The search of a conversation. */
const searchOf =
  ({ archive, query, selection, since }: Opened, { retries, timeout, user_auth }: Options): Search => (next_token) => {
    const parameters = { ...query, ...selection, next_token }
    const options = { timeout, retries }
    // The archive is searched from a start time.
    const reach = archive ? undefined : searchRecentPosts.definition.reach
    let isFirst = next_token === undefined
    return (archive
      ? searchAllPosts.pages(parameters, options)
      : searchRecentPosts.pages({ ...parameters, user_auth }, options)).pipe(
        Stream.mapEffect(({ data: items = [], errors, includes, meta, rateLimit }) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            const reached = reach === undefined || !isFirst ? undefined : secondsOf(now - reach.days * dayMillis)
            isFirst = false
            return {
              items,
              includes: { ...includes },
              errors,
              next: meta.next_token || undefined,
              rateLimit,
              outOfReach: reached === undefined || since === undefined || secondsOf(Date.parse(since)) >= reached
                ? undefined
                : { from: since, to: reached }
            }
          })
        )
      )
  }

const dayMillis = 86_400_000

const secondsOf = (millis: number): string => `${new Date(millis).toISOString().slice(0, 19)}Z`

/**
 * The pages of a conversation from a cursor on: its first post, search results, and posts that the search does not return but
 * others reply to. No post comes twice, even if pages are read by several processes.
 */
export const pages = (
  opened: Opened,
  options: Options = {},
  cursor?: string,
  search: Search = searchOf(opened, options)
): Stream.Stream<Page, AnyError, Client> =>
  Stream.suspend(() => {
    const place = cursor === undefined ? undefined : Ancestry.decode(cursor)
    const { first, selection } = opened
    const ancestry = place?.ancestry ?? { wanted: new Set<string>(), known: new Set<string>() }
    const begun = new Set([opened.id, ...first.items.map(({ id }) => id)])
    const nextOf = (token: string | undefined): string | undefined =>
      token !== undefined
        ? Ancestry.encode({ stage: "search", token, ancestry })
        : ancestry.wanted.size > 0
        ? Ancestry.encode({ stage: "lookup", token, ancestry })
        : undefined

    const beginning = Stream.sync((): Page => {
      Ancestry.giveUp(ancestry, [...begun])
      Ancestry.note(ancestry, first.items)
      return { ...first, next: Ancestry.encode({ stage: "search", token: undefined, ancestry }) }
    })

    const searched = Stream.suspend(() => search(place?.token)).pipe(Stream.map((page): Page => {
      const items = page.items.filter(({ id }) => !begun.has(id))
      Ancestry.note(ancestry, items)
      return { ...page, items, missing: [], next: nextOf(page.next) }
    }))

    const lookedUp = Stream.paginate(undefined, () =>
      Effect.gen(function*() {
        const ids = [...ancestry.wanted].sort(Ancestry.byAge).slice(-idsPerRequest)
        if (ids.length === 0) return [[], Option.none()] as const
        const page = yield* look(ids, selection, options)
        Ancestry.giveUp(ancestry, ids)
        Ancestry.note(ancestry, page.items)
        const next = nextOf(undefined)
        return [[{ ...page, next }], next === undefined ? Option.none() : Option.some(undefined)] as const
      }))

    return (place === undefined ? beginning : Stream.empty).pipe(
      Stream.concat(place?.stage === "lookup" ? Stream.empty : searched),
      Stream.concat(lookedUp),
      Stream.mapError(inOwnName)
    )
  })

const isAuthor = (user: object): user is Author => "id" in user

/** Checks that an item of a search is a post, which has an id. */
export const isPost = (item: object): item is Post => "id" in item

/** The parts of a page. */
const partsOf = ({ includes, items, missing, outOfReach }: Page): ReadonlyArray<Part> => {
  const authors = new Map(includes["users"]?.filter(isAuthor).map((user) => [user.id, user]))
  return [
    ...outOfReach === undefined ? [] : [{ _tag: "OutOfReach", ...outOfReach } as const],
    ...items.map((post) => ({ _tag: "Post", post, author: authors.get(post.author_id ?? "") } as const)),
    ...missing.map((post) => ({ _tag: "Missing", ...post } as const))
  ]
}

/** Reads conversations. */
export interface GetConversation {
  /** The whole conversation of any of its posts, as a tree. */
  (id: string | number | bigint, options?: Options): Effect.Effect<Conversation, AnyError, Client>
  /** The same as a Stream of parts: the first post, then the newest ones. */
  readonly parts: (id: string | number | bigint, options?: Options) => Stream.Stream<Part, AnyError, Client>
}

/** The parts of a conversation that was found. */
export const partsIn = (opened: Opened, options: Options): Stream.Stream<Part, AnyError, Client> =>
  Stream.flatMap(pages(opened, options), (page) => Stream.fromIterable(partsOf(page)))

/**
 * Reads the conversation of a post: its first post and all visible replies at any depth. Searches count towards the project's post
 * cap, and the service may charge for every post and author.
 *
 * ```ts
 * const { nodes, missing } = yield* getConversation("1460323737035677698")
 * ```
 */
export const getConversation: GetConversation = /*#__PURE__*/ Object.assign(
  (id: string | number | bigint, options: Options = {}) =>
    Effect.flatMap(
      open(id, options),
      (opened) => Effect.map(Stream.runCollect(partsIn(opened, options)), (parts) => treeOf(opened.id, parts))
    ),
  {
    parts: (id: string | number | bigint, options: Options = {}) =>
      Stream.unwrap(Effect.map(open(id, options), (opened) => partsIn(opened, options)))
  }
)
