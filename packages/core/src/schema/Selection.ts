/**
 * Result types that depend on the selection: `post_fields: ["created_at"]` makes `created_at` a known property of every post,
 * `expansions: ["author_id"]` adds `includes.users`. Types only; nothing here runs.
 */
import type * as Model from "./Model.ts"
import type { Kind } from "./Model.ts"
import type { MediaAnalytics, PostAnalytics } from "./models/Analytics.ts"
import type { Broadcast, BroadcastChatMessage } from "./models/Broadcast.ts"
import type { ChatConversation, ChatMessageEvent, PublicKey } from "./models/Chat.ts"
import type { Community } from "./models/Community.ts"
import type { CommunityNote } from "./models/CommunityNote.ts"
import type { ComplianceJob } from "./models/ComplianceJob.ts"
import type { Connection } from "./models/Connection.ts"
import type { DirectMessageEvent } from "./models/DirectMessageEvent.ts"
import type { Like } from "./models/Like.ts"
import type { List as ListModel } from "./models/List.ts"
import type { Media } from "./models/Media.ts"
import type { News } from "./models/News.ts"
import type { PersonalizedTrend } from "./models/PersonalizedTrend.ts"
import type { Place } from "./models/Place.ts"
import type { Poll } from "./models/Poll.ts"
import type { Post } from "./models/Post.ts"
import type { Space } from "./models/Space.ts"
import type { Topic } from "./models/Topic.ts"
import type { Trend } from "./models/Trend.ts"
import type { Usage } from "./models/Usage.ts"
import type { User } from "./models/User.ts"
import type { Webhook } from "./models/Webhook.ts"
import type { List, Unlisted } from "./Parameters.ts"

interface Models {
  readonly post: typeof Post
  readonly user: typeof User
  readonly space: typeof Space
  readonly list: typeof ListModel
  readonly dm_event: typeof DirectMessageEvent
  readonly compliance_job: typeof ComplianceJob
  readonly media: typeof Media
  readonly place: typeof Place
  readonly poll: typeof Poll
  readonly topic: typeof Topic
  readonly community: typeof Community
  readonly trend: typeof Trend
  readonly personalized_trend: typeof PersonalizedTrend
  readonly usage: typeof Usage
  readonly connection: typeof Connection
  readonly like_with_post_author: typeof Like
  readonly webhook_config: typeof Webhook
  readonly chat_conversation: typeof ChatConversation
  readonly chat_message_event: typeof ChatMessageEvent
  readonly public_key: typeof PublicKey
  readonly broadcast: typeof Broadcast
  readonly broadcast_chat_message: typeof BroadcastChatMessage
  readonly note: typeof CommunityNote
  readonly news: typeof News
  readonly analytics: typeof PostAnalytics
  readonly media_analytics: typeof MediaAnalytics
}

/** A resource of a kind with every field selected. */
export type Complete<K extends Kind> = Model.Type<Models[K]>

/** The expansions of reads that return resources of kind `K`. */
type ExpansionOf<K extends Kind> = keyof Models[K]["expansions"] & string

/** The selectable fields of a resource. */
type FieldOf<K extends Kind> = Models[K]["selectable"][number]

/** The names that each selector of reads that return resources of kind `K` lists. */
interface Listed<K extends Kind> {
  readonly expansions: ExpansionOf<K>
  readonly post_fields: FieldOf<"post">
  readonly user_fields: FieldOf<"user">
  readonly space_fields: FieldOf<"space">
  readonly list_fields: FieldOf<"list">
  readonly dm_event_fields: FieldOf<"dm_event">
  readonly compliance_job_fields: FieldOf<"compliance_job">
  readonly media_fields: FieldOf<"media">
  readonly place_fields: FieldOf<"place">
  readonly poll_fields: FieldOf<"poll">
  readonly topic_fields: FieldOf<"topic">
  readonly community_fields: FieldOf<"community">
  readonly trend_fields: FieldOf<"trend">
  readonly personalized_trend_fields: FieldOf<"personalized_trend">
  readonly usage_fields: FieldOf<"usage">
  readonly connection_fields: FieldOf<"connection">
  readonly like_with_post_author_fields: FieldOf<"like_with_post_author">
  readonly webhook_config_fields: FieldOf<"webhook_config">
  readonly chat_conversation_fields: FieldOf<"chat_conversation">
  readonly chat_message_event_fields: FieldOf<"chat_message_event">
  readonly public_key_fields: FieldOf<"public_key">
  readonly broadcast_fields: FieldOf<"broadcast">
  readonly broadcast_chat_message_fields: FieldOf<"broadcast_chat_message">
  readonly note_fields: FieldOf<"note">
  readonly news_fields: FieldOf<"news">
  readonly analytics_fields: FieldOf<"analytics">
  readonly media_analytics_fields: FieldOf<"media_analytics">
}

/** The field selectors and expansions of reads that return resources of kind `K`. */
export type Selection<K extends Kind = Kind> = { readonly [Sel in keyof Listed<K>]?: List<Listed<K>[Sel]> | undefined }

type Split<S extends string> = S extends `${infer Head},${infer Tail}` ? Head | Split<Tail> : S

/** The names that a list or text of names may contain; `string` if any is possible. */
type Possible<C> = C extends ReadonlyArray<infer Name> ? NameOf<Name> : C extends string ? Split<C> : never

type NameOf<N> = N extends Unlisted<infer Name> ? Name : N & string

type IsUnion<A, B = A> = A extends unknown ? ([B] extends [A] ? false : true) : false

/** A name that is one literal; `never` if it may be another. */
type Single<N> = IsUnion<N> extends true ? never : N extends string ? {} extends { [P in N]: 1 } ? never : N : never

/** The names that are selected in any case: those of one list of fixed length, or of one literal text. */
type Certain<C> = IsUnion<C> extends true ? never
  : C extends string ? Literal<Split<C>>
  : C extends ReadonlyArray<unknown> ? number extends C["length"] ? never : { [I in keyof C]: Single<C[I]> }[number]
  : never

type Literal<N> = N extends string ? Single<N> : never

/** The names that a list or text of names lists; `string` for other lists. */
type NamesIn<L> = L extends ReadonlyArray<infer Name> ? Extract<Name, string> : never

/** The parameters in `P` that accept listed names. */
export type Lists<P> = { readonly [K in keyof P as IsListed<NamesIn<P[K]>> extends true ? K : never]?: P[K] }

type IsListed<Names> = [Names] extends [never] ? false : string extends Names ? false : true

/** The parts of a text of names that are not listed. */
type Misspelt<C, Known> = C extends `${string},${string}` ? Exclude<Literal<Split<C>>, Known> : never

/** Refuses, by name, parts of comma-separated texts that are not among the names that `Taken` lists. */
export type RefusedParts<Taken, S> = {
  readonly [K in keyof S & keyof Taken]?: Unless<Misspelt<S[K], NamesIn<Taken[K]>>, NamesIn<Taken[K]>>
}

/** Anything if there are no such names. Lists and known names are always allowed, since a type parameter may stand for them. */
type Unless<Names, Known> = [Names] extends [never] ? unknown : ReadonlyArray<unknown> | Known | NotListed<Names>

/** The compiler's message for a part of a text that is not a listed name. */
interface NotListed<in out Name> {
  readonly notListed: Name
}

type Defaults<K extends Kind> = Models[K]["defaults"][number] & keyof Complete<K>

/** Names that end in `?` stand for optional fields; an optional field that this version does not list is `unknown`. */
type Optional<Names> = Names extends `${infer Name}?` ? Name : never

type Shape<K extends Kind, Names> =
  & Pick<Complete<K>, Names & keyof Complete<K>>
  & Partial<Pick<Complete<K>, Optional<Names> & keyof Complete<K>>>
  & { readonly [U in Exclude<Optional<Names>, keyof Complete<K>>]?: unknown }

/**
 * Fields of a resource. Editors show this type by its arguments, and so does the compiler when a program reads any other field:
 * its message has the names of the fields that there are, and the advice.
 */
export type Fields<K extends Kind, _Advice extends `ask for others in ${Model.Selector<K>}`, Names extends string> = {
  [F in keyof Shape<K, Names>]: Shape<K, Names>[F]
}

/**
 * A resource of kind `K` as the selection `S` delivers it: the default fields, and those certainly selected. Fields that may
 * have been selected are optional: from lists that are not one fixed list, such as a union, an array or a possibly undefined
 * value. Names that this version does not list are `unknown`.
 */
export type Selected<K extends Kind, S> = S extends { readonly [X in Model.Selector<K> & string]: infer C }
  ? Fields<K, `ask for others in ${Model.Selector<K>}`, keyof NamesOf<K, C>>
  : Fields<K, `ask for others in ${Model.Selector<K>}`, Defaults<K>>

/** A type without values, whose keys are the names: a union that an alias named would be shown by that name. */
type NamesOf<K extends Kind, C> = {
  [
    N in Defaults<K> | (keyof Complete<K> & Possible<C>) | Exclude<Literal<Possible<C>>, keyof Complete<K>> as N extends
      Promised<K, C> ? N : `${N}?`
  ]: never
}

type Promised<K extends Kind, C> = Defaults<K> | (Certain<C> & keyof Complete<K>)

/** Every expansion with the kinds that it adds. */
type Brought = { [K in Kind]: Models[K]["expansions"] }[Kind]

type KindsOf<E> = Brought extends infer B ? B extends unknown ? B[E & keyof B] : never : never

type BucketOf<E> = NonNullable<Model.Bucket<KindsOf<E> & Kind>>

type KindIn<Bucket> = { [K in Kind]: Model.Bucket<K> extends Bucket ? K : never }[Kind]

type Bucket = NonNullable<Model.Bucket<Kind>>

/** The related objects that the expansions of the selection `S` add; an unlisted name may add any. */
export type Included<S> = S extends { readonly expansions: infer E }
  ? { readonly [B in AnyBucketOf<Possible<E>>]?: ReadonlyArray<Selected<KindIn<B>, S>> }
  : {}

type AnyBucketOf<E> = [Exclude<E, Brings>] extends [never] ? BucketOf<E> : Bucket

type Brings = Brought extends infer B ? B extends unknown ? keyof B : never : never
