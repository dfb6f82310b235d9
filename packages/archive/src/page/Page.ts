/**
 * A page on this machine to read and search a copy. Any web page and any user of the machine can reach a loopback port: the shell of the
 * page has no data, and its views need a host of this machine and the token.
 */
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import type { SqlError } from "effect/sql/SqlError"
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import type * as Copy from "../copy/Copy.ts"
import type { CopyUnusable } from "../copy/CopyErrors.ts"
import * as Files from "./Files.ts"
import { html } from "./Html.ts"
import * as Posts from "./Posts.ts"
import * as Shell from "./Shell.ts"
import * as Views from "./Views.ts"

/** A new random token. */
export const makeToken = (): Redacted.Redacted => Redacted.make(randomBytes(32).toString("base64url"))

/** The address of the page with the token in the fragment, which browsers do not send. Anyone who has it reads the copy. */
export const urlWith = (baseUrl: string, token: Redacted.Redacted): string =>
  `${baseUrl}/#token=${Redacted.value(token)}`

const headers = {
  "content-security-policy": Shell.policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
  vary: "authorization"
}

const respond = (text: string, status = 200): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, { status, contentType: "text/html; charset=utf-8", headers })

const shown = ({ body, title }: Posts.View, status = 200): HttpServerResponse.HttpServerResponse =>
  respond(html`<!doctype html><title>${title}</title><h1 tabindex="-1">${title}</h1>${body}`.html, status)

const refused = (status: number, title: string, text: string) =>
  Effect.succeed(shown({ title, body: html`<p>${text}</p>` }, status))

/** Compares secrets. Digests have one length, whatever is compared. */
const isSame = (given: string, expected: string): boolean => timingSafeEqual(digestOf(given), digestOf(expected))

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest()

/** A name that resolves to this machine may belong to a web page, so only these are right. */
const local = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i

const shellUrl = "http://localhost/"

/** Answers the requests of the page. `name` is that of the copy. */
export const answer = (
  name: string,
  token: Redacted.Redacted
): Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Copy.Current
> => {
  const expected = `Bearer ${Redacted.value(token)}`
  const shell = Shell.page(name)
  const signatureOf = (key: string) => createHmac("sha256", Redacted.value(token)).update(key).digest("base64url")
  const addressOf = (key: string) => `/media/${key}?signature=${signatureOf(key)}`
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers: given, method, url }) => {
    const { authorization, host = "", range } = given
    if (!local.test(host)) return refused(403, "Refused", "The header Host must be this machine's.")
    if (method !== "GET" && method !== "HEAD") return refused(405, "Refused", "The page only reads.")
    const address = URL.parse(url, shellUrl) ?? new URL(shellUrl)
    const key = /^\/media\/(\w+)$/.exec(address.pathname)?.[1]
    if (key !== undefined) {
      return isSame(address.searchParams.get("signature") ?? "", signatureOf(key))
        ? Effect.catch(Files.send(key, range, headers), failed)
        : refused(401, "No access", "The address is not one of this page.")
    }
    if (authorization === undefined) return Effect.succeed(respond(shell))
    if (!isSame(authorization, expected)) {
      return refused(
        401,
        "No access",
        "Open the address that the command printed: its token is missing here, or it is an old one."
      )
    }
    return Effect.catch(Effect.map(viewOf(address), (view) => shown(view)), failed).pipe(
      Effect.provideService(Files.Addresses, addressOf)
    )
  })
}

const failed = ({ message }: SqlError | CopyUnusable) => refused(500, "The copy cannot be read", message)

const viewOf = (
  { pathname, searchParams }: URL
): Effect.Effect<Posts.View, SqlError, Copy.Current | Files.Addresses> => {
  const [, first = "", second = ""] = pathname.split("/")
  const isSearch = ["q", "from", "since"].some((name) => searchParams.get(name))
  const listed = (table: "posts" | "messages", title: string) =>
    Effect.map(Posts.list(table, searchParams), (body) => ({ title: isSearch ? `${title} found` : title, body }))
  if (first.startsWith("@")) return Views.user(first, searchParams)
  switch (first) {
    case "":
      return listed("posts", "Posts")
    case "messages":
      return listed("messages", "Messages")
    case "post":
      return Posts.thread(second)
    case "user":
      return Views.user(second, searchParams)
    case "users":
      return Views.users(searchParams)
    case "charts":
      return Views.charts
    case "sources":
      return Views.sources
    default:
      return Effect.succeed({ title: "Nothing here", body: html`<p>There is no such view.</p>` })
  }
}
