/** Seeds spaces, their participants and shared posts. */
import type { State } from "../store/Store.ts"
import { make } from "../text/random.ts"
import * as Vocabulary from "../text/vocabulary.ts"
import { type Account, adaOf } from "./Accounts.ts"
import { day, minute, type Options } from "./Plan.ts"

/** Ada has one space of each state, with ticket holders; other spaces have any state. */
export const insertSpaces = (store: State, { seed, start }: Options, users: ReadonlyArray<Account>): void => {
  const random = make(seed, "spaces")
  const ada = adaOf(users)
  const someone = random.ranked(users)
  const count = 9 + Math.floor(users.length / 25)
  for (const topic of Vocabulary.topics) store.spaces.insertTopic(topic)
  for (let i = 0; i < count; i++) {
    const creator = i < 3 ? ada : someone()
    const kind = i < 3 ? i : random.below(3)
    const speakers = [someone(), someone()].filter((user) => user !== creator)
    const isTicketed = creator === ada || random.chance(0.2)
    const space = store.spaces.insert({
      creatorId: creator.id,
      createdAt: start - 4 * day + Math.floor(i / count * 3 * day),
      title: random.pick(Vocabulary.spaceTitles),
      scheduledStart: kind === 0 ? start + day : undefined,
      startedAt: kind === 0 ? undefined : kind === 1 ? start - 30 * minute : start - 20 * 60 * minute,
      endedAt: kind === 2 ? start - 19 * 60 * minute : undefined,
      isTicketed,
      lang: creator.language.code,
      people: {
        host_ids: [creator.id],
        ...(speakers.length > 0 && {
          [kind === 0 ? "invited_user_ids" : "speaker_ids"]: [...new Set(speakers.map((user) => user.id))]
        }),
        topic_ids: [random.pick(Vocabulary.topics).id]
      },
      participants: kind === 0 ? 0 : random.below(500),
      subscribers: random.below(200)
    })
    for (let n = isTicketed ? 3 + random.below(8) : 0; n > 0; n--) {
      const buyer = someone()
      if (buyer !== creator) store.spaces.sell(space, buyer.id)
    }
    const shared = store.timelines.byAuthor({ authorId: someone().id, viewer: { userId: undefined }, limit: 5 })
    for (const post of shared.items.toReversed()) store.spaces.share(space, post.id)
  }
}
