import { createClient, TransportFailure } from "@postwire/node"

// #region settings
await using client = createClient({
  retries: 4, // 2 unless set; 0 is exactly one request
  timeout: { connect: 5_000, firstByte: 10_000, idle: 10_000, total: 60_000 } // milliseconds; 0 turns one off
})
// #endregion

// #region call
const { data } = await client.getMe({ user_auth: false }, { timeout: 5_000, retries: 0 })
console.log(data?.name)
// #endregion

// #region signal
try {
  await client.searchRecentPosts({ query: "effect" }, { signal: AbortSignal.timeout(5_000) })
} catch (error) {
  if (error instanceof TransportFailure) console.log(error.phase, error.timeout)
  else if (error instanceof DOMException) console.log("aborted")
  else throw error
}
// #endregion

// #region watch
await using watched = createClient({
  logger: console,
  onRequest: ({ attempt, duration, operation, status }) => console.log(operation, attempt, status, `${duration} ms`)
})
await watched.getMe({ user_auth: false })
// #endregion
