// #region catch
import { createClient, Forbidden, NotFound, OutcomeUnknown, RateLimited } from "@postwire/node"

await using client = createClient()

try {
  const { data } = await client.createPost({ text: "Hello" })
  console.log("posted", data?.id)
} catch (error) {
  if (error instanceof RateLimited) console.log("again at", error.resetAt)
  else if (error instanceof Forbidden) console.log("not permitted:", error.message)
  else if (error instanceof OutcomeUnknown) console.log("look first, with", error.confirmWith)
  else throw error
}
// #endregion

// #region partial
const { data = [], errors } = await client.getUsers({ usernames: ["ada", "nobodyyy"] })
console.log(data.map(({ username }) => username))
for (const { detail } of errors) console.log(detail)

const { data: nobody, errors: reasons } = await client.getUser({ username: "nobodyyy" })
if (nobody === undefined) console.log(reasons[0]?.detail)
// #endregion

// #region notFound
try {
  await client.deletePost({ id: "1" })
} catch (error) {
  if (!(error instanceof NotFound)) throw error
  console.log("there is no such post")
}
// #endregion

// #region confirm
const today = new Date().toISOString().slice(0, 10)
await client.publishThread([{ text: `Good morning, ${today}` }], { key: `morning ${today}` })
// #endregion
