import { createClient, Forbidden, OutcomeUnknown } from "@postwire/node"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

// Replies once to every mention of the account since its first start, until Ctrl-C. `postwire login bot --for
// getUsersMentions,createPost` signs it in; POSTWIRE_ACCOUNT=bot is all that it needs then.
const stop = new AbortController()
process.once("SIGINT", () => stop.abort())
const { signal } = stop

// A mention is remembered before it is answered: after a crash, no answer is better than two.
const file = process.env["BOT_FILE"] ?? "last-mention.txt"
let last = existsSync(file) ? readFileSync(file, "utf8") : undefined
const remember = (id: string) => {
  last = id
  writeFileSync(file, id)
}

await using client = createClient({
  waitOnRateLimit: true,
  onRateLimit: (change) => "until" in change && console.log("waiting until", change.until)
})

try {
  const { data: me } = await client.getMe({}, { signal })
  if (me === undefined) throw new Error("No user is signed in")
  if (last === undefined) {
    const { data: [newest] = [] } = await client.getUsersMentions({ id: me.id, max_results: 5 }, { signal })
    remember(newest?.id ?? "1")
  }
  console.log("answering mentions")
  while (!signal.aborted) {
    const mentions = client.getUsersMentions.items({ id: me.id, since_id: last, max_results: 100 }, { signal })
    const fresh: Array<{ readonly id: string; readonly text: string }> = []
    for await (const post of mentions) fresh.unshift(post)
    for (const post of fresh) {
      remember(post.id)
      try {
        await client.createPost({ text: "Thank you!", in_reply_to_post_id: post.id }, { signal })
        console.log("answered", post.text)
      } catch (error) {
        if (error instanceof OutcomeUnknown) console.log("perhaps answered", post.text)
        else if (error instanceof Forbidden) console.log("not answered:", error.message)
        else throw error
      }
    }
    await sleep(Number(process.env["BOT_PAUSE"] ?? 60_000), undefined, { signal })
  }
} catch (error) {
  if (!signal.aborted) throw error
}
console.log("bye")
