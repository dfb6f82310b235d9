/**
 * The credentials of a client: bearer tokens and an OAuth 1.0a user context side by side. Each call uses the one that its
 * operation accepts and its `user_auth` chooses. They are read by every call, so that a service can replace them while a client
 * runs.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { type CredentialKind, type CredentialsError, InvalidSettings, type MissingScope } from "../errors/Errors.ts"
import type { Bearer } from "../schema/Quota.ts"
import type { Scope } from "../schema/Scopes.ts"
import * as OAuth1 from "./OAuth1.ts"

/** A secret, plain or already redacted. */
export type Secret = string | Redacted.Redacted

/** The credential settings of the specification, and the app's own token. An empty one counts as absent. */
export interface Settings {
  /** OAuth 2.0 bearer token, of an app or of a user. */
  readonly bearerToken?: Secret | undefined
  /**
   * OAuth 2.0 bearer token of the app, for operations that accept no token of a user: streams, their rules and connections, and
   * compliance jobs. Without it they send `bearerToken`.
   */
  readonly appBearerToken?: Secret | undefined
  /** OAuth 1.0a consumer key. */
  readonly consumerKey?: Secret | undefined
  /** OAuth 1.0a consumer secret. */
  readonly consumerSecret?: Secret | undefined
  /** OAuth 1.0a access token; begins with the id of the user. */
  readonly accessToken?: Secret | undefined
  /** OAuth 1.0a access token secret. */
  readonly accessTokenSecret?: Secret | undefined
}

/** The names of the settings that sign together. */
export const signing = ["consumerKey", "consumerSecret", "accessToken", "accessTokenSecret"] as const

/** The names of the settings. */
export const names = ["bearerToken", "appBearerToken", ...signing] as const

/**
 * Checked credentials: none is empty, those that are sent in headers contain only characters that headers allow, and the
 * secrets that only sign are well-formed text.
 */
export interface Values {
  readonly bearerToken?: Redacted.Redacted | undefined
  readonly appBearerToken?: Redacted.Redacted | undefined
  readonly consumerKey?: Redacted.Redacted | undefined
  readonly consumerSecret?: Redacted.Redacted | undefined
  readonly accessToken?: Redacted.Redacted | undefined
  readonly accessTokenSecret?: Redacted.Redacted | undefined
  /** Facts about the credentials of an account. */
  readonly grant?: Grant | undefined
}

/** The grant of a user. */
export interface Grant {
  /** The name of the account. */
  readonly account: string
  /**
   * Identifies the user and the app in place of their changing tokens, for rate limits and exports. This object stays the same
   * as long as the holder does.
   */
  readonly holder: Redacted.Redacted
  /** The user's id. */
  readonly userId: string | undefined
  /** The scopes of the bearer token, where they are known. */
  readonly scopes: ReadonlyArray<Scope> | undefined
  /** Further secrets to redact: the refresh token, the app's secret, previous tokens. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** Why an account that can still sign no longer has a bearer token. */
  readonly lost?: CredentialsError | undefined
}

/** The parts of a call that its credential must fit. */
export interface Call {
  readonly operation: string
  readonly userAuth: boolean
  /** True if the caller chose it, instead of the operation's default. */
  readonly isChosen: boolean
  /** The kinds of credential that the operation accepts. */
  readonly accepts: ReadonlyArray<CredentialKind>
  /** Whose bearer tokens the operation accepts; unknown for a raw request. */
  readonly bearer: Bearer | undefined
  /** The scopes that a user's OAuth 2.0 token needs; unknown for a raw request. */
  readonly scopes: ReadonlyArray<Scope>
}

/** The `Authorization` header of a request with OAuth 1.0a; see `OAuth1.authorize`. */
export type Sign = (request: Required<OAuth1.Credentials> & Omit<OAuth1.Request, "nonce">) => string

/** The current credentials. */
export class Credentials extends Context.Service<Credentials, {
  /** Waiting for them counts towards the total time of a call. */
  readonly current: Effect.Effect<Values, CredentialsError>
  /**
   * The credentials that are available without waiting at a time, in milliseconds since the epoch; `undefined` if a call must
   * use `current`. Absent if `current` is already an `Exit`, or if every call waits.
   */
  readonly ready?: ((now: number) => Values | undefined) | undefined
  /**
   * Called when the service refuses a call's bearer token, and again if it refuses the next one too. Returns the credentials that
   * replace them, or the same ones if there are no others. Absent if nothing can be renewed.
   */
  readonly renew?: ((refused: Values) => Effect.Effect<Values, CredentialsError>) | undefined
  /**
   * The credentials to redact that are known without a request: this neither fails nor takes long. Absent if that is
   * `current`.
   */
  readonly known?: Effect.Effect<Values> | undefined
  /**
   * Called for every call: returns the call with the available kind of credential, or the error that prevents it. Absent if the
   * permissions of the credentials are unknown.
   */
  readonly admit?: (<C extends Call>(call: C, values: Values) => C | MissingScope | CredentialsError) | undefined
  /** If absent, only bearer tokens can be used, and a program bundles nothing of OAuth 1.0a. */
  readonly sign?: Sign | undefined
}>()("@postwire/core/auth/Credentials") {}

/** Tests whether credentials are available without waiting, and cannot fail. */
export const isAtHand = (
  current: Credentials["Service"]["current"]
): current is Exit.Success<Values> => Exit.isExit(current) && Exit.isSuccess(current)

/**
 * Checks settings. Surrounding white space (a newline from a file) is removed. A token or key, which is sent in headers, must
 * not contain a line break, a space or any other control or non-ASCII character. The two secrets only sign, and a signature
 * accepts any character.
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
          ? "is a Redacted that cannot be read: it was wiped, or belongs to another copy of effect. Pass the string"
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

/** The value of a secret; `undefined` if it cannot be read, since each copy of Effect has its own. */
const textOf = (secret: Secret): unknown => {
  if (!Redacted.isRedacted(secret)) return secret
  try {
    return Redacted.value(secret)
  } catch {
    return undefined
  }
}

/** Checks one secret like a bearer token, under the name of another setting; `undefined` if it is empty. */
export const checkSecret = (
  setting: string,
  given: Secret | undefined
): Effect.Effect<Redacted.Redacted | undefined, InvalidSettings> =>
  Effect.mapBoth(check({ bearerToken: given }), {
    onFailure: ({ rule }) => new InvalidSettings({ setting, rule }),
    onSuccess: ({ bearerToken }) => bearerToken
  })

/** Secrets that have passed the check, for headers and for signing. */
const carried = new WeakSet<Redacted.Redacted>()
const signatory = new WeakSet<Redacted.Redacted>()

/** Why a secret is unusable, without quoting it. */
export const fault = (name: typeof names[number], value: Redacted.Redacted): string | undefined => {
  const plain: unknown = Redacted.value(value)
  if (name === "consumerSecret" || name === "accessTokenSecret") {
    // An unpaired surrogate has no UTF-8, so that two secrets would sign alike.
    if (!signatory.has(value) && (typeof plain !== "string" || plain === "" || !plain.isWellFormed())) {
      return "must be text in well-formed Unicode"
    }
    signatory.add(value)
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

/** A bearer token alone, for a small bundle. */
export const layerBearer = (bearerToken: Secret): Layer.Layer<Credentials, InvalidSettings> =>
  Layer.effect(
    Credentials,
    Effect.map(check({ bearerToken }), (values) => ({ current: Effect.succeed(values) }))
  )

/** The error of an unknown setting. A name that is not only letters is not shown: it may be a secret in the wrong place. */
export const unknownSetting = (name: string, meant?: string, within?: string): InvalidSettings => {
  const at = within === undefined ? "" : `${within}.`
  return meant === undefined && !/^[a-z_]{1,40}$/i.test(name)
    ? new InvalidSettings({ setting: within ?? "settings", rule: "has a member that is not a setting" })
    : new InvalidSettings({
      setting: at + name,
      rule: meant === undefined ? "is not a setting" : `is not a setting (did you mean ${meant}?)`
    })
}
