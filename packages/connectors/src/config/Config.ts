/** The configuration of a connector: the working copy, what to read into it, and the credentials. */
import * as Copy from "@postwire/archive/copy/Copy"
import type { CopyUnusable } from "@postwire/archive/copy/CopyErrors"
import * as SyncFile from "@postwire/archive/sources/SyncFile"
import * as Credentials from "@postwire/core/auth/Credentials"
import type { Client } from "@postwire/core/client/Client"
import { InvalidSettings } from "@postwire/core/errors/Errors"
import * as Wire from "@postwire/core/wire/Wire"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"

const text = (description: string) => Schema.optionalKey(Schema.String.annotate({ description }))

/** The annotation of a setting that Airbyte stores as a secret. */
export const secretMark = "airbyte_secret"

const secret = (description: string) => Schema.optionalKey(Schema.String.annotate({ description, [secretMark]: true }))

const secrets = {
  bearerToken: secret("OAuth 2.0 bearer token, of a user or of an app."),
  appBearerToken: secret("OAuth 2.0 bearer token of the app, for checks of deletions by compliance jobs."),
  consumerKey: secret("OAuth 1.0a consumer key."),
  consumerSecret: secret("OAuth 1.0a consumer secret."),
  accessToken: secret("OAuth 1.0a access token."),
  accessTokenSecret: secret("OAuth 1.0a access token secret.")
}

const { budget, deletions, sources } = SyncFile.SyncFile.fields

/** The configuration. Settings that it lacks are read from the environment: `bearerToken` from `POSTWIRE_BEARER_TOKEN`. */
export const Config = Schema.Struct({
  path: Schema.String.annotate({
    description: "The SQLite file of the working copy. Keep it: without it everything is read, and paid for, again."
  }),
  sources: sources.annotate({ description: "The sources to read." }),
  budget,
  deletions,
  ...secrets,
  account: text("The account of postwire login that reads, instead of tokens."),
  // Their addresses may have a password.
  tokenStore: secret("The store of the account: a folder, or a redis:// address."),
  spendStore: secret("The record of spending: an SQLite file or a redis:// address. Default: beside the working copy."),
  baseUrl: text("The address of the service."),
  wire: Schema.optionalKey(Schema.Literals(Wire.names)).annotate({ description: "The field names of the service." })
})

export interface Config extends Schema.Schema.Type<typeof Config> {}

/** Reads a file of JSON that fits a schema. The error does not show its contents: they may be secret. */
export const readAs = Effect.fnUntraced(function*<A>(
  path: string,
  schema: Schema.Decoder<A>,
  options?: { readonly onExcessProperty: "error" }
): Effect.fn.Return<A, InvalidSettings> {
  const json = yield* Effect.try({
    try: (): unknown => JSON.parse(readFileSync(path, "utf8")),
    catch: (error) =>
      new InvalidSettings({ setting: path, rule: error instanceof SyntaxError ? "must be JSON" : "must be readable" })
  })
  const read = Schema.decodeUnknownResult(schema)(json, { ...options, errors: "all" })
  return Result.isSuccess(read)
    ? read.success
    : yield* new InvalidSettings({ setting: path, rule: `is invalid: ${read.failure.message.replace(/\s+/g, " ")}` })
})

/** Reads the file of a configuration. */
export const read = Effect.fnUntraced(function*(path: string): Effect.fn.Return<Config, InvalidSettings> {
  const config = yield* readAs(path, Config, { onExcessProperty: "error" })
  const problems = SyncFile.problemsOf(config)
  return problems.length > 0
    ? yield* new InvalidSettings({ setting: path, rule: `is invalid: ${problems.join("; ")}` })
    : config
})

const settingsOf = ({ budget = {}, deletions: _, path, sources: _sources, ...given }: Config) => {
  const { spendStore = `${resolve(path)}.spend.db`, ...settings } = NodeClient.complete(given)
  return {
    ...settings,
    spendStore,
    spendLimit: { perDay: budget.day, perMonth: budget.month, total: budget.run },
    waitOnRateLimit: true
  }
}

/** True if requests are signed with OAuth 1.0a: those of a configuration with the tokens for it. */
export const isSigned = (config: Config): boolean => {
  const settings: Readonly<Record<string, unknown>> = settingsOf(config)
  return Credentials.signing.every((name) => settings[name] !== undefined)
}

/** The client and the working copy. */
export const layer = (config: Config): Layer.Layer<Client | Copy.Current, InvalidSettings | SqlError | CopyUnusable> =>
  Layer.merge(NodeClient.layer(settingsOf(config)), Copy.layerSqlite(resolve(config.path)))
