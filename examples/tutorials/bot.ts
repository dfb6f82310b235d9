import { createClient, Forbidden, OutcomeUnknown } from "@postwire/node"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"

const file = "last-mention.txt"

await using client = createClient({ waitOnRateLimit: true })

const { data: me } = await client.getMe()
if (me === undefined) throw new Error("No user is signed in")

// The first start answers no mention that is already there.
if (!existsSync(file)) {
  const { data: [newest] = [] } = await client.getUsersMentions({ id: me.id, max_results: 5 })
  writeFileSync(file, newest?.id ?? "1")
}

console.log(`answering mentions of @${me.username}`)
while (true) {
  const fresh = []
  const mentions = client.getUsersMentions.items({ id: me.id, since_id: readFileSync(file, "utf8"), max_results: 100 })
  for await (const post of mentions) fresh.unshift(post)
  for (const { id, text } of fresh) {
    // Remembered before it is answered: after a crash, no answer is better than two.
    writeFileSync(file, id)
    try {
      await client.createPost({ text: "We open at nine.", in_reply_to_post_id: id })
      console.log("answered", text)
    } catch (error) {
      if (error instanceof OutcomeUnknown) console.log("perhaps answered", text)
      else if (error instanceof Forbidden) console.log("not answered:", error.message)
      else throw error
    }
  }
  await sleep(5_000)
}
