/** Derived fields: computed from a record when requested. */
import type { Kind } from "@postwire/core/schema/Model"
import type { WireName } from "@postwire/core/schema/WireName"
import type { Media } from "../store/Attachments.ts"
import type { DmEvent } from "../store/Messages.ts"
import type { Post } from "../store/Post.ts"
import type { Space } from "../store/Spaces.ts"
import type { Store } from "../store/Store.ts"
import type { User } from "../store/Users.ts"
import type { Viewer } from "../store/Visibility.ts"
import * as Entities from "../text/Entities.ts"
import * as Recognition from "../text/Recognition.ts"
import * as Editing from "./Editing.ts"

/** The context of a computation. */
export interface Scene {
  readonly store: Store["Service"]
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly viewer: Viewer
  /** The origin of the sandbox in the request. */
  readonly origin: string
  /** The wire of the request. */
  readonly wire: WireName
}

/** Computes fields of a record of a kind; `undefined` if there is nothing to show. */
export interface Derivations {
  readonly [field: string]: Derivation["of"] | undefined
}

// A method, so that each can declare the record of its kind.
interface Derivation {
  of(record: object, scene: Scene): unknown
}

/** The owner of a record, and the metrics in each field that only the owner may see. */
export interface Private {
  readonly ownerOf: (record: Readonly<Record<string, unknown>>) => unknown
  readonly fields: Readonly<Record<string, ReadonlyArray<string>>>
}

/** The retention of private metrics, in milliseconds. */
const retention = 30 * 86_400_000

const ofPost = {
  context_annotations: ({ text }: Post) => Recognition.contextsOf(text),
  display_text_range: ({ referenced_posts = [], text }: Post) => {
    const length = Entities.counter(text)(text.length)
    // The leading mentions of a reply are shown separately.
    const [addressees = ""] = referenced_posts.some(({ type }) => type === "replied_to")
      ? text.match(/^(@\w+\s+)+/) ?? []
      : []
    return [addressees.length, length]
  },
  edit_controls: Editing.controlsOf,
  entities: ({ entities, text }: Post, { wire }: Scene) =>
    Recognition.enrich(entities, wire === "x" ? [] : Recognition.annotationsOf(text)),
  media_metadata: ({ attachments: { media_keys = [] } = {} }: Post, { store }: Scene) =>
    media_keys.length === 0
      ? undefined
      : store.attachments.mediaByKeys(media_keys).map(({ alt_text, media_key }) => ({
        media_key,
        ...(alt_text !== undefined && { alt_text })
      })),
  non_public_metrics: ({ created_at, public_metrics }: Post, { now }: Scene) =>
    Date.parse(created_at) < now - retention ? undefined : { impression_count: public_metrics.impression_count },
  note_post: ({ note_post }: Post) =>
    note_post && { text: note_post.text, entities: Recognition.enrich(note_post.entities) },
  organic_metrics: ({ created_at, public_metrics }: Post, { now }: Scene) => {
    if (Date.parse(created_at) < now - retention) return undefined
    const { impression_count, like_count, reply_count, repost_count } = public_metrics
    return { impression_count, like_count, reply_count, repost_count }
  },
  // Reposts do not have this field.
  paid_partnership: ({ paid_partnership = false, referenced_posts = [] }: Post) =>
    referenced_posts.some(({ type }) => type === "reposted") ? undefined : paid_partnership
}

const ofUser = {
  connection_status: ({ id }: User, { store, viewer: { userId } }: Scene) => {
    if (userId === undefined || userId === id) return undefined
    const [to, from] = [store.follows.state(userId, id), store.follows.state(id, userId)]
    const status = [
      ...(to === "following" ? ["following"] : to === "requested" ? ["follow_request_sent"] : []),
      ...(from === "following" ? ["followed_by"] : from === "requested" ? ["follow_request_received"] : []),
      ...(store.blocks.has(userId, id) ? ["blocking"] : []),
      ...(store.mutes.has(userId, id) ? ["muting"] : [])
    ]
    return status
  },
  entities: ({ entities }: User) =>
    entities && { url: Recognition.enrich(entities.url), description: Recognition.enrich(entities.description) },
  public_metrics: ({ id, public_metrics }: User, { store }: Scene) => {
    const media_count = store.attachments.mediaOf(id)
    return media_count === 0 ? public_metrics : { ...public_metrics, media_count }
  },
  // The verified followers of an account are its subscribers.
  subscribes_to_you: ({ id, verified_type }: User, { store, viewer: { userId } }: Scene) =>
    userId === undefined || userId === id
      ? undefined
      : verified_type === "blue" && store.follows.state(id, userId) === "following",
  subscription_type: ({ id, verified_type }: User, { viewer }: Scene) =>
    id !== viewer.userId ? undefined : verified_type === "blue" ? "Premium" : "None"
}

const views = ({ public_metrics }: Media) => public_metrics?.view_count

const playback = (count: number) =>
  Object.fromEntries(
    [0, 25, 50, 75, 100].map((part) => [`playback_${part}_count`, Math.floor(count / (1 + part / 50))])
  )

/** Resolves a path against the sandbox's origin; seeded media have absolute URLs that do not exist. */
const address = (path: string | undefined, { origin }: Scene) => path?.startsWith("/") === true ? origin + path : path

const ofMedia = {
  non_public_metrics: (media: Media) => {
    const count = views(media)
    return count === undefined ? undefined : playback(count)
  },
  organic_metrics: (media: Media) => {
    const count = views(media)
    return count === undefined ? undefined : { ...playback(count), view_count: count }
  },
  preview_image_url: ({ preview_image_url }: Media, scene: Scene) => address(preview_image_url, scene),
  url: ({ url }: Media, scene: Scene) => address(url, scene),
  variants: ({ variants }: Media, scene: Scene) =>
    variants?.map((variant) => ({ ...variant, url: address(variant.url, scene) }))
}

const ofMessage = {
  entities: ({ cashtags, hashtags, mentions, urls }: DmEvent) =>
    cashtags || hashtags || mentions || urls
      ? Recognition.enrich({
        ...(cashtags && { cashtags }),
        ...(hashtags && { hashtags }),
        ...(mentions && { mentions }),
        ...(urls && { urls })
      })
      : undefined
}

const ofSpace = {
  topics: ({ topic_ids }: Space, { store, wire }: Scene) =>
    wire === "x-2026-02" && topic_ids !== undefined
      ? store.spaces.topicsByIds(topic_ids).map(({ id, name }) => ({ id, name }))
      : undefined
}

const ofComplianceJob = {
  download_url: ({ download_url }: Addresses, scene: Scene) => address(download_url, scene),
  upload_url: ({ upload_url }: Addresses, scene: Scene) => address(upload_url, scene)
}

/** The URLs of a compliance job. */
interface Addresses {
  readonly download_url: string
  readonly upload_url: string
}

/** The derived fields by kind. */
export const of: { readonly [K in Kind]?: Derivations } = {
  post: ofPost,
  user: ofUser,
  media: ofMedia,
  dm_event: ofMessage,
  space: ofSpace,
  compliance_job: ofComplianceJob
}

/** The private fields by kind. */
export const privateTo: { readonly [K in Kind]?: Private } = {
  post: {
    ownerOf: (post) => post["author_id"],
    fields: {
      non_public_metrics: ["impression_count"],
      organic_metrics: ["impression_count", "like_count", "reply_count", "repost_count"]
    }
  },
  media: {
    ownerOf: (media) => media["owner_id"],
    fields: {
      non_public_metrics: ["playback_0_count"],
      organic_metrics: ["view_count"]
    }
  }
}
