import { createClient } from "@postwire/web"

interface Environment {
  readonly SERVICE_URL: string
  readonly TOKEN: string
}

export default {
  async fetch(request: Request, environment: Environment): Promise<Response> {
    // One per request: what a client has under way belongs to the request that began it.
    const client = createClient({ baseUrl: environment.SERVICE_URL, bearerToken: environment.TOKEN })
    const username = new URL(request.url).searchParams.get("username") ?? "ada"
    const { data } = await client.getUser({ username })
    return Response.json(data ?? null, { status: data === undefined ? 404 : 200 })
  }
}
