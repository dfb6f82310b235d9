import { createClient, RateLimited } from "@postwire/web"

const client = createClient({ baseUrl: "https://service.example", bearerToken: "token" })
try {
  const { data: ada } = await client.getUser({ username: "ada", user_fields: ["public_metrics"] })
  console.log(ada?.public_metrics.followers_count)
} catch (error) {
  if (error instanceof RateLimited) console.log("again at", error.resetAt)
  else throw error
}
