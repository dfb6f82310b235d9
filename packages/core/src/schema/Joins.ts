/** Items of a page joined with the objects of `includes`: each lookup is one step in an index of the page. */
import type { Includes } from "./models/Includes.ts"

/**
 * A related object in a bucket of `includes`; `unknown` where no expansion selects it, so that a response with more can be
 * assigned to a type with less.
 */
export type Element<I, Bucket extends string> = I extends { readonly [B in Bucket]?: ReadonlyArray<infer A> } ? A
  : unknown

/** A post that another one refers to; `post` is missing where the service could not deliver it. */
export interface Referenced<out Post> {
  /** `replied_to`, `quoted` or `reposted`. */
  readonly type: string
  readonly id: string
  readonly post: Post | undefined
}

/** Finds the objects that belong to an item. An object that was not expanded or delivered is `undefined` or missing. */
export interface Joins<out I> {
  /** The author of a post, sender of a message, creator of a space or owner of a list. */
  readonly author: (item: object) => Element<I, "users"> | undefined
  /** The posts that a post or message refers to, in its order. */
  readonly referenced: (item: object) => ReadonlyArray<Referenced<Element<I, "posts">>>
  /** The media of a post or message, in its order, without missing ones. */
  readonly media: (item: object) => ReadonlyArray<Element<I, "media">>
  readonly poll: (item: object) => Element<I, "polls"> | undefined
  readonly place: (item: object) => Element<I, "places"> | undefined
  /** The post that a user has pinned. */
  readonly pinned: (item: object) => Element<I, "posts"> | undefined
}

/** An item with its related objects. */
export interface Joined<out Item, out I> {
  readonly item: Item
  readonly author: Element<I, "users"> | undefined
  readonly referenced: ReadonlyArray<Referenced<Element<I, "posts">>>
  readonly media: ReadonlyArray<Element<I, "media">>
  readonly poll: Element<I, "polls"> | undefined
  readonly place: Element<I, "places"> | undefined
  readonly pinned: Element<I, "posts"> | undefined
}

/** The fields through which items refer to others. All may be missing. */
interface Referring {
  readonly author_id?: string
  readonly sender_id?: string
  readonly creator_id?: string
  readonly owner_id?: string
  readonly pinned_post_id?: string
  readonly referenced_posts?: ReadonlyArray<{ readonly type?: string; readonly id: string }>
  readonly attachments?: { readonly media_keys?: ReadonlyArray<string>; readonly poll_ids?: ReadonlyArray<string> }
  readonly geo?: { readonly place_id?: string }
}

/** Makes the lookups of a page. A bucket is indexed on its first use. */
export const make = (includes: Includes): Joins<unknown> => {
  const indexes = new Map<string, ReadonlyMap<unknown, unknown>>()
  const find = (bucket: keyof Includes, key: string | undefined): unknown => {
    if (key === undefined) return undefined
    let index = indexes.get(bucket)
    if (index === undefined) {
      const identifier = bucket === "media" ? "media_key" : "id"
      const members: ReadonlyArray<Readonly<Record<string, unknown>>> = includes[bucket] ?? []
      index = new Map(members.map((member) => [member[identifier], member]))
      indexes.set(bucket, index)
    }
    return index.get(key)
  }
  return {
    author: ({ author_id, creator_id, owner_id, sender_id }: Referring) =>
      find("users", author_id ?? sender_id ?? creator_id ?? owner_id),
    referenced: ({ referenced_posts = [] }: Referring) =>
      referenced_posts.map(({ id, type = "referenced" }) => ({ id, type, post: find("posts", id) })),
    media: ({ attachments }: Referring) =>
      (attachments?.media_keys ?? []).map((key) => find("media", key)).filter((media) => media !== undefined),
    poll: ({ attachments }: Referring) => find("polls", attachments?.poll_ids?.[0]),
    place: ({ geo }: Referring) => find("places", geo?.place_id),
    pinned: ({ pinned_post_id }: Referring) => find("posts", pinned_post_id)
  }
}

class JoinedImpl implements Joined<unknown, unknown> {
  readonly item: object
  readonly #joins: Joins<unknown>

  constructor(item: object, joins: Joins<unknown>) {
    this.item = item
    this.#joins = joins
  }

  get author(): unknown {
    return this.#joins.author(this.item)
  }

  get referenced(): ReadonlyArray<Referenced<unknown>> {
    return this.#joins.referenced(this.item)
  }

  get media(): ReadonlyArray<unknown> {
    return this.#joins.media(this.item)
  }

  get poll(): unknown {
    return this.#joins.poll(this.item)
  }

  get place(): unknown {
    return this.#joins.place(this.item)
  }

  get pinned(): unknown {
    return this.#joins.pinned(this.item)
  }
}

/** Joins an item; related objects are looked up when they are read. */
export const join = (item: object, joins: Joins<unknown>): Joined<unknown, unknown> => new JoinedImpl(item, joins)
