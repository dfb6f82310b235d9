import { createClient, NotFound, RateLimited, Unauthorized } from "@postwire/node"
import { Session } from "@postwire/node/UndiciHttpClient"

// Connections are shared by all requests; a client per request holds the token of the user, and costs nothing.
const session = new Session()

/** `GET /api/me`, as Next.js and others have it: a web `Request` in, a web `Response` out. */
export const GET = async (request: Request): Promise<Response> => {
  const bearerToken = request.headers.get("authorization")?.replace(/^Bearer /i, "")
  if (!bearerToken) return Response.json({ error: "Sign in first" }, { status: 401 })
  await using client = createClient({
    baseUrl: process.env["POSTWIRE_BASE_URL"],
    bearerToken,
    dispatcher: session,
    timeout: 5_000
  })
  try {
    // When the browser goes away, so does the call.
    const { data } = await client.getMe({ user_auth: false, user_fields: ["public_metrics"] }, {
      signal: request.signal
    })
    return Response.json({ name: data?.name, followers: data?.public_metrics.followers_count })
  } catch (error) {
    if (error instanceof Unauthorized) return Response.json({ error: "Sign in again" }, { status: 401 })
    if (error instanceof NotFound) return Response.json({ error: "There is no such account" }, { status: 404 })
    if (error instanceof RateLimited) {
      const again = error.resetAt?.toUTCString() ?? "60"
      return Response.json({ error: "Too many requests" }, { status: 503, headers: { "retry-after": again } })
    }
    throw error
  }
}
