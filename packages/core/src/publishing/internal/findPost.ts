/** Looks for a post whose outcome is unknown among those of its author, for as long as it may take to appear there. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Client } from "../../client/Client.ts"
import type { AnyError, MissingAccessToken } from "../../errors/Errors.ts"
import { getPost } from "../../operations/Posts.ts"
import { getUsersPosts } from "../../operations/Timelines.ts"
import * as Monotonic from "../../runtime/Monotonic.ts"
import * as SamePost from "./samePost.ts"

/** What is looked for. */
export interface Wanted extends SamePost.Sent {
  readonly authorId: string
  /** A post that is older for certain. */
  readonly after: string | undefined
  /** When it was sent first, in milliseconds. */
  readonly firstAt: number
  /** The part before: what does not show it shows nothing that came later. */
  readonly witness: string | undefined
}

/** How it is looked for. */
export interface Terms {
  /** Milliseconds that a post may take to appear. */
  readonly lag: number
  /** Those of them that are left; below 0 where they have passed. */
  readonly wait: number
  readonly user_auth: boolean | undefined
}

/** What came of it. */
export type Finding =
  | { readonly _tag: "Found"; readonly id: string; readonly text: string }
  /** It is not there, and would be. */
  | { readonly _tag: "Absent"; readonly looks: number }
  /** The part before is gone. */
  | { readonly _tag: "Broken" }
  | {
    readonly _tag: "Unclear"
    readonly reason: "unreadable" | "lagging" | "crowded"
    readonly looks: number
    readonly detail?: string | undefined
  }

/** Clocks differ, by whole time zones too: where nothing else tells what is older, so much before it was sent, in milliseconds. */
const clockMargin = 86_400_000

/** More posts of one author are not gone through. */
const maxPosts = 1_000

/** The first pause is this part of the lag, and each one after twice as long: the seventh look is the last. */
const firstPause = 1 / 63

/** However long ago it was sent. */
const leastLooks = 2

/** Looks for it, until it is found or would be there. */
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

/** Whether it may pass, so that another look is worth the wait. */
const isPassing = ({ _tag }: AnyError): boolean =>
  _tag === "TransportFailure" || _tag === "ServerFailure" || _tag === "UndecodableResponse"

/** The post, or what its absence says. */
const look = ({ after, authorId, firstAt, witness, ...sent }: Wanted, { user_auth }: Pick<Terms, "user_auth">) =>
  asAuthor(user_auth, (user_auth) => {
    const posts = getUsersPosts.items({
      id: authorId,
      max_results: 100,
      post_fields: SamePost.postFields,
      user_auth,
      ...(witness !== undefined
        // Both are exclusive.
        ? { since_id: BigInt(witness) - 1n }
        : after !== undefined
        ? { since_id: after }
        : { start_time: new Date(firstAt - clockMargin) })
    }, { limit: maxPosts })
    return Effect.map(Stream.runCollect(posts), (posts) => {
      // Should it be there twice, the first one is the one.
      const found = posts.findLast((post) => SamePost.isSame(sent, post))
      if (found !== undefined) return { id: found.id, text: found.text }
      if (posts.length >= maxPosts) return "crowded"
      // One that was edited has another id.
      return witness === undefined || posts.some((post) => idsOf(post).includes(witness)) ? "absent" : "lagging"
    })
  })

/** Not every service tells the versions of a post. */
const idsOf = (
  { edit_history_post_ids: versions = [], id }: {
    readonly id: string
    readonly edit_history_post_ids?: ReadonlyArray<string>
  }
): ReadonlyArray<string> => [id, ...versions]

/** Whether a post is gone for certain. */
export const isGone = (id: string | undefined, { user_auth }: Pick<Terms, "user_auth">) =>
  id === undefined ? Effect.succeed(false) : Effect.orElseSucceed(
    Effect.map(
      asAuthor(user_auth, (user_auth) => getPost({ id, user_auth })),
      ({ data, errors }) => data === undefined && errors.length > 0
    ),
    () => false
  )

/** With the credential that creates posts, unless the caller says which. */
const asAuthor = <A, E, R>(
  user_auth: boolean | undefined,
  call: (user_auth: boolean) => Effect.Effect<A, E | MissingAccessToken, R>
) =>
  user_auth === undefined
    ? Effect.catchTag(call(true), "MissingAccessToken", () => call(false))
    : call(user_auth)
