/** Seeds direct messages. */
import type { State } from "../store/Store.ts"
import { make } from "../text/random.ts"
import { type Account, adaOf } from "./Accounts.ts"
import { insertMedia } from "./Attachments.ts"
import { day, minute, type Options } from "./Plan.ts"
import { compose } from "./Text.ts"

/** Creates conversations of ada and a few others, one of them a group. */
export const insertMessages = (store: State, { seed, start }: Options, users: ReadonlyArray<Account>): void => {
  const random = make(seed, "messages")
  const ada = adaOf(users)
  const [a, b, c, d, e] = users.filter((user) => user !== ada)
  const pairs = [[ada, a!], [ada, b!], [ada, c!], [d!, ada], [d!, e!]] as const
  const messages = 240
  const group = [a!, d!, e!]
  let groupId: string | undefined
  for (let i = 0; i < messages; i++) {
    const createdAt = Math.floor(start - 45 * day + (i + random.next()) / messages * (45 * day - minute))
    const pair = random.pick(pairs)
    if (i === messages / 2) {
      groupId = store.messages.openGroup({ creatorId: ada.id, participantIds: group.map((user) => user.id), createdAt })
    }
    const inGroup = groupId !== undefined && random.chance(0.3)
    const sender = inGroup ? random.pick([ada, ...group]) : random.pick(pair)
    store.messages.insert({
      conversationId: inGroup && groupId !== undefined ? groupId : store.messages.open(pair[0].id, pair[1].id),
      senderId: sender.id,
      createdAt,
      text: compose(sender.language, random.chance(0.3), random.chance(0.5), () => ada, random),
      mediaKey: random.chance(0.05) ? insertMedia(store, sender, createdAt, random) : undefined
    })
  }
}
