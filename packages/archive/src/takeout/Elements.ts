/** The elements of an archive as objects of a copy. Numbers are texts there, and names are those of earlier releases of the service. */
import * as Schema from "effect/Schema"

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const Text = Schema.String
const Count = Schema.Union([Schema.Finite, Schema.FiniteFromString])

/** Ids are numbers of 64 bits with a sign, also in the columns of a copy. */
const isId = (text: string): boolean => /^(0|[1-9]\d{0,18})$/.test(text) && BigInt(text) < 2n ** 63n

const Id = Schema.String.check(Schema.makeFilter(isId))
const Time = Schema.String.check(Schema.makeFilter((time) => !Number.isNaN(Date.parse(time))))
const list = <S extends Schema.Top>(schema: S) => maybe(Schema.Array(schema))
const indices = { indices: maybe(Schema.Array(Count)) }

const MediaEntity = Schema.Struct({
  id_str: Id,
  type: Schema.Literals(["photo", "video", "animated_gif"]),
  media_url_https: Text,
  ext_alt_text: maybe(Text),
  sizes: maybe(Schema.Struct({ large: maybe(Schema.Struct({ w: Count, h: Count })) })),
  video_info: maybe(Schema.Struct({
    duration_millis: maybe(Count),
    variants: list(Schema.Struct({ bitrate: maybe(Count), content_type: maybe(Text), url: maybe(Text) }))
  }))
})

const Tag = Schema.Struct({ text: Text, ...indices })

const Post = Schema.Struct({
  id_str: Id,
  full_text: Text,
  created_at: Time,
  truncated: maybe(Schema.Boolean),
  lang: maybe(Text),
  possibly_sensitive: maybe(Schema.Boolean),
  community_id_str: maybe(Id),
  in_reply_to_status_id_str: maybe(Id),
  in_reply_to_user_id_str: maybe(Id),
  quoted_status_id_str: maybe(Id),
  favorite_count: maybe(Count),
  retweet_count: maybe(Count),
  entities: maybe(Schema.Struct({
    urls: list(Schema.Struct({ url: Text, expanded_url: maybe(Text), display_url: maybe(Text), ...indices })),
    hashtags: list(Tag),
    symbols: list(Tag),
    user_mentions: list(Schema.Struct({ screen_name: Text, id_str: maybe(Text), ...indices })),
    media: list(MediaEntity)
  })),
  extended_entities: maybe(Schema.Struct({ media: list(MediaEntity) }))
})

/** A post: a member `tweet`, or the element itself in archives before 2020. */
export const PostElement = Schema.Union([Schema.Struct({ tweet: Post }), Post])

/** The whole text of a long post, which has no reference to the post. */
export const NoteElement = Schema.Struct({
  noteTweet: Schema.Struct({ createdAt: Text, core: Schema.Struct({ text: Text }) })
})

export const AccountElement = Schema.Struct({
  account: Schema.Struct({ accountId: Id, username: Text, createdAt: maybe(Text), accountDisplayName: maybe(Text) })
})

export const ProfileElement = Schema.Struct({
  profile: Schema.Struct({
    avatarMediaUrl: maybe(Text),
    headerMediaUrl: maybe(Text),
    description: maybe(Schema.Struct({ bio: maybe(Text), website: maybe(Text), location: maybe(Text) }))
  })
})

const Listed = Schema.Struct({ tweetId: Id, fullText: maybe(Text) })

export const LikeElement = Schema.Struct({ like: Listed })
export const BookmarkElement = Schema.Struct({ bookmark: Listed })
export const FollowerElement = Schema.Struct({ follower: Schema.Struct({ accountId: Id }) })
export const FollowingElement = Schema.Struct({ following: Schema.Struct({ accountId: Id }) })

const Message = Schema.Struct({ id: Id, text: maybe(Text), senderId: Id, createdAt: Text })

/** A conversation. Its events besides messages (who joined or left it, and its names) are not imported. */
export const ConversationElement = Schema.Struct({
  dmConversation: Schema.Struct({
    conversationId: Text,
    messages: Schema.Array(Schema.Struct({ messageCreate: maybe(Message) }))
  })
})

type Entity = { readonly indices?: ReadonlyArray<number> | null }

const placed = ({ indices }: Entity) => ({ start: indices?.[0] ?? 0, end: indices?.[1] ?? 0 })

/** Omits what is missing. */
const present = <A extends object>(object: A) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== null))

type ArchivedPost = typeof Post.Type

/** Converts a post. `note` finds the whole text of a long one. */
export const postOf = (
  element: typeof PostElement.Type,
  author: string,
  note: (text: string, millis: number) => string | undefined
): {
  readonly post: { readonly id: string; readonly created_at: string }
  readonly media: ReadonlyArray<object>
  readonly isCut: boolean
} => {
  const post = "tweet" in element ? element.tweet : element
  const { full_text: text, id_str: id } = post
  const millis = Date.parse(post.created_at)
  const isCut = post.truncated === true || /…(\s*https:\/\/t\.co\/\w+)?$/.test(text)
  const whole = isCut ? note(text, millis) : undefined
  const media = (post.extended_entities?.media ?? post.entities?.media ?? []).map(mediumOf)
  const references = [
    { type: "replied_to", id: post.in_reply_to_status_id_str },
    { type: "quoted", id: post.quoted_status_id_str ?? quotedIn(post) }
  ].filter(({ id }) => id !== undefined && id !== null)
  return {
    post: {
      ...present({
        text: whole ?? text,
        author_id: author,
        lang: post.lang,
        possibly_sensitive: post.possibly_sensitive,
        community_id: post.community_id_str,
        in_reply_to_user_id: post.in_reply_to_user_id_str,
        conversation_id: references[0]?.type === "replied_to" ? undefined : id,
        referenced_posts: references.length === 0 ? undefined : references,
        attachments: media.length === 0 ? undefined : { media_keys: media.map(({ media_key }) => media_key) },
        // The places of entities are those in the cut text.
        entities: whole === undefined ? entitiesOf(post) : undefined,
        public_metrics: present({ like_count: post.favorite_count, repost_count: post.retweet_count })
      }),
      id,
      created_at: new Date(millis).toISOString()
    },
    media,
    isCut: isCut && whole === undefined
  }
}

const statusLink = /^https:\/\/(?:mobile\.)?(?:twitter|x)\.com\/\w+\/status\/(\d+)/

/** The post to which the last link of a text leads. */
const quotedIn = ({ entities, full_text }: ArchivedPost): string | undefined => {
  const last = entities?.urls?.findLast(({ url }) => full_text.trimEnd().endsWith(url))
  const id = statusLink.exec(last?.expanded_url ?? "")?.[1] ?? ""
  return isId(id) ? id : undefined
}

const entitiesOf = ({ entities }: ArchivedPost): object | undefined => {
  const { hashtags, symbols, urls, user_mentions } = entities ?? {}
  const found = {
    urls: urls?.map(({ display_url, expanded_url, url, ...at }) => ({
      ...placed(at),
      ...present({ url, expanded_url, display_url })
    })),
    hashtags: hashtags?.map(({ text, ...at }) => ({ ...placed(at), tag: text })),
    cashtags: symbols?.map(({ text, ...at }) => ({ ...placed(at), tag: text })),
    mentions: user_mentions?.map(({ id_str, screen_name, ...at }) => ({
      ...placed(at),
      ...present({ username: screen_name, id: id_str })
    }))
  }
  const kept = Object.entries(found).filter(([, list]) => list !== undefined && list.length > 0)
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** The number before the id in a media key is the kind of upload. */
const mediumOf = (entity: typeof MediaEntity.Type) => {
  const { ext_alt_text, id_str, media_url_https: url, sizes, type, video_info } = entity
  const kind = type === "photo" ? 3 : type === "animated_gif" ? 16 : url.includes("/amplify_video_thumb/") ? 13 : 7
  return {
    media_key: `${kind}_${id_str}`,
    type,
    ...present({
      url: type === "photo" ? url : undefined,
      preview_image_url: type === "photo" ? undefined : url,
      alt_text: ext_alt_text,
      width: sizes?.large?.w,
      height: sizes?.large?.h,
      duration_ms: video_info?.duration_millis,
      variants: video_info?.variants?.map(({ bitrate, content_type, url }) =>
        present({ bit_rate: bitrate, content_type, url })
      )
    })
  }
}

/** The messages of a conversation. */
export const messagesOf = ({ dmConversation }: typeof ConversationElement.Type) =>
  dmConversation.messages.flatMap(({ messageCreate: message }) =>
    message === undefined || message === null ? [] : [{
      id: message.id,
      event_type: "MessageCreate",
      text: message.text ?? "",
      sender_id: message.senderId,
      created_at: message.createdAt,
      dm_conversation_id: dmConversation.conversationId
    }]
  )

/** A post of a list of ids and texts. */
export const previewOf = ({ fullText, tweetId }: typeof Listed.Type) => present({ id: tweetId, text: fullText })

/** The account as a user. */
export const userOf = (
  { account }: typeof AccountElement.Type,
  profile?: typeof ProfileElement.Type["profile"]
) =>
  present({
    id: account.accountId,
    username: account.username,
    name: account.accountDisplayName,
    created_at: account.createdAt,
    description: profile?.description?.bio,
    location: profile?.description?.location,
    url: profile?.description?.website,
    profile_image_url: profile?.avatarMediaUrl,
    profile_banner_url: profile?.headerMediaUrl
  })

/** A function that finds the whole text of a long post by its time and its beginning. */
export const noteFinder = (notes: ReadonlyArray<typeof NoteElement.Type>) => {
  const bySecond = Map.groupBy(notes, ({ noteTweet }) => Math.floor(Date.parse(noteTweet.createdAt) / 1000))
  return (text: string, millis: number): string | undefined => {
    const second = Math.floor(millis / 1000)
    const beginning = plain(text.replace(/…(\s*https:\/\/t\.co\/\w+)?$/, ""))
    for (let at = second - maxLag; at <= second + 1; at++) {
      for (const { noteTweet: { core } } of bySecond.get(at) ?? []) {
        if (plain(core.text).startsWith(beginning)) return core.text
      }
    }
    return undefined
  }
}

/** A note is made at most so many seconds before its post. */
const maxLag = 5

/** A text without what differs between a note and its post: mentions of a reply, links, spaces. */
const plain = (text: string): string =>
  text.replace(/^(@\w+\s+)+/, "").replace(/https?:\/\/\S+/g, "").replace(
    /&(amp|lt|gt);/g,
    (_, name: keyof typeof escaped) => escaped[name]
  )
    .replace(/\s+/g, "")

const escaped = { amp: "&", lt: "<", gt: ">" } as const
