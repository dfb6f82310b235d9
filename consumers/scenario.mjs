/** What every program does with its client, and what it has to come to. `postwire` is the module that it imported. */
export const scenario = async (postwire, settings) => {
  const { BadRequest, createClient, InvalidParameters } = postwire
  const waits = []
  const client = createClient({
    ...settings,
    waitOnRateLimit: true,
    onRateLimit: (change) => {
      if (change._tag === "Waiting") waits.push(change.operation)
    }
  })
  // Refused at first, for a second.
  const { data: me } = await client.getMe({ user_auth: false })
  const { data: user } = await client.getUser({ username: "ada", user_fields: ["description"] })
  const posts = []
  for await (const { id } of client.searchRecentPosts.items({ query: "effect", max_results: 10 })) {
    if (posts.push(id) === 25) break
  }
  const refused = await client.searchRecentPosts({ query: "(" }).catch((error) => error)
  const invalid = await client.getPost({ id: "../" }).catch((error) => error)
  await client.close()
  const closed = await client.getMe().catch((error) => error)
  return {
    waits,
    me: me?.username,
    user: user?.name,
    posts: new Set(posts).size,
    errors: [
      [refused instanceof BadRequest, refused instanceof Error, refused._tag],
      [invalid instanceof InvalidParameters, invalid instanceof TypeError, invalid._tag],
      [closed._tag]
    ]
  }
}

/** The settings of the sandbox, from an environment. */
export const settingsOf = (environment) => ({
  baseUrl: environment.POSTWIRE_BASE_URL,
  bearerToken: environment.POSTWIRE_BEARER_TOKEN
})
