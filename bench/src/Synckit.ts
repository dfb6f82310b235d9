/** The worker of synckit around the Promise client: it makes the client of the first call and answers with the body. */
import { createClient, type PostwireClient, type Settings } from "@postwire/node"
import { runAsWorker } from "synckit"

let client: PostwireClient | undefined

runAsWorker(async (settings: Settings, method: "getPost" | "searchRecentPosts", parameters: object) => {
  client ??= createClient(settings)
  // The parameters of one of them, as the caller knows.
  const { body } =
    await (method === "getPost" ? client[method](parameters as never) : client[method](parameters as never))
  return body
})
