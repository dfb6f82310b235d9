import { createClient, OutcomeUnknown } from "@postwire/node"
import { setTimeout as sleep } from "node:timers/promises"

// Replies once to every mention of the account, until Ctrl-C. `postwire login bot --for getUsersMentions,createPost` signs it
// in; POSTWIRE_ACCOUNT=bot is all that it needs then.
const stop = new AbortController()
process.once("SIGINT", () => stop.abort())
const { signal } = stop

await using client = createClient({
  waitOnRateLimit: true,
  onRateLimit: (change) => "until" in change && console.log("waiting until", change.until)
})

const { data: me } = await client.getMe({}, { signal })
if (me === undefined) throw new Error("No user is signed in")

let last: string | undefined
while (!signal.aborted) {
  try {
    const mentions = client.getUsersMentions.items(
      { id: me.id, ...(last === undefined ? {} : { since_id: last }) },
      { limit: 20, signal }
    )
    const fresh: Array<{ readonly id: string; readonly text: string }> = []
    for await (const post of mentions) fresh.unshift(post)
    for (const post of fresh) {
      last = post.id
      try {
        await client.createPost({ text: "Thank you!", in_reply_to_post_id: post.id }, { signal })
        console.log("answered", post.text)
      } catch (error) {
        // It may have been posted: a second one would be worse than none.
        if (!(error instanceof OutcomeUnknown)) throw error
        console.log("perhaps answered", post.text)
      }
    }
    await sleep(Number(process.env["BOT_PAUSE"] ?? 60_000), undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
console.log("bye")
