/**
 * Stands between the pages of one origin and the service, which answers no page itself. It lets through what begins with
 * one path, for whom `allows` knows, and puts the credential of the service in place of theirs: no page ever has it.
 */
export interface ProxySettings {
  /** The origin of the pages, such as `https://app.example`. */
  readonly origin: string
  /** The service, and the beginning of the paths that pages may read, such as `/2/users/`. */
  readonly baseUrl: string
  readonly prefix: string
  readonly bearerToken: string
  /** Returns true if the sender may use the proxy. The origin alone proves nothing: only browsers enforce it. */
  readonly allows: (request: Request) => boolean | Promise<boolean>
}

/** The response headers that a page may read. */
const told = [
  "content-type",
  "date",
  "retry-after",
  "x-rate-limit-limit",
  "x-rate-limit-remaining",
  "x-rate-limit-reset",
  "x-transaction-id"
]

/** The proxy as a function from requests to responses, as Workers, Deno, Bun and frameworks have it. */
export const proxy = ({ allows, baseUrl, bearerToken, origin, prefix }: ProxySettings) => {
  const answer = (status: number, headers: Record<string, string> = {}, body: ReadableStream | null = null) =>
    new Response(body, {
      status,
      headers: {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": told.join(", "),
        "cache-control": "no-store",
        vary: "origin",
        ...headers
      }
    })

  return async (request: Request): Promise<Response> => {
    // A page that reads from its own origin sends none.
    const from = request.headers.get("origin")
    const isOwn = from === null && request.headers.get("sec-fetch-site") === "same-origin"
    if (from !== origin && !isOwn) return answer(403)
    if (request.method === "OPTIONS") {
      return answer(204, {
        "access-control-allow-headers": "authorization, user-agent",
        "access-control-allow-methods": "GET",
        "access-control-max-age": "600"
      })
    }
    // Reads only. What `..` means is settled by now; what is escaped could mean another path to the service.
    if (request.method !== "GET") return answer(405)
    const { pathname, search } = new URL(request.url)
    if (!pathname.startsWith(prefix) || /%(2e|2f|5c)|\\|\/\//i.test(pathname)) return answer(404)
    if (!await allows(request)) return answer(401)

    const response = await fetch(`${baseUrl}${pathname}${search}`, {
      headers: { accept: "application/json", authorization: `Bearer ${bearerToken}` },
      redirect: "manual",
      signal: request.signal
    })
    const headers = told.flatMap((name) => {
      const value = response.headers.get(name)
      return value === null ? [] : [[name, value]]
    })
    return answer(response.status, Object.fromEntries(headers), response.body)
  }
}
