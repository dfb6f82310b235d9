/**
 * The account of a signed-in user. A `TokenStore` holds its record as JSON text under the name of the account. Secrets are redacted
 * in memory and plain in the text.
 */
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { InvalidSettings, StorageFailure } from "../errors/Errors.ts"
import { type Scope, scopes } from "../schema/Scopes.ts"
import type { TokenStore } from "../storage/TokenStore.ts"
import { faultOf } from "../storage/Version.ts"

/** The version of written records. */
const version = 1

const Secret = /*#__PURE__*/ Schema.RedactedFromValue(Schema.NonEmptyString)

/** Milliseconds since the epoch. */
const Instant = Schema.Finite

/** An app from the service's console. A confidential app has a secret; a public one has none. */
export const App = /*#__PURE__*/ Schema.Struct({
  clientId: Schema.NonEmptyString,
  clientSecret: /*#__PURE__*/ Schema.optionalKey(Secret)
})

/** An app from the service's console. A confidential app has a secret; a public one has none. */
export type App = typeof App.Type

/** Scopes that only a later version knows are dropped on reading. */
const Scopes = /*#__PURE__*/ Schema.Array(Schema.String).pipe(
  /*#__PURE__*/ Schema.decodeTo(
    /*#__PURE__*/ Schema.Array(/*#__PURE__*/ Schema.Literals(scopes)),
    /*#__PURE__*/ SchemaTransformation.transform<ReadonlyArray<Scope>, ReadonlyArray<string>>({
      decode: (names) => scopes.filter((scope) => names.includes(scope)),
      encode: (known) => known
    })
  )
)

/** OAuth 2.0 tokens that a user granted to an app. */
export const OAuth2Tokens = /*#__PURE__*/ Schema.Struct({
  accessToken: Secret,
  /** Requires `offline.access`. It can be used once: each refresh returns another. */
  refreshToken: /*#__PURE__*/ Schema.optionalKey(Secret),
  /** The granted scopes by their neutral names, in the order of `Scopes.scopes`. */
  scopes: Scopes,
  /** By this machine's clock. */
  expiresAt: Instant,
  /** The time of the grant or of the last refresh, by this machine's clock. */
  renewedAt: Instant
})

/** OAuth 2.0 tokens that a user granted to an app. */
export type OAuth2Tokens = typeof OAuth2Tokens.Type

/** OAuth 1.0a credentials, which do not expire. */
export const OAuth1Tokens = /*#__PURE__*/ Schema.Struct({
  consumerKey: Secret,
  consumerSecret: Secret,
  accessToken: Secret,
  accessTokenSecret: Secret
})

/** OAuth 1.0a credentials, which do not expire. */
export type OAuth1Tokens = typeof OAuth1Tokens.Type

/** An account with OAuth 2.0 tokens, OAuth 1.0a tokens, or both. */
export const Account = /*#__PURE__*/ Schema.Struct({
  version: /*#__PURE__*/ Schema.Literal(version),
  /** The service of the account, as `https://api.x.com`. Its tokens are sent nowhere else. */
  baseUrl: Schema.NonEmptyString,
  user: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Schema.Struct({ id: Schema.NonEmptyString, username: Schema.NonEmptyString })
  ),
  /** The app that `oauth2` was granted to. */
  app: /*#__PURE__*/ Schema.optionalKey(App),
  oauth2: /*#__PURE__*/ Schema.optionalKey(OAuth2Tokens),
  oauth1: /*#__PURE__*/ Schema.optionalKey(OAuth1Tokens)
})

/** An account with OAuth 2.0 tokens, OAuth 1.0a tokens, or both. */
export type Account = typeof Account.Type

const Text = /*#__PURE__*/ Schema.fromJsonString(Account)
const decode = /*#__PURE__*/ Schema.decodeEffect(Text)
const encode = /*#__PURE__*/ Schema.encodeSync(Text)

/** Checks the name of an account: 1 to 32 letters, digits, `_` and `-`, not beginning with `-`. Every username is valid. */
export const checkName = (name: string): Effect.Effect<string, InvalidSettings> =>
  typeof name === "string" && /^\w[\w-]{0,31}$/.test(name)
    ? Effect.succeed(name)
    : Effect.fail(
      new InvalidSettings({
        setting: "account",
        rule: "must be 1 to 32 letters, digits, _ or -, and must not begin with -"
      })
    )

/** Reads the account of a name, if the store has one. */
export const read = (
  store: TokenStore["Service"],
  name: string
): Effect.Effect<Option.Option<Account>, StorageFailure> =>
  Effect.flatMap(store.read(name), (text) =>
    text === undefined
      ? Effect.succeedNone
      : Effect.mapError(
        Effect.asSome(decode(text)),
        // The text is not quoted: it may hold tokens.
        () =>
          new StorageFailure({
            kind: "token store",
            place: store.describe(name),
            fault: faultOf(text, version),
            action: "read"
          })
      ))

/** Writes the account of a name durably. */
export const write = (
  store: TokenStore["Service"],
  name: string,
  account: Account
): Effect.Effect<void, StorageFailure> => store.write(name, encode(account))
