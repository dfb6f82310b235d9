/**
 * The credentials of a client: a bearer token and an OAuth 1.0a user context side by side. Each call takes the one that
 * its `user_auth` chooses. They are read at every call, so a service may replace them while a client runs.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { type CredentialKind, type CredentialsError, InvalidSettings, type MissingScope } from "../errors/Errors.ts"
import type { Scope } from "../schema/Scopes.ts"
import * as OAuth1 from "./OAuth1.ts"

/** A secret, plain or already redacted. */
export type Secret = string | Redacted.Redacted

/** The five credential settings of the specification. An empty one is as good as absent. */
export interface Settings {
  /** OAuth 2.0 bearer token, of an app or of a user. */
  readonly bearerToken?: Secret | undefined
  /** OAuth 1.0a consumer key. */
  readonly consumerKey?: Secret | undefined
  /** OAuth 1.0a consumer secret. */
  readonly consumerSecret?: Secret | undefined
  /** OAuth 1.0a access token; begins with the id of the user. */
  readonly accessToken?: Secret | undefined
  /** OAuth 1.0a access token secret. */
  readonly accessTokenSecret?: Secret | undefined
}

/** The names of the settings. */
export const names = ["bearerToken", "consumerKey", "consumerSecret", "accessToken", "accessTokenSecret"] as const

/**
 * Credentials that were checked: none is empty, what travels in headers holds nothing that a header cannot carry, and what
 * only signs is sound text.
 */
export interface Values {
  readonly bearerToken?: Redacted.Redacted | undefined
  readonly consumerKey?: Redacted.Redacted | undefined
  readonly consumerSecret?: Redacted.Redacted | undefined
  readonly accessToken?: Redacted.Redacted | undefined
  readonly accessTokenSecret?: Redacted.Redacted | undefined
  /** What is known of those of an account besides. */
  readonly grant?: Grant | undefined
}

/** What a user has granted. */
export interface Grant {
  /** The name of the account. */
  readonly account: string
  /**
   * Stands for the user and the app in place of tokens, which change: budgets and exports are those of the holder. As long as
   * it is the same, so is this object.
   */
  readonly holder: Redacted.Redacted
  /** The user's id. */
  readonly userId: string | undefined
  /** The scopes of the bearer token, where they are known. */
  readonly scopes: ReadonlyArray<Scope> | undefined
  /** More that no text may hold: the refresh token, the secret of the app, the tokens before these. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** Why there is no bearer token any more, of an account that can still sign. */
  readonly lost?: CredentialsError | undefined
}

/** A call, as its credential has to fit it. */
export interface Call {
  readonly operation: string
  readonly userAuth: boolean
  /** Whether the caller said so, and it is not the default of the operation. */
  readonly isChosen: boolean
  /** The kinds of credential that the operation takes. */
  readonly accepts: ReadonlyArray<CredentialKind>
  /** What a user's OAuth 2.0 token must have been granted; unknown of a request that has no declaration. */
  readonly scopes: ReadonlyArray<Scope>
}

/** The `Authorization` header of a request with OAuth 1.0a; see `OAuth1.authorize`. */
export type Sign = (request: Required<OAuth1.Credentials> & Omit<OAuth1.Request, "nonce">) => string

/** The credentials in force. */
export class Credentials extends Context.Service<Credentials, {
  /** A call waits for them no longer than its total allows, of which that is a part. */
  readonly current: Effect.Effect<Values, CredentialsError>
  /**
   * Those that need not be waited for at a time, in milliseconds since the epoch; `undefined` where a call has to take `current`.
   * Left out where that is an `Exit` already, or where every call waits.
   */
  readonly ready?: ((now: number) => Values | undefined) | undefined
  /**
   * Asked by a call whose bearer token the service does not accept, and once more when it does not accept the next one either:
   * those that take its place, or the same ones when there are no others. Left out where nothing can be renewed.
   */
  readonly renew?: ((refused: Values) => Effect.Effect<Values, CredentialsError>) | undefined
  /**
   * Those that no text may hold, as far as they are known without asking the service: it cannot fail, nor take long. Left out where
   * that is `current`.
   */
  readonly known?: Effect.Effect<Values> | undefined
  /**
   * Asked of every call: the same with the kind of credential that there is, or what stands in its way. Left out where nothing is
   * known of what the credentials are for.
   */
  readonly admit?: (<C extends Call>(call: C, values: Values) => C | MissingScope | CredentialsError) | undefined
  /** Left out, only bearer tokens can be used, and a program bundles nothing of OAuth 1.0a. */
  readonly sign?: Sign | undefined
}>()("@postwire/core/auth/Credentials") {}

/** Whether credentials need not be waited for, and cannot fail. */
export const isAtHand = (
  current: Credentials["Service"]["current"]
): current is Exit.Success<Values> => Exit.isExit(current) && Exit.isSuccess(current)

/**
 * Checks settings: surrounding white space (a newline from a file) is dropped. In a token or key, which travel in headers,
 * a line break, a space or any other control or non-ASCII character inside is refused. The two secrets only sign, and a
 * signature takes any character.
 */
export const check = (settings: Settings): Effect.Effect<Values, InvalidSettings> =>
  Effect.gen(function*() {
    const values: { -readonly [K in keyof Values]: Values[K] } = {}
    for (const name of names) {
      const given = settings[name]
      if (given === undefined || given === null) continue
      const plain = textOf(given)
      if (typeof plain !== "string") {
        const rule = Redacted.isRedacted(given) && plain === undefined
          ? "is a Redacted that cannot be read: it was wiped, or belongs to another copy of effect. Pass the text"
          : "must be a string"
        return yield* new InvalidSettings({ setting: name, rule })
      }
      const secret = plain.trim()
      if (secret === "") continue
      const redacted = Redacted.make(secret, { label: name })
      const rule = fault(name, redacted)
      if (rule !== undefined) return yield* new InvalidSettings({ setting: name, rule })
      values[name] = redacted
    }
    return values
  })

/** What a secret holds; `undefined` where that is kept from us: each copy of Effect has its own. */
const textOf = (secret: Secret): unknown => {
  if (!Redacted.isRedacted(secret)) return secret
  try {
    return Redacted.value(secret)
  } catch {
    return undefined
  }
}

/** Checks one secret like a bearer token, under the name of another setting; `undefined` where it is empty. */
export const checkSecret = (
  setting: string,
  given: Secret | undefined
): Effect.Effect<Redacted.Redacted | undefined, InvalidSettings> =>
  Effect.mapBoth(check({ bearerToken: given }), {
    onFailure: ({ rule }) => new InvalidSettings({ setting, rule }),
    onSuccess: ({ bearerToken }) => bearerToken
  })

/** What has passed once is not looked at again: as part of a header, or of the key of a signature. */
const carried = new WeakSet<Redacted.Redacted>()
const signing = new WeakSet<Redacted.Redacted>()

/** What makes a secret unusable, in words that do not quote it. */
export const fault = (name: typeof names[number], value: Redacted.Redacted): string | undefined => {
  const plain: unknown = Redacted.value(value)
  if (name === "consumerSecret" || name === "accessTokenSecret") {
    // Half a surrogate pair has no UTF-8, so that two secrets would sign alike.
    if (!signing.has(value) && (typeof plain !== "string" || plain === "" || !plain.isWellFormed())) {
      return "must be text in well-formed Unicode"
    }
    signing.add(value)
    return undefined
  }
  if (!carried.has(value) && (typeof plain !== "string" || !/^[\x21-\x7e]+$/.test(plain))) {
    return "must be one line of printable ASCII: it holds a space, a line break or another forbidden character"
  }
  if (name === "accessToken" && /^\.{0,2}(-|$)/.test(String(plain))) return "must begin with the id of the user"
  carried.add(value)
  return undefined
}

/** Credentials from values. */
export const layer = (settings: Settings): Layer.Layer<Credentials, InvalidSettings> =>
  Layer.effect(
    Credentials,
    Effect.gen(function*() {
      const values = yield* check(settings)
      return { current: Effect.succeed(values), sign: OAuth1.authorize(yield* OAuth1.HmacSha1) }
    })
  )

/** A bearer token alone, for a program that is to be small. */
export const layerBearer = (bearerToken: Secret): Layer.Layer<Credentials, InvalidSettings> =>
  Layer.effect(
    Credentials,
    Effect.map(check({ bearerToken }), (values) => ({ current: Effect.succeed(values) }))
  )

/** The error of a setting that does not exist. A name with more than letters is not shown: it may be a secret in the wrong place. */
export const unknownSetting = (name: string, meant?: string, within?: string): InvalidSettings => {
  const at = within === undefined ? "" : `${within}.`
  return meant === undefined && !/^[a-z_]{1,40}$/i.test(name)
    ? new InvalidSettings({ setting: within ?? "settings", rule: "has a member that is not a setting" })
    : new InvalidSettings({
      setting: at + name,
      rule: meant === undefined ? "is not a setting" : `is not a setting (did you mean ${meant}?)`
    })
}
