// Type tests of operations that answer until somebody ends them: what they bring, what they fail with, what they take.
import type { Catalogue } from "@postwire/core/Catalogue"
import { catalogue } from "@postwire/core/Catalogue"
import type { Client } from "@postwire/core/client/Client"
import type { Operation, Paged } from "@postwire/core/client/Operation"
import type * as Errors from "@postwire/core/errors/Errors"
import type { StreamError } from "@postwire/core/errors/StreamErrors"
import type { UserComplianceEvent } from "@postwire/core/schema/models/ComplianceEvents"
import type { EventItem, PostItem } from "@postwire/core/schema/StreamItem"
import type { StreamEvent } from "@postwire/core/streams/StreamEvents"
import type { StreamOperation } from "@postwire/core/streams/StreamOperation"
import type * as Stream from "effect/Stream"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const assertType = <T extends true>(): T | void => undefined

const {
  streamLikesFirehose,
  streamPostLabels,
  streamPosts,
  streamPostsFirehose,
  streamPostsSample,
  streamUsersCompliance
} = catalogue

type ItemOf<S> = S extends Stream.Stream<infer A, infer _E, infer _R> ? A : never
type ErrorOf<S> = S extends Stream.Stream<infer _A, infer E, infer _R> ? E : never
type NeedsOf<S> = S extends Stream.Stream<infer _A, infer _E, infer R> ? R : never

type Live = {
  [N in keyof Catalogue]: Catalogue[N] extends StreamOperation<infer _P, infer _R, infer _S, infer _E> ? N : never
}[keyof Catalogue]

// Which they are, and that they are nothing else.
assertType<
  Equal<
    Live,
    | "streamPosts"
    | "streamPostsSample"
    | "streamPostsSample10"
    | "streamPostsFirehose"
    | `streamPostsFirehose${"En" | "Ja" | "Ko" | "Pt"}`
    | "streamLikesFirehose"
    | "streamLikesSample10"
    | "streamPostsCompliance"
    | "streamUsersCompliance"
    | "streamLikesCompliance"
    | "streamPostLabels"
    | "streamActivity"
  >
>()
assertType<
  Equal<
    {
      [N in Live]: Catalogue[N] extends Operation<infer _P, infer _R, infer _S, infer _E> ? N
        : Catalogue[N] extends Paged<infer _P, infer _R, infer _S, infer _E> ? N
        : never
    }[Live],
    never
  >
>()

// Posts have the fields that were asked for, and what expansions bring has those asked for it.
const posts = streamPosts({
  post_fields: ["created_at", "author_id"],
  expansions: ["author_id"],
  user_fields: ["verified"]
})
type Delivered = ItemOf<typeof posts>
assertType<Delivered extends PostItem<infer _P, infer _I> ? true : false>()
assertType<Equal<keyof Delivered["post"], "id" | "text" | "edit_history_post_ids" | "created_at" | "author_id">>()
assertType<Equal<Delivered["post"]["created_at"], string>>()
assertType<Equal<keyof Delivered["includes"], "users">>()
assertType<Equal<keyof NonNullable<Delivered["includes"]["users"]>[number], "id" | "name" | "username" | "verified">>()
assertType<Equal<Delivered["matchingRules"][number]["tag"], string | undefined>>()
assertType<
  Equal<keyof NonNullable<ReturnType<Delivered["joined"]>["author"]>, "id" | "name" | "username" | "verified">
>()
assertType<Equal<keyof ItemOf<ReturnType<typeof streamPostsSample>>["includes"], never>>()

// Errors are exact.
assertType<Equal<ErrorOf<typeof posts>, Errors.OperationError | StreamError>>()
assertType<Equal<NeedsOf<typeof posts>, Client>>()

// Events have the items as they are.
const events = streamPosts.events({ post_fields: ["lang"] })
assertType<
  Equal<ItemOf<typeof events>, StreamEvent<ItemOf<ReturnType<typeof streamPosts<{ readonly post_fields: ["lang"] }>>>>>
>()
assertType<Equal<ErrorOf<typeof events>, ErrorOf<typeof posts>>>()

// Likes are typed by the fields asked for, too; what no selector changes has a type of its own.
const likes = streamLikesFirehose({ partition: 1, like_with_post_author_fields: ["attachments_media_keys"] })
assertType<
  Equal<
    keyof ItemOf<typeof likes>["event"],
    "id" | "created_at" | "liked_post_id" | "liked_post_author_id" | "timestamp_ms" | "attachments_media_keys"
  >
>()
assertType<Equal<ItemOf<ReturnType<typeof streamUsersCompliance>>, EventItem<UserComplianceEvent>>>()

// What is no parameter is refused by name; a partition is required where a stream comes in parts.
streamPosts({ post_fields: ["lang"], backfill_minutes: 2, start_time: new Date() })
streamPostLabels()
// @ts-expect-error a stream of all posts comes in parts
streamPostsFirehose()
// @ts-expect-error likewise, with other parameters
streamPostsFirehose({ post_fields: ["lang"] })
streamPostsFirehose({ partition: 20, post_fields: ["lang"] })
// @ts-expect-error streams by rules have no parts
streamPosts({ partition: 1 })
// @ts-expect-error the sample cannot be had again
streamPostsSample({ start_time: new Date() })
// @ts-expect-error a word of the service
streamPosts({ tweet_fields: ["lang"] })
// @ts-expect-error a field that posts do not have
streamPosts({ post_fields: ["language"] })
// @ts-expect-error labels have no fields to choose
streamPostLabels({ post_fields: ["lang"] })
// @ts-expect-error streams have options of their own
streamPosts({}, { retries: 1 })
streamPosts({}, { recover: "none", slowConsumer: "dropOldest", tags: ["cats"] })

// Streams have one form, and no pages.
// @ts-expect-error no other form
void streamPosts.as
// @ts-expect-error no pages
void streamPosts.pages

// Rules to add have a value, and a tag if they are to have one.
const { updateStreamRules } = catalogue
updateStreamRules({ add: [{ value: "cat" }, { value: "dog", tag: "dogs" }], dry_run: true })
// @ts-expect-error a rule without a value
updateStreamRules({ add: [{ tag: "dogs" }] })
