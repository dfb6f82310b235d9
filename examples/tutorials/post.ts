import { createClient, Forbidden } from "@postwire/node"

await using client = createClient()

try {
  const { data: post } = await client.createPost({ text: "Hello from my first program" })
  console.log("posted", post?.id)
} catch (error) {
  if (error instanceof Forbidden) console.log("refused:", error.message)
  else throw error
}
