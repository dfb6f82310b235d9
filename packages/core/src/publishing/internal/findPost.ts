/** Looks for a post of unknown outcome among those of its author, for as long as it may take to appear there. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Client } from "../../client/Client.ts"
import type { AnyError, MissingAccessToken } from "../../errors/Errors.ts"
import { getPost } from "../../operations/Posts.ts"
import { getUsersPosts } from "../../operations/Timelines.ts"
import * as Monotonic from "../../runtime/Monotonic.ts"
import * as SamePost from "./samePost.ts"

/** The post to look for. */
export type Wanted = Place & (SamePost.Sent | SamePost.SentArticle)

/** The part of a timeline that may have it. */
interface Place {
  readonly authorId: string
  /** The id of a post that is certainly older. */
  readonly after: string | undefined
  /** The time from which posts are read if no older post is known, in milliseconds. */
  readonly from: number
  /** The id of the part before. A timeline without it does not show later posts yet. */
  readonly witness: string | undefined
}

/** The limits of a search. */
export interface Terms {
  /** Milliseconds in which a post appears. */
  readonly lag: number
  /** Milliseconds of these that are left; negative if they have passed. */
  readonly wait: number
  readonly user_auth: boolean | undefined
}

/** The result of a search. */
export type Finding =
  | { readonly _tag: "Found"; readonly id: string; readonly text: string }
  /** It is absent, and would have appeared. */
  | { readonly _tag: "Absent"; readonly looks: number }
  /** The part before was deleted. */
  | { readonly _tag: "Broken" }
  | {
    readonly _tag: "Unclear"
    readonly reason: "unreadable" | "lagging" | "crowded"
    readonly looks: number
    readonly detail?: string | undefined
  }

/** Default of `lag` in milliseconds: how long a post may take to appear in its author's timeline. */
export const defaultLag = 60_000

/** The difference of clocks that a search for a post allows for if equal ones may be older, in milliseconds. */
export const clockMargin = 60_000

/** Most posts of one author that are compared. */
const maxPosts = 1_000

/** The first pause as a fraction of the lag. Each pause is twice the one before, so the seventh look is the last. */
const firstPause = 1 / 63

/** Least number of looks, however long ago the post was sent. */
const leastLooks = 2

/** Looks for a post until it is found or would have appeared. */
export const find = Effect.fnUntraced(
  function*(wanted: Wanted, terms: Terms): Effect.fn.Return<Finding, never, Client> {
    const { lag, wait } = terms
    const begun = yield* Monotonic.millis
    let pause = Math.ceil(lag * firstPause)
    for (let looks = 1;; looks++) {
      const seen = yield* Effect.result(look(wanted, terms))
      if (Result.isSuccess(seen) && typeof seen.success !== "string") return { _tag: "Found", ...seen.success }
      const left = wait - ((yield* Monotonic.millis) - begun)
      const isLast = looks >= leastLooks && left <= 0
      if (Result.isFailure(seen)) {
        if (isLast || !isPassing(seen.failure)) {
          return { _tag: "Unclear", reason: "unreadable", looks, detail: seen.failure.message }
        }
      } else if (isLast) {
        if (seen.success === "absent") return { _tag: "Absent", looks }
        if (seen.success === "crowded") return { _tag: "Unclear", reason: "crowded", looks }
        if (yield* isGone(wanted.witness, terms)) return { _tag: "Broken" }
        return { _tag: "Unclear", reason: "lagging", looks }
      }
      yield* Effect.sleep(left > 0 ? Math.min(pause, left) : pause)
      pause *= 2
    }
  }
)

/** Checks for a temporary error, after which another look may succeed. */
const isPassing = ({ _tag }: AnyError): boolean =>
  _tag === "TransportFailure" || _tag === "ServerFailure" || _tag === "UndecodableResponse"

/** Returns the post, or the meaning of its absence. */
export const look = (
  { after, authorId, from, witness, ...sent }: Wanted,
  { user_auth }: Pick<Terms, "user_auth">,
  max_results = 100
) =>
  asAuthor(user_auth, (user_auth) => {
    const posts = getUsersPosts.items({
      id: authorId,
      max_results,
      post_fields: SamePost.postFieldsOf(sent),
      user_auth,
      ...(witness !== undefined
        // `since_id` and `start_time` are exclusive.
        ? { since_id: BigInt(witness) - 1n }
        : after !== undefined
        ? { since_id: after }
        : { start_time: new Date(from) })
    }, { limit: maxPosts })
    return Effect.map(Stream.runCollect(posts), (posts) => {
      // If it was posted twice, the first one counts.
      const found = posts.findLast((post) => SamePost.isSame(sent, post))
      if (found !== undefined) return { id: found.id, text: found.text }
      if (posts.length >= maxPosts) return "crowded"
      // An edited post has another id.
      return witness === undefined || posts.some((post) => idsOf(post).includes(witness)) ? "absent" : "lagging"
    })
  })

/** All ids of a post. Not every service lists its versions. */
const idsOf = (
  { edit_history_post_ids: versions = [], id }: {
    readonly id: string
    readonly edit_history_post_ids?: ReadonlyArray<string>
  }
): ReadonlyArray<string> => [id, ...versions]

/** Checks that a post is certainly gone. */
export const isGone = (id: string | undefined, { user_auth }: Pick<Terms, "user_auth">) =>
  id === undefined ? Effect.succeed(false) : Effect.orElseSucceed(
    Effect.map(
      asAuthor(user_auth, (user_auth) => getPost({ id, user_auth })),
      ({ data, errors }) => data === undefined && errors.length > 0
    ),
    () => false
  )

/** Uses the credential that creates posts, unless the caller chooses one. */
const asAuthor = <A, E, R>(
  user_auth: boolean | undefined,
  call: (user_auth: boolean) => Effect.Effect<A, E | MissingAccessToken, R>
) => user_auth === undefined ? Effect.catchTag(call(true), "MissingAccessToken", () => call(false)) : call(user_auth)
