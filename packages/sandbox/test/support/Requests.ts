/** Requests to a sandbox, by hand and through the client. */
import * as Credentials from "@postwire/core/auth/Credentials"
import * as OAuth1 from "@postwire/core/auth/OAuth1"
import * as Client from "@postwire/core/client/Client"
import * as Scopes from "@postwire/core/schema/Scopes"
import type { WireName } from "@postwire/core/schema/WireName"
import * as Words from "@postwire/core/wire/Wire"
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import * as Sandbox from "../../src/Sandbox.ts"
import type * as Grants from "../../src/store/Credentials.ts"

export const now = Date.UTC(2026, 10, 20, 12)

export const second = 1_000
export const minute = 60 * second
export const day = 86_400 * second

/** The credentials of a client or a request. */
export interface Secrets {
  readonly bearerToken: string
  readonly consumerKey: string
  readonly consumerSecret: string
  readonly accessToken: string
  readonly accessTokenSecret: string
}

export const secretsOf = ({ seeded }: Sandbox.Sandbox["Service"]): Secrets & { readonly appToken: string } => ({
  bearerToken: Redacted.value(seeded.userBearerToken),
  appToken: Redacted.value(seeded.appBearerToken),
  consumerKey: seeded.consumerKey,
  consumerSecret: Redacted.value(seeded.consumerSecret),
  accessToken: Redacted.value(seeded.accessToken),
  accessTokenSecret: Redacted.value(seeded.accessTokenSecret)
})

/** An `Authorization` header for OAuth 1.0a. */
export const signed = (
  secrets: Omit<Secrets, "bearerToken">,
  method: string,
  url: string,
  { nonce = OAuth1.nonce(), time = now }: { readonly nonce?: string; readonly time?: number } = {}
): string =>
  OAuth1.sign({
    method,
    url,
    consumerKey: secrets.consumerKey,
    consumerSecret: secrets.consumerSecret,
    token: secrets.accessToken,
    tokenSecret: secrets.accessTokenSecret,
    nonce,
    timestamp: Math.floor(time / 1000),
    hmac: Effect.runSync(OAuth1.HmacSha1)
  })

/** An answer; `body` is parsed. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  // oxlint-disable-next-line no-explicit-any -- tests look into documents of every form
  readonly body: any
}

/** How a request is authorized: a token of the seed, a signature with its secrets, or a header as it is. */
export type Authorization = "app" | "user" | "signed" | { readonly header: string | undefined }

export interface RequestOptions {
  readonly as?: Authorization
  /** Text is sent as it is, everything else as JSON. */
  readonly body?: unknown
  /** The content type of the body; JSON when left out. */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A sandbox in process at a fixed time, with what tests do to it. It ends with the scope. */
export const make = Effect.fnUntraced(function*(options: Sandbox.Options = {}) {
  yield* TestClock.setTime(now)
  const context = yield* Layer.build(Sandbox.layer({ posts: 60, ...options }))
  const http = Context.get(context, HttpClient.HttpClient)
  const sandbox = Context.get(context, Sandbox.Sandbox)
  const secrets = secretsOf(sandbox)

  const request = Effect.fnUntraced(function*(method: string, path: string, options: RequestOptions = {}) {
    const { as = "user", body, headers, type = "application/json" } = options
    const url = sandbox.baseUrl + path
    const authorization = as === "app"
      ? `Bearer ${secrets.appToken}`
      : as === "user"
      ? `Bearer ${secrets.bearerToken}`
      : as === "signed"
      // As it travels: what a URL cannot hold is escaped.
      ? signed(secrets, method, URL.canParse(url) ? new URL(url).href : url, { time: yield* Clock.currentTimeMillis })
      : as.header
    const response = yield* http.execute(
      // The type knows the usual methods only.
      HttpClientRequest.make(method as "GET")(url, {
        body: body === undefined
          ? HttpBody.empty
          : body instanceof Uint8Array
          ? HttpBody.uint8Array(body, type)
          : HttpBody.text(typeof body === "string" ? body : JSON.stringify(body), type),
        headers: { ...(authorization === undefined ? {} : { authorization }), ...headers }
      })
    )
    const text = yield* response.text
    const answer: Answer = { status: response.status, headers: response.headers, body: JSON.parse(text) }
    return answer
  }, Effect.orDie)

  let newcomers = 0

  /** The bearer token of an app that nobody knew before: of `userId`, or of the app alone. */
  const newcomer = (
    options: Partial<Pick<Grants.BearerToken, "userId" | "rights" | "scopes">> & Partial<Pick<Grants.App, "access">> =
      {}
  ): { readonly header: string } => {
    const { access = "research", rights = "read-write-directmessages", scopes = Scopes.scopes, userId } = options
    const name = `newcomer-${++newcomers}`
    const { credentials } = sandbox.store
    const appId = credentials.insertApp({
      name,
      access,
      rights,
      consumerKey: name,
      consumerSecret: Redacted.make(`${name}-secret`),
      createdAt: now
    })
    credentials.insertBearerToken({ token: Redacted.make(name), appId, userId, rights, scopes })
    return { header: `Bearer ${name}` }
  }

  /** The client, with the credentials of the seed unless others are given. */
  const client = (wire: WireName = "neutral", credentials: Credentials.Settings = secrets) =>
    Client.layer({ baseUrl: sandbox.baseUrl, wire: Words.named[wire] }).pipe(
      Layer.provide([Credentials.layer(credentials), Layer.succeed(HttpClient.HttpClient, http)])
    )

  return { ...sandbox, sandbox, http, secrets, request, newcomer, client }
})

/** What `make` makes. */
export type Bench = Effect.Success<ReturnType<typeof make>>
