import { createClient, fromEnvironment, MissingAccessToken } from "@postwire/node"

// #region both
await using client = createClient({
  baseUrl: process.env["POSTWIRE_BASE_URL"],
  // Reads, searches and counts.
  bearerToken: process.env["POSTWIRE_BEARER_TOKEN"],
  // Acts for a user: posts, likes, follows.
  consumerKey: process.env["POSTWIRE_CONSUMER_KEY"],
  consumerSecret: process.env["POSTWIRE_CONSUMER_SECRET"],
  accessToken: process.env["POSTWIRE_ACCESS_TOKEN"],
  accessTokenSecret: process.env["POSTWIRE_ACCESS_TOKEN_SECRET"]
})

await client.getUser({ username: "ada" }) // a bearer token: user_auth is false
await client.getUser({ username: "ada", user_auth: true }) // an OAuth 1.0a signature
await client.getMe() // of the user: user_auth is true
// #endregion

// #region user
const { bearerToken } = fromEnvironment()
await using asUser = createClient({ bearerToken })
const { data } = await asUser.createPost({ text: "Signed in with OAuth 2.0", user_auth: false })
console.log(data?.id)
// #endregion

// #region missing
try {
  await asUser.createPost({ text: "user_auth is true here" })
} catch (error) {
  if (error instanceof MissingAccessToken) console.log(error.credential, error.missing)
}
// #endregion
