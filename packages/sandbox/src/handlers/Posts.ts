import * as Effect from "effect/Effect"
import * as Problem from "../http/Problem.ts"
import * as Editing from "../projection/Editing.ts"
import type { Post, ReplySettings } from "../store/Post.ts"
import type { Store } from "../store/Store.ts"
import * as Attached from "./Attached.ts"
import * as Caller from "./Caller.ts"
import type { Handlers } from "./Handler.ts"
import * as NewPost from "./NewPost.ts"
import * as Subject from "./Subject.ts"

/** The period in which an author cannot repeat a text, in milliseconds. */
const memory = 86_400_000

/** Post management and lookup. */
export const handlers = {
  getPost: (call) => Subject.ofPost(call, (post) => ({ data: post })),

  getPosts: (call) => {
    const { caller, page: { selection }, parameters: { ids }, store } = call
    const posts = store.posts.byIds(ids, caller, selection)
    const found = new Set(posts.map((post) => post.id))
    return Effect.succeed({
      ...(posts.length === 0 ? {} : { data: posts }),
      errors: ids.filter((id) => !found.has(id)).map((id) => Subject.unseen(call, id, "ids"))
    })
  },

  createPost: Effect.fnUntraced(function*(call) {
    const { caller, now, parameters, plan, store } = call
    const author = yield* Caller.user(caller)
    const { in_reply_to_post_id, media_ids = [], place_id, quote_post_id, text = "" } = parameters
    const { media_preview_media_id, poll_duration_minutes, poll_options, previous_post_id } = parameters
    const refusal = NewPost.refusal(parameters, store.users.byId(author.userId)?.verified === true)
    if (refusal !== undefined) return yield* refusal
    if (plan === "self-serve" && quote_post_id !== undefined) return yield* Problem.notEnrolled("Enterprise")
    for (const [parameter, id] of Object.entries({ in_reply_to_post_id, quote_post_id })) {
      if (id === undefined) continue
      if (store.posts.byId(id) === undefined) {
        return yield* Problem.invalidRequest(`There is no post [${id}].`, { [parameter]: id })
      }
      const post = yield* Subject.post(call, id, parameter)
      if (parameter === "in_reply_to_post_id" && !mayReply(store, post, author.userId)) {
        return yield* Problem.forbidden("The author of this post has restricted who can reply to it.")
      }
      if (parameter === "in_reply_to_post_id" && plan === "self-serve" && !hasSummoned(store, post, author.userId)) {
        return yield* notSummoned
      }
      const isProtected = store.users.byId(post.author_id)?.protected === true
      if (parameter === "quote_post_id" && isProtected && post.author_id !== author.userId) {
        return yield* Problem.forbidden("Posts of a protected account cannot be quoted.")
      }
    }
    const previous = previous_post_id === undefined
      ? undefined
      : yield* Subject.post(call, previous_post_id, "previous_post_id")
    if (previous !== undefined) {
      if (previous.author_id !== author.userId) {
        return yield* Problem.forbidden("You are not permitted to edit a post of another user.")
      }
      const obstacle = Editing.obstacle(previous, now)
      if (obstacle !== undefined) return yield* Problem.forbidden(obstacle)
    }
    const userId = author.userId
    const mediaKeys = yield* Attached.keysOf(call, { ids: media_ids, parameter: "media_ids", purpose: "post", userId })
    if (media_preview_media_id !== undefined) {
      yield* Attached.keysOf(call, { ids: [media_preview_media_id], parameter: "media_preview_media_id", userId })
    }
    if (place_id !== undefined && store.attachments.placesByIds([place_id]).length === 0) {
      return yield* Problem.invalidRequest(`There is no place [${place_id}].`, { place_id })
    }
    // An edit replaces the earlier version.
    const referred = (type: string) => previous?.referenced_posts?.find((reference) => reference.type === type)?.id
    const said = {
      authorId: author.userId,
      text,
      createdAt: now,
      inReplyToPostId: in_reply_to_post_id ?? referred("replied_to"),
      quotedPostId: quote_post_id ?? referred("quoted")
    }
    if (mediaKeys.length === 0 && poll_options === undefined && store.posts.isRepeated(said, now - memory)) {
      return yield* Problem.forbidden("You are not allowed to create a post with duplicate content.", {
        onX: "You are not allowed to create a Tweet with duplicate content."
      })
    }
    const id = store.transaction(() => {
      store.uploads.use(media_ids)
      return store.posts.insert({
        ...said,
        mediaKeys,
        pollId: poll_options === undefined || poll_duration_minutes === undefined
          ? undefined
          : store.attachments.insertPoll({
            options: poll_options,
            durationMinutes: poll_duration_minutes,
            createdAt: now
          }),
        placeId: place_id,
        communityId: parameters.community_id,
        cardUri: parameters.card_uri,
        paidPartnership: parameters.paid_partnership,
        editOf: previous?.id,
        unlisted: parameters.nullcast,
        audience: parameters.for_super_followers_only !== true
          ? "all"
          : parameters.share_with_followers === true
          ? "followers"
          : "subscribers",
        // The parameter is open; the store shows any value.
        replySettings: parameters.reply_settings as ReplySettings | undefined,
        extra: {
          // Users who cannot be tagged are skipped; the post is still created.
          tagged_user_ids: store.users.taggable(parameters.media_tagged_user_ids ?? []),
          exclude_reply_user_ids: parameters.exclude_reply_user_ids,
          direct_message_deep_link: parameters.direct_message_deep_link,
          made_with_ai: parameters.made_with_ai,
          poll_reply_settings: parameters.poll_reply_settings,
          auto_populate_reply_metadata: parameters.auto_populate_reply_metadata,
          media: {
            title: parameters.media_title,
            description: parameters.media_description,
            preview_media_id: parameters.media_preview_media_id,
            embeddable: parameters.media_embeddable,
            visit_site_url: parameters.media_visit_site_url,
            watch_now_url: parameters.media_watch_now_url,
            app_store_id: parameters.media_app_store_id,
            ipad_app_store_id: parameters.media_ipad_app_store_id,
            play_store_id: parameters.media_play_store_id
          }
        }
      })
    })
    return { data: { id, text, edit_history_post_ids: [...previous?.edit_history_post_ids ?? [], id] } }
  }),

  deletePost: Effect.fnUntraced(function*({ caller, parameters: { id }, store }) {
    const author = yield* Caller.user(caller)
    const post = store.posts.byId(id)
    if (post === undefined) return yield* Problem.missing(Problem.notFound({ kind: "post", id, parameter: "id" }))
    if (post.author_id !== author.userId) {
      return yield* Problem.forbidden("You are not permitted to delete a post of another user.")
    }
    return { data: { deleted: store.posts.delete(id) } }
  })
} satisfies Partial<Handlers>

/** The refusal of a reply on a self-serve plan. */
const notSummoned = Problem.forbidden(
  "The author of this post has not mentioned you in it, and quotes no post of yours.",
  {
    onX:
      "Reply to this conversation is not allowed because you have not been mentioned or otherwise engaged by the author of the post you are replying to."
  }
)

/** Tests whether a post summons a user: it is theirs, mentions them, or quotes a post of theirs. */
const hasSummoned = (store: Store["Service"], post: Post, userId: string): boolean =>
  post.author_id === userId || isMentioned(post, userId) ||
  post.referenced_posts?.some(({ id, type }) => type === "quoted" && store.posts.byId(id)?.author_id === userId) ===
    true

/** Tests whether a post mentions a user. A long post has its mentions beside its whole text. */
const isMentioned = ({ entities, note_post }: Post, userId: string): boolean =>
  (note_post === undefined ? entities : note_post.entities)?.mentions?.some(({ id }) => id === userId) === true

const mayReply = (store: Store["Service"], post: Post, userId: string): boolean => {
  if (post.author_id === userId) return true
  const isSummoned = isMentioned(post, userId)
  const isVerified = store.users.byId(userId)?.verified === true
  switch (post.reply_settings) {
    case "mentionedUsers":
      return isSummoned
    case "following":
      return isSummoned || store.follows.state(post.author_id, userId) === "following"
    case "verified":
      return isSummoned || isVerified
    case "subscribers":
      return isSummoned || (isVerified && store.follows.state(userId, post.author_id) === "following")
    default:
      return true
  }
}
