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
  readonly [field: string]: Derivation | undefined
}

interface Derivation {
  /** The fields of the record that it reads. */
  readonly reads: ReadonlyArray<string>
  // A method, so that each can declare the record of its kind.
  of(record: object, scene: Scene): unknown
}

const from = <R>() =>
<const Name extends keyof R & string>(
  reads: ReadonlyArray<Name>,
  of: (record: Pick<R, Name>, scene: Scene) => unknown
): Derivation => ({ reads, of })

const [fromPost, fromUser, fromMedia, fromMessage, fromSpace, fromJob] = [
  from<Post>(),
  from<User>(),
  from<Media>(),
  from<DmEvent>(),
  from<Space>(),
  from<Addresses>()
]

/** The owner of a record, and the metrics in each field that only the owner may see. */
export interface Private {
  readonly ownerOf: (record: Readonly<Record<string, unknown>>) => unknown
  readonly fields: Readonly<Record<string, ReadonlyArray<string>>>
}

/** The retention of private metrics, in milliseconds. */
const retention = 30 * 86_400_000

const ofPost = {
  article: fromPost(["id"], ({ id }, { store }) => {
    const [article] = store.documents.all("article", { key: id })
    return article && { title: article.body.title }
  }),
  context_annotations: fromPost(["text"], ({ text }) => Recognition.contextsOf(text)),
  display_text_range: fromPost(["referenced_posts", "text"], ({ referenced_posts = [], text }) => {
    const length = Entities.counter(text)(text.length)
    // The leading mentions of a reply are shown separately.
    const [addressees = ""] = referenced_posts.some(({ type }) => type === "replied_to")
      ? text.match(/^(@\w+\s+)+/) ?? []
      : []
    return [addressees.length, length]
  }),
  edit_controls: fromPost(Editing.fields, Editing.controlsOf),
  entities: fromPost(
    ["entities", "text"],
    ({ entities, text }, { wire }) => Recognition.enrich(entities, wire === "x" ? [] : Recognition.annotationsOf(text))
  ),
  media_metadata: fromPost(
    ["attachments"],
    ({ attachments: { media_keys = [] } = {} }, { store }) =>
      media_keys.length === 0
        ? undefined
        : store.attachments.mediaByKeys(media_keys).map(({ alt_text, media_key }) => ({
          media_key,
          ...(alt_text !== undefined && { alt_text })
        }))
  ),
  non_public_metrics: fromPost(
    ["created_at", "public_metrics"],
    ({ created_at, public_metrics }, { now }) =>
      Date.parse(created_at) < now - retention ? undefined : { impression_count: public_metrics.impression_count }
  ),
  note_post: fromPost(
    ["note_post"],
    ({ note_post }) => note_post && { text: note_post.text, entities: Recognition.enrich(note_post.entities) }
  ),
  organic_metrics: fromPost(["created_at", "public_metrics"], ({ created_at, public_metrics }, { now }) => {
    if (Date.parse(created_at) < now - retention) return undefined
    const { impression_count, like_count, reply_count, repost_count } = public_metrics
    return { impression_count, like_count, reply_count, repost_count }
  }),
  // Reposts do not have this field.
  paid_partnership: fromPost(
    ["paid_partnership", "referenced_posts"],
    ({ paid_partnership = false, referenced_posts = [] }) =>
      referenced_posts.some(({ type }) => type === "reposted") ? undefined : paid_partnership
  )
}

const ofUser = {
  connection_status: fromUser(["id"], ({ id }, { store, viewer: { userId } }) => {
    if (userId === undefined || userId === id) return undefined
    const [to, from] = [store.follows.state(userId, id), store.follows.state(id, userId)]
    const status = [
      ...(to === "following" ? ["following"] : to === "requested" ? ["follow_request_sent"] : []),
      ...(from === "following" ? ["followed_by"] : from === "requested" ? ["follow_request_received"] : []),
      ...(store.blocks.has(userId, id) ? ["blocking"] : []),
      ...(store.mutes.has(userId, id) ? ["muting"] : [])
    ]
    return status
  }),
  entities: fromUser(
    ["entities"],
    ({ entities }) =>
      entities && { url: Recognition.enrich(entities.url), description: Recognition.enrich(entities.description) }
  ),
  public_metrics: fromUser(["id", "public_metrics"], ({ id, public_metrics }, { store }) => {
    const media_count = store.attachments.mediaOf(id)
    return media_count === 0 ? public_metrics : { ...public_metrics, media_count }
  }),
  // The verified followers of an account are its subscribers.
  subscribes_to_you: fromUser(
    ["id", "verified_type"],
    ({ id, verified_type }, { store, viewer: { userId } }) =>
      userId === undefined || userId === id
        ? undefined
        : verified_type === "blue" && store.follows.state(id, userId) === "following"
  ),
  subscription_type: fromUser(
    ["id", "verified_type"],
    ({ id, verified_type }, { viewer }) =>
      id !== viewer.userId ? undefined : verified_type === "blue" ? "Premium" : "None"
  )
}

const playback = (count: number) =>
  Object.fromEntries(
    [0, 25, 50, 75, 100].map((part) => [`playback_${part}_count`, Math.floor(count / (1 + part / 50))])
  )

/** Resolves a path against the sandbox's origin; seeded media have absolute URLs that do not exist. */
const address = (path: string | undefined, { origin }: Scene) => path?.startsWith("/") === true ? origin + path : path

const ofMedia = {
  non_public_metrics: fromMedia(
    ["public_metrics"],
    ({ public_metrics }) => public_metrics && playback(public_metrics.view_count)
  ),
  organic_metrics: fromMedia(
    ["public_metrics"],
    ({ public_metrics }) =>
      public_metrics && { ...playback(public_metrics.view_count), view_count: public_metrics.view_count }
  ),
  preview_image_url: fromMedia(
    ["preview_image_url"],
    ({ preview_image_url }, scene) => address(preview_image_url, scene)
  ),
  url: fromMedia(["url"], ({ url }, scene) => address(url, scene)),
  variants: fromMedia(
    ["variants"],
    ({ variants }, scene) => variants?.map((variant) => ({ ...variant, url: address(variant.url, scene) }))
  )
}

const ofMessage = {
  entities: fromMessage(
    ["cashtags", "hashtags", "mentions", "urls"],
    ({ cashtags, hashtags, mentions, urls }) =>
      cashtags || hashtags || mentions || urls
        ? Recognition.enrich({
          ...(cashtags && { cashtags }),
          ...(hashtags && { hashtags }),
          ...(mentions && { mentions }),
          ...(urls && { urls })
        })
        : undefined
  )
}

const ofSpace = {
  topics: fromSpace(["topic_ids"], ({ topic_ids }, { store, wire }) =>
    wire === "x-2026-02" && topic_ids !== undefined
      ? store.spaces.topicsByIds(topic_ids).map(({ id, name }) => ({ id, name }))
      : undefined)
}

const ofComplianceJob = {
  download_url: fromJob(["download_url"], ({ download_url }, scene) => address(download_url, scene)),
  upload_url: fromJob(["upload_url"], ({ upload_url }, scene) => address(upload_url, scene))
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

/** The fields that are read of every record of a kind, where a selection of fields may be read. */
export const always: { readonly [K in Kind]?: ReadonlyArray<string> } = {
  post: ["id", "author_id", "left_out"],
  user: ["id", "username", "suspended"]
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
