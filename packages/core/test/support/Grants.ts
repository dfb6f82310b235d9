/**
 * A service that signs users in, in memory. A refresh token is used once, and kills the access token before; again only as long as
 * nothing that it brought was used, or never if the service is strict. Any other reuse kills the grant.
 */
import { assert } from "@effect/vitest"
import { Clock, Effect, Layer, Option, Redacted } from "effect"
import { HttpClient } from "effect/http"
import * as Account from "../../src/accounts/Account.ts"
import * as AccountCredentials from "../../src/accounts/AccountCredentials.ts"
import * as Client from "../../src/client/Client.ts"
import * as TokenStore from "../../src/storage/TokenStore.ts"
import { type Answer, baseUrl, make as makeService, type Received, transportError } from "./Service.ts"

/** What becomes of a request for tokens. */
export type Fate =
  | "answered"
  /** It is processed, and the answer is lost. */
  | "cut"
  /** Nothing of it leaves. */
  | "unsent"
  /** It fails, and does nothing. */
  | "failed"
  /** It fails, after it was processed. */
  | "failed late"
  | "limited"
  | "forbidden"
  /** A proxy refuses it, with a page of its own. */
  | "intercepted"
  /** A gateway refuses it, with a document of its own. */
  | "gateway"
  /** The app is refused, not the token. */
  | "unknown app"
  | "unreadable"

/** Whether the service did what it was asked for. */
export const isProcessed = (fate: Fate): boolean => ["answered", "cut", "failed late", "unreadable"].includes(fate)

interface Pair {
  readonly number: number
  readonly expiresAt: number
  /** The refresh token that was spent on it. */
  readonly from: number | undefined
  isUsed: boolean
}

export const lifeMillis = 7_200_000

const scopes = ["post.read", "post.write", "users.read", "bookmark.read", "bookmark.write", "offline.access"] as const

export const access = (number: number): string => `canary-access-${number}`
const refreshToken = (number: number): string => `canary-refresh-${number}`

const user = { id: "42", username: "ada" }
const app = { clientId: "app-1", clientSecret: Redacted.make("canary-client-secret") }

/** The record of an account after its sign-in at a time. */
export const recordOf = (
  number: number,
  now: number,
  { oauth2, ...members }: Partial<Omit<Account.Account, "oauth2">> & { oauth2?: Partial<Account.OAuth2Tokens> } = {}
): Account.Account => ({
  version: 1,
  baseUrl,
  user,
  app,
  oauth2: {
    accessToken: Redacted.make(access(number)),
    refreshToken: Redacted.make(refreshToken(number)),
    scopes,
    expiresAt: now + lifeMillis,
    renewedAt: now,
    ...oauth2
  },
  ...members
})

/** Makes one whose user has signed in once, with the tokens number 1. */
export const make = Effect.fnUntraced(function*(options: { readonly isStrict?: boolean } = {}) {
  const clock = yield* Effect.clockWith(Effect.succeed)
  const state = {
    /** Milliseconds by which the service's clock is ahead. */
    offset: 0,
    isRevoked: false,
    /** Whether it refuses every access token. */
    refusesAll: false,
    /** Whether it refuses access tokens that have expired. */
    refusesLate: true,
    /** Whether it forbids whatever is asked for. */
    forbids: false,
    /** What it says then. */
    saying: "Forbidden",
    /** Whether it takes signatures, whatever they are. */
    takesSignatures: false,
    /** What it says of the life of new tokens. */
    lifeSeconds: lifeMillis / 1000,
    /** How often a refresh token was used that had been used before. */
    reuses: 0,
    /** What was created, by the body of the request. */
    created: new Array<string>(),
    /** The refresh tokens that were sent, in their order. */
    refreshes: new Array<string>(),
    /** Pairs that were given. */
    given: 1,
    /** What becomes of requests for tokens, the next first; after these, they are answered. */
    fates: new Array<Fate>(),
    /** Takes place before a request for tokens is processed. */
    before: Effect.void as Effect.Effect<void>,
    /** Takes place before such a request is answered. */
    after: Effect.void as Effect.Effect<void>
  }
  const now = () => clock.currentTimeMillisUnsafe() + state.offset
  let live: Pair = { number: 1, expiresAt: now() + lifeMillis, from: undefined, isUsed: false }

  const earlier = new Set<string>()

  const give = (from: number | undefined): Pair =>
    live = { number: ++state.given, expiresAt: now() + lifeMillis, from, isUsed: false }

  /** Another sign-in of the user: the tokens before are dead. */
  const login = (): number => {
    state.isRevoked = false
    for (let number = 1; number <= state.given; number++) earlier.add(refreshToken(number))
    return give(undefined).number
  }

  const redeem = (token: string): Answer => {
    const refused = {
      status: 400,
      body: { error: "invalid_request", error_description: "Value passed for the token was invalid." }
    }
    // An earlier sign-in of the user is dead already.
    if (state.isRevoked || earlier.has(token)) return refused
    if (token === refreshToken(live.number)) give(live.number)
    else if (
      live.from !== undefined && token === refreshToken(live.from) && !live.isUsed && options.isStrict !== true
    ) {
      give(live.from)
    } else {
      state.reuses++
      state.isRevoked = true
      return refused
    }
    return {
      body: {
        token_type: "bearer",
        expires_in: state.lifeSeconds,
        access_token: access(live.number),
        refresh_token: refreshToken(live.number),
        scope: scopes.join(" ")
      }
    }
  }

  const answerToken = Effect.fnUntraced(function*({ body, headers }: Received) {
    const token = new URLSearchParams(body).get("refresh_token") ?? ""
    assertBasic(headers["authorization"])
    const fate = state.fates.shift() ?? "answered"
    if (fate === "unsent") return yield* cut("ECONNREFUSED")
    state.refreshes.push(token)
    yield* state.before
    if (fate in refusals) return refusals[fate as keyof typeof refusals]
    const answer = redeem(token)
    yield* state.after
    if (fate === "cut") return yield* cut("ECONNRESET")
    if (fate === "failed late") return refusals.failed
    return fate === "unreadable" ? { body: "<html>" } : answer
  })

  const accepts = (header: string | undefined): boolean => {
    if (header?.startsWith("OAuth ") === true) return state.takesSignatures
    const isExpired = state.refusesLate && now() >= live.expiresAt
    if (state.refusesAll || state.isRevoked || header !== `Bearer ${access(live.number)}` || isExpired) return false
    live.isUsed = true
    return true
  }

  const service = makeService((request) => {
    if (request.path === "/2/oauth2/token") return answerToken(request)
    if (!accepts(request.headers["authorization"])) return { status: 401, body: { title: "Unauthorized" } }
    if (state.forbids) return { status: 403, body: { title: state.saying } }
    if (request.method === "POST") state.created.push(request.body)
    return { body: { data: { id: "1", text: "a", name: "Ada", username: "ada", bookmarked: true } } }
  })

  const store = TokenStore.makeMemory()
  yield* Account.write(store, "ada", recordOf(1, now())).pipe(Effect.orDie)

  /** A client of the account, and its credentials: its Layer is one process. */
  const layer = (
    { http = service.http, onRequest, store: own = store, ...account }:
      & Partial<AccountCredentials.Settings>
      & Pick<Client.Settings, "onRequest">
      & { readonly store?: TokenStore.Store; readonly http?: HttpClient.HttpClient } = {}
  ) =>
    Layer.fresh(
      Client.layer({ baseUrl, retries: 0, onRequest }).pipe(
        Layer.provideMerge(AccountCredentials.layer({ account: "ada", baseUrl, ...account })),
        Layer.provide([Layer.succeed(TokenStore.TokenStore, own), Layer.succeed(HttpClient.HttpClient, http)])
      )
    )

  /** The access token that the store has. */
  const stored = Effect.map(
    Account.read(store, "ada"),
    (account) => Redacted.value(Option.getOrThrow(account).oauth2?.accessToken ?? Redacted.make("none"))
  )

  /** Keeps a record of an account that signed in with the tokens of a number. */
  const keep = (number: number, members?: Parameters<typeof recordOf>[2]) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => Account.write(store, "ada", recordOf(number, now, members)))

  return { ...service, state, store, stored, keep, layer, login, live: () => live.number }
})

/** One of them. */
export type Service = Effect.Success<ReturnType<typeof make>>

const refusals = {
  failed: { status: 503, body: "" },
  limited: { status: 429, body: { title: "Too Many Requests" } },
  forbidden: { status: 403, body: { title: "Forbidden" } },
  intercepted: { status: 400, body: "<html>Blocked</html>" },
  gateway: { status: 401, body: { title: "Unauthorized", detail: "Unauthorized", status: 401 } },
  "unknown app": {
    status: 401,
    body: { error: "unauthorized_client", error_description: "Missing valid authorization header" }
  }
} as const satisfies Partial<Record<Fate, Answer>>

const cut = (code: string) => transportError(Object.assign(new Error(`${code} canary`.slice(0, code.length)), { code }))

const assertBasic = (header: string | undefined) =>
  assert.strictEqual(header, `Basic ${btoa("app-1:canary-client-secret")}`)
