// A web app that signs users in and calls for them: `node examples/sign-in.ts`, then open http://localhost:8080.
// It finds the service and the app in POSTWIRE_BASE_URL, POSTWIRE_CLIENT_ID and POSTWIRE_CLIENT_SECRET.
import { createClient, fromEnvironment, LoginRequired } from "@postwire/node"
import * as OAuth2 from "@postwire/node/OAuth2"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

const { baseUrl, clientId, clientSecret, tokenStore, wire } = fromEnvironment()
const app = { baseUrl, clientId, clientSecret, tokenStore, wire }
const { PORT: port = "8080" } = process.env
const asked = { redirectUri: `http://localhost:${port}/callback`, scopes: OAuth2.scopesFor(["getMe", "getBookmarks"]) }

/** By the cookie of a browser: the sign-in that it has begun, or the account that it ended with. */
const sessions = new Map<string, { readonly signIn: OAuth2.SignIn } | { readonly account: string }>()

const answer = async (request: IncomingMessage, response: ServerResponse) => {
  const redirect = (to: string) => response.writeHead(303, { location: to }).end()
  const begin = (session: typeof sessions extends Map<string, infer S> ? S : never) => {
    const id = randomUUID()
    sessions.set(id, session)
    response.setHeader("set-cookie", `session=${id}; HttpOnly; SameSite=Lax; Path=/`)
  }
  const path = request.url ?? "/"
  const session = sessions.get(/\bsession=([\w-]+)/.exec(request.headers.cookie ?? "")?.[1] ?? "")

  if (path === "/login" || session === undefined) {
    const signIn = await OAuth2.authorize({ ...app, ...asked })
    begin({ signIn })
    return redirect(signIn.url)
  }
  if ("signIn" in session) {
    if (!path.startsWith("/callback")) return redirect("/login")
    const code = OAuth2.callback(path, session.signIn)
    const tokens = await OAuth2.exchange({ ...app, ...asked, code, verifier: session.signIn.verifier })
    await using client = createClient({ baseUrl, wire, bearerToken: tokens.accessToken })
    const { data: user } = await client.getMe({ user_auth: false })
    if (user === undefined) throw new Error("No user signed in")
    // From here on, every process that shares the store can call for this user.
    await OAuth2.saveAccount({ ...app, account: user.id, tokens, user })
    begin({ account: user.id })
    return redirect("/")
  }
  await using client = createClient({ ...app, account: session.account })
  response.setHeader("content-type", "text/plain; charset=utf-8")
  for await (const post of client.getBookmarks.items({}, { limit: 20 })) response.write(`${post.text}\n`)
  response.end()
}

createServer((request, response) => {
  answer(request, response).catch((error: Error) => {
    if (error instanceof LoginRequired) return response.writeHead(303, { location: "/login" }).end()
    const isTheirs = error instanceof OAuth2.AuthorizationDenied || error instanceof OAuth2.InvalidRedirect
    response.writeHead(isTheirs ? 403 : 502, { "content-type": "text/plain; charset=utf-8" }).end(error.message)
  })
}).listen(Number(port), "127.0.0.1", () => console.log(`http://localhost:${port}`))
