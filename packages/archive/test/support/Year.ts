/** A population that lives for a year: what happens on a day follows from a seed. */
import type * as Sandbox from "@postwire/sandbox/Sandbox"
import type { Random } from "../../../sandbox/src/text/random.ts"
import type { make as makeClock } from "./VirtualClock.ts"

type Store = Sandbox.Sandbox["Service"]["store"]

/** The population, and what has happened to it. */
export interface World {
  readonly ada: string
  readonly list: string
  /** Accounts that are never hidden: the two that are read by name, and some that ada follows all year. */
  readonly open: ReadonlyArray<string>
  readonly all: ReadonlyArray<string>
  /** Every account that was protected or suspended at some time. */
  readonly hidden: Set<string>
  readonly posts: Array<string>
  readonly day: () => void
}

const second = 1_000

/** The service lists 800: in a copy that has more, removed ones and older ones look alike. */
const mostBookmarks = 700

export const make = (
  store: Store,
  ada: string,
  clock: ReturnType<typeof makeClock>,
  accounts: number,
  draw: Random
): World => {
  const all = store.transaction(() =>
    Array.from({ length: accounts }, (_, n) =>
      store.users.insert({
        username: `account${n}`,
        name: `Account ${n}`,
        createdAt: clock.now() - 400 * 86_400 * second + n * second
      }))
  )
  const open = all.slice(0, 12)
  const hidden = new Set<string>()
  const posts: Array<string> = []
  const list = store.lists.insert({ ownerId: ada, name: "some", createdAt: clock.now() - 3_600 * second })
  const anyone = () => all[12 + draw.below(all.length - 12)]!
  /** Some accounts write much more than others. */
  const writer = () => draw.chance(0.3) ? draw.pick(open) : draw.chance(0.5) ? all[12 + draw.below(60)]! : anyone()
  const livePost = () => draw.pick(posts.slice(-400))
  let renamed = 0

  /** A post is reposted once by an account, and a repost is none to repost. */
  const canRepost = (authorId: string, id: string) =>
    store.posts.repostBy(authorId, id) === undefined &&
    store.posts.byId(id)?.referenced_posts?.[0]?.type !== "reposted"

  const post = (authorId: string) => {
    const last = posts.length === 0 ? undefined : livePost()
    const target = last !== undefined && store.posts.byId(last) !== undefined ? last : undefined
    const reference = target !== undefined && draw.chance(0.3)
      ? draw.pick([
        { inReplyToPostId: target },
        { quotedPostId: target },
        canRepost(authorId, target) ? { repostedPostId: target } : {}
      ])
      : {}
    const text = "repostedPostId" in reference
      ? "RT"
      : `${draw.chance(0.04) ? "@ada " : ""}${draw.chance(0.05) ? "pelican " : ""}post ${posts.length} of a day`
    posts.push(store.posts.insert({ authorId, text, createdAt: clock.now(), ...reference }))
  }
  const edit = () => {
    const id = livePost()
    const found = store.posts.byId(id)
    if (found === undefined || found.edit_history_post_ids.at(-1) !== id || found.referenced_posts !== undefined) return
    posts.push(
      store.posts.insert({
        authorId: found.author_id,
        text: `${found.text} edited`,
        createdAt: clock.now(),
        editOf: id
      })
    )
  }
  const remove = () => void store.posts.delete(livePost())
  const rename = () => store.users.update(anyone(), "profile.update.screenname", `Renamed ${++renamed}`)
  const hide = () => {
    const id = anyone()
    hidden.add(id)
    if (draw.chance(0.5)) store.users.setSuspended(id, draw.chance(0.6))
    else store.users.setProtected(id, draw.chance(0.6))
  }
  const bookmarks = new Set<string>()
  const react = () => {
    const id = livePost()
    if (store.posts.byId(id) === undefined) return
    const isBookmark = draw.chance(0.5) && bookmarks.size < mostBookmarks
    if (isBookmark) bookmarks.add(id)
    const reactions = isBookmark ? store.bookmarks : store.likes
    reactions.set(ada, id, draw.chance(0.75))
  }
  /** More than one page of a list. */
  const burst = () => {
    const many = Array.from({ length: 30 + draw.below(30) })
    if (draw.chance(0.5)) {
      const author = draw.pick([ada, open[0]!])
      for (const _ of many) post(author)
    } else {
      for (const _ of many) react()
    }
  }
  const follow = () => store.follows.set(anyone(), ada, draw.chance(0.6) ? "following" : "none")
  const adaFollows = () => store.follows.set(ada, all[12 + draw.below(60)]!, draw.chance(0.6) ? "following" : "none")
  const member = () => store.lists.setMember(list, all[12 + draw.below(60)]!, draw.chance(0.6))

  store.transaction(() => {
    for (const id of open) store.follows.set(ada, id, "following")
    for (const id of all.slice(12, Math.min(212, all.length))) {
      if (draw.chance(0.7)) store.follows.set(id, ada, "following")
    }
    for (const id of open.slice(4, 8)) store.lists.setMember(list, id, true)
  })

  const events: ReadonlyArray<readonly [weight: number, event: () => unknown]> = [
    [14, () => post(writer())],
    [2, () => post(ada)],
    [1, edit],
    [1.5, remove],
    [1, rename],
    [0.7, hide],
    [5, react],
    [0.1, burst],
    [2, follow],
    [0.7, adaFollows],
    [0.5, member]
  ]
  const weights = events.reduce((sum, [weight]) => sum + weight, 0)
  const happen = () => {
    let at = draw.next() * weights
    for (const [weight, event] of events) if ((at -= weight) < 0) return void event()
  }
  const perDay = Math.round(weights)
  return {
    ada,
    list,
    open,
    all,
    hidden,
    posts,
    day: () =>
      store.transaction(() => {
        for (let n = 0; n < perDay; n++) {
          clock.advance(Math.floor(82_000 / perDay) * second)
          if (n > 2 || posts.length > 0) happen()
          else post(draw.pick(open))
        }
        clock.advance(60 * second)
      })
  }
}
