/** Seeds posts with attachments, likes and bookmarks. */
import type { Coordinates, Notes } from "../store/Post.ts"
import type { State } from "../store/Store.ts"
import { make, type Random } from "../text/random.ts"
import * as Vocabulary from "../text/vocabulary.ts"
import { type Account, adaOf } from "./Accounts.ts"
import { insertMedia, insertPoll, placeId } from "./Attachments.ts"
import { day, type Options, year } from "./Plan.ts"
import { compose } from "./Text.ts"

/** A post that others may refer to. */
interface Recent {
  readonly id: string
  readonly author: Account
  readonly text: string
  readonly repostable: boolean
  readonly reposters: Set<Account>
}

// The shares of all posts, and in each the share about the topic: a recent search for it finds about 79 of 100 posts.
const recentShare = 0.87
const topicShare = { recent: 0.93, old: 0.3 }

/** Fields that the service omits for some posts. */
const omissible = ["context_annotations", "display_text_range", "edit_controls", "source"]

/** The number of posts per transaction. */
const batch = 10_000

/** Creates the posts, oldest first. */
export const insertPosts = (store: State, { posts, seed, start }: Options, users: ReadonlyArray<Account>): void => {
  const random = make(seed, "posts")
  // A separate random stream, so that other data are unaffected.
  const seldom = make(seed, "facts")
  const noted = make(seed, "notes")
  const active = random.ranked(users)
  const ada = adaOf(users)
  const latest: Array<Recent> = []
  const times = timesOf(posts, start, random)

  const insert = (i: number): void => {
    const createdAt = times(i)
    const author = active()
    const said = random.chance(createdAt >= start - 7 * day ? topicShare.recent : topicShare.old)
    const kind = random.next()
    const target = latest[latest.length - 1 - Math.floor(-Math.log(1 - random.next()) * 40)]
    const popularity = Math.min(60, Math.floor((1 - random.next()) ** -0.55) - 1)
    const common = {
      authorId: author.id,
      createdAt,
      lang: author.language.code,
      source: random.pick(Vocabulary.sources),
      impressions: popularity * 37 + random.below(200)
    }
    if (kind < 0.12 && target?.repostable && target.author !== author && !target.reposters.has(author)) {
      target.reposters.add(author)
      store.posts.insert({
        ...common,
        text: `RT @${target.author.username}: ${target.text}`,
        lang: target.author.language.code,
        repostedPostId: target.id
      })
      return
    }
    const quotes = kind >= 0.12 && kind < 0.18 && target !== undefined
    const replies = kind >= 0.18 && kind < 0.43 && target !== undefined
    const original = !quotes && !replies
    const isLong = author.verified && seldom.chance(0.05)
    const text = (replies ? `@${target.author.username} ` : "") +
      compose(author.language, said, replies, active, random) + (isLong ? lengthen(author, users, seldom) : "")
    const mediaKeys = random.chance(0.06) ? [insertMedia(store, author, createdAt, random)] : undefined
    const pollId = original && random.chance(0.012) ? insertPoll(store, createdAt, random) : undefined
    const place = random.chance(0.04) ? random.below(Vocabulary.places.length) : undefined
    const id = store.posts.insert({
      ...common,
      text,
      inReplyToPostId: replies ? target.id : undefined,
      quotedPostId: quotes ? target.id : undefined,
      mediaKeys,
      pollId,
      placeId: place === undefined ? undefined : placeId(place),
      coordinates: place === undefined || seldom.chance(0.5) ? undefined : centreOf(place),
      communityId: original && seldom.chance(0.03) ? seldom.pick(Vocabulary.communities).id : undefined,
      withheld: seldom.chance(0.005)
        ? { copyright: seldom.chance(0.3), country_codes: seldom.pick([["DE"], ["TR"], ["DE", "FR"]]), scope: "post" }
        : undefined,
      paidPartnership: noted.chance(0.02),
      notes: notesOn(mediaKeys !== undefined, noted),
      leftOut: omissible.filter(() => seldom.chance(0.08)),
      replySettings: random.chance(0.03) ? random.pick(["mentionedUsers", "following"]) : undefined,
      possiblySensitive: random.chance(0.01)
    })
    // Protected posts get no replies, reposts or likes.
    if (author.protected) return
    for (let n = popularity; n > 0; n--) store.likes.set((n % 2 === 0 ? active() : random.pick(users)).id, id, true)
    if (random.chance(0.04)) store.bookmarks.set(ada.id, id, true)
    if (random.chance(0.01)) store.bookmarks.set(active().id, id, true)
    latest.push({ id, author, text, repostable: true, reposters: new Set() })
    if (latest.length > 1024) latest.splice(0, 512)
  }

  for (let first = 0; first < posts; first += batch) {
    store.transaction(() => {
      for (let i = first; i < Math.min(posts, first + batch); i++) insert(i)
    })
  }
}

/** Extends a text beyond the usual length of posts. */
const lengthen = (author: Account, users: ReadonlyArray<Account>, random: Random): string => {
  let text = ""
  while (text.length < 400) text += ` ${compose(author.language, false, false, () => random.pick(users), random)}`
  return text
}

const centreOf = (place: number): Coordinates | undefined => {
  const box = Vocabulary.places[place]
  if (box === undefined) return undefined
  const [, , , west, south, east, north] = box
  return { type: "Point", coordinates: [(west + east) / 2, (south + north) / 2] }
}

/** Ascending times: older posts over two years, recent ones over 6.9 days until 40 s before the start, fewer at night. */
const timesOf = (posts: number, start: number, random: Random): (i: number) => number => {
  const old = posts - Math.round(posts * recentShare)
  const border = start - 6.9 * day
  const wave = (time: number) => time + 0.6 * day / (2 * Math.PI) * Math.sin(2 * Math.PI * time / day)
  const spread = (i: number, count: number, from: number, to: number) => {
    const [first, last] = [wave(from), wave(to)]
    return Math.floor(
      from + (wave(from + (i + random.next()) / count * (to - from)) - first) / (last - first) * (to - from)
    )
  }
  return (i) =>
    i < old
      ? spread(i, old, start - 2 * year, border - 1)
      : spread(i - old, posts - old, border, start - 40_000)
}

// The shares among posts with media, and among all posts.
const matchedShare = 0.2
const requestedShare = 0.01

/** The notes on a post; rarely any. */
const notesOn = (hasMedia: boolean, random: Random): Notes => ({
  ...(hasMedia && random.chance(matchedShare) && {
    matched_media_notes: [{ note_id: idOf(random), match_status: random.pick(["matched", "unmatched"]) }]
  }),
  ...(random.chance(requestedShare) && {
    note_request_suggestions: [{
      suggestion_id: idOf(random),
      suggestion: "Say where this comes from.",
      source_link: `https://example.com/sources/${random.below(1_000)}`
    }]
  })
})

const idOf = (random: Random): string => String(10 ** 15 + random.below(10 ** 9))
