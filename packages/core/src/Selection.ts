/**
 * Results that know what was asked for: `post_fields: ["created_at"]` makes `created_at` a known property of every post,
 * `expansions: ["author_id"]` makes `includes.users` one. Types only; nothing here runs.
 */
import type * as Model from "./Model.ts"
import type { Kind } from "./Model.ts"
import type { DirectMessageEvent } from "./models/DirectMessageEvent.ts"
import type { List as ListModel } from "./models/List.ts"
import type { Media } from "./models/Media.ts"
import type { Place } from "./models/Place.ts"
import type { Poll } from "./models/Poll.ts"
import type { Post } from "./models/Post.ts"
import type { Space } from "./models/Space.ts"
import type { Topic } from "./models/Topic.ts"
import type { User } from "./models/User.ts"
import type { List } from "./Parameters.ts"

interface Models {
  readonly post: typeof Post
  readonly user: typeof User
  readonly space: typeof Space
  readonly list: typeof ListModel
  readonly dm_event: typeof DirectMessageEvent
  readonly media: typeof Media
  readonly place: typeof Place
  readonly poll: typeof Poll
  readonly topic: typeof Topic
}

/** A resource of a kind with everything asked for. */
export type Complete<K extends Kind> = Model.Type<Models[K]>

type ExpansionsOf<K extends Kind> = keyof Models[K]["expansions"] & string

/** Reads of posts also expand the users that they bring, so both lists of expansions apply. */
type ExpansionOf<K extends Kind> = ExpansionsOf<K> | (K extends "post" | "user" ? ExpansionsOf<"post" | "user"> : never)

/** The field selectors and expansions of reads that return resources of kind `K`. */
export interface Selection<K extends Kind = Kind> {
  readonly expansions?: List<ExpansionOf<K>> | undefined
  readonly post_fields?: List<keyof Complete<"post"> & string> | undefined
  readonly user_fields?: List<keyof Complete<"user"> & string> | undefined
  readonly space_fields?: List<keyof Complete<"space"> & string> | undefined
  readonly list_fields?: List<keyof Complete<"list"> & string> | undefined
  readonly dm_event_fields?: List<keyof Complete<"dm_event"> & string> | undefined
  readonly media_fields?: List<keyof Complete<"media"> & string> | undefined
  readonly place_fields?: List<keyof Complete<"place"> & string> | undefined
  readonly poll_fields?: List<keyof Complete<"poll"> & string> | undefined
}

type Split<S extends string> = S extends `${infer Head},${infer Tail}` ? Head | Split<Tail> : S

type Names<C> = C extends ReadonlyArray<infer Name> ? Name & string
  : C extends string ? (string extends C ? string : Split<C>)
  : never

type Simplify<A> = { [K in keyof A]: A[K] } & {}

type Defaults<K extends Kind> = Models[K]["defaults"][number] & keyof Complete<K>

/**
 * A resource of kind `K` as the selection `S` brings it: the default fields, and those asked for. Names that are known
 * only at run time make every field optional; names that this version does not know are `unknown`.
 */
export type Selected<K extends Kind, S> = S extends { readonly [X in Model.Selector<K> & string]: infer C }
  ? string extends Names<C> ? Simplify<Pick<Complete<K>, Defaults<K>> & Partial<Complete<K>>>
  : Simplify<
    & Pick<Complete<K>, Defaults<K> | (Names<C> & keyof Complete<K>)>
    & { readonly [U in Exclude<Names<C>, keyof Complete<K>>]?: unknown }
  >
  : Pick<Complete<K>, Defaults<K>>

/** Every expansion with the kinds that it brings. */
type Brought = { [K in Kind]: Models[K]["expansions"] }[Kind]

type KindsOf<E> = Brought extends infer B ? B extends unknown ? B[E & keyof B] : never : never

type BucketOf<E> = NonNullable<Model.Bucket<KindsOf<E> & Kind>>

type KindIn<Bucket> = { [K in Kind]: Model.Bucket<K> extends Bucket ? K : never }[Kind]

type Bucket = NonNullable<Model.Bucket<Kind>>

/** The related objects that the expansions of the selection `S` bring. */
export type Included<S> = S extends { readonly expansions: infer E }
  ? { readonly [B in string extends Names<E> ? Bucket : BucketOf<Names<E>>]?: ReadonlyArray<Selected<KindIn<B>, S>> }
  : {}
