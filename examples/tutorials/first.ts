import { createClient } from "@postwire/node"

await using client = createClient()

const { data: me } = await client.getMe()
console.log("Hello,", me?.name)
