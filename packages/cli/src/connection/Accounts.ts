/** The accounts of `postwire login`: the store, and the choice of the account that a command uses. */
import * as DatabaseProblem from "@postwire/cluster/DatabaseProblem"
import * as Account from "@postwire/core/accounts/Account"
import * as Credentials from "@postwire/core/auth/Credentials"
import { environmentVariable, InvalidSettings, StorageFailure } from "@postwire/core/errors/Errors"
import { type Store, TokenStore } from "@postwire/core/storage/TokenStore"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as UserDirectories from "effect/persistence/UserDirectories"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { join, resolve } from "node:path"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as OutputFile from "../terminal/OutputFile.ts"
import * as Report from "../terminal/Report.ts"
import * as Variables from "./Variables.ts"

/** The variable with the name of the account. */
export const variable = "POSTWIRE_ACCOUNT"

export const flag = Args.text(
  "account",
  "An account of postwire login (default: POSTWIRE_ACCOUNT, or the credentials)",
  "NAME"
)

export const storeFlag = Args.text(
  "token-store",
  "The store of accounts: a folder, redis://..., postgres://... (default: POSTWIRE_TOKEN_STORE)",
  "ADDRESS"
)

/** A store and its address: a path, or a URL without its password. */
export interface Place extends Store {
  readonly place: string
}

/** The account in use, and where its name came from. */
export interface Chosen {
  readonly name: string
  readonly because: "--account" | "POSTWIRE_ACCOUNT" | "postwire config" | "default"
}

export type AccountsError = ErrorReport.Failure | InvalidSettings | StorageFailure

/** The address of the store; `undefined` for the folder of this user. */
export const placeOf = (flag: Option.Option<string>, variables: Variables.Variables): string | undefined =>
  Option.getOrUndefined(flag) ?? Variables.valueOf(variables, "POSTWIRE_TOKEN_STORE")

/** Opens the given store, or the folder of this user. The modules of PostgreSQL are loaded only if needed. */
export const open = Effect.fnUntraced(function*(
  flag: Option.Option<string>,
  variables: Variables.Variables
): Effect.fn.Return<Place, InvalidSettings | StorageFailure, Scope.Scope> {
  const place = placeOf(flag, variables)
  const layer: Layer.Layer<TokenStore, InvalidSettings | StorageFailure> = /^postgres(ql)?:/.test(place ?? "")
    ? yield* layerPostgres(Redacted.make(place ?? ""))
    : NodeClient.layerTokenStore({ tokenStore: place })
  if (Option.exists(flag, hasPassword)) {
    yield* Report.say(
      "Every user of this machine can read the password in the command line.",
      "Set POSTWIRE_TOKEN_STORE to the address instead."
    )
  }
  const store = Context.get(yield* Layer.build(layer), TokenStore)
  return { ...store, place: place === undefined ? "" : place.includes("://") ? withoutPassword(place) : resolve(place) }
})

/** True for the URL of a store with a password. */
export const hasPassword = (place: string): boolean => /:\/\/[^/]*:[^/]*@/.test(place)

const withoutPassword = (address: string): string => {
  const url = new URL(address)
  url.username = url.password = url.search = ""
  return url.href
}

const layerPostgres = Effect.fnUntraced(function*(address: Redacted.Redacted) {
  const { layerPostgres, parse } = yield* Effect.promise(() => import("@postwire/cluster/Database"))
  const PostgresTokenStore = yield* Effect.promise(() => import("@postwire/cluster/PostgresTokenStore"))
  const database = yield* Effect.option(parse(address))
  if (Option.isNone(database) || database.value._tag !== "Postgres") {
    return yield* new InvalidSettings({ setting: "tokenStore", rule: "must be postgres://user@host/database" })
  }
  return PostgresTokenStore.layer.pipe(
    Layer.provide(layerPostgres(database.value)),
    Layer.catch((error) => Layer.effect(TokenStore, unavailable(DatabaseProblem.of(error)?.reason ?? error.message)))
  )
})

const unavailable = (detail: string) =>
  new StorageFailure({ kind: "token store", place: "in PostgreSQL", fault: "unavailable", action: "read", detail })

/** The app in the variables: an account may be stored without the app's secret. */
export const appIn = (variables: Variables.Variables): Account.App | undefined => {
  const clientId = Variables.valueOf(variables, "POSTWIRE_CLIENT_ID")
  const secret = Variables.valueOf(variables, "POSTWIRE_CLIENT_SECRET")
  return clientId === undefined
    ? undefined
    : { clientId, ...secret !== undefined && { clientSecret: Redacted.make(secret) } }
}

/**
 * Chooses the account of a command. Precedence: --account, then the file of variables, then the environment, then the files of
 * settings, then the default; in one place, a name before credentials. `None` if credentials take precedence, or if there is neither.
 */
export const choose = Effect.fnUntraced(function*(
  flag: Option.Option<string>,
  { config, environment, file }: Variables.Places,
  store: Effect.Effect<Place, InvalidSettings | StorageFailure>
) {
  if (Option.isSome(flag)) return Option.some<Chosen>({ name: flag.value, because: "--account" })
  for (const place of [file, environment]) {
    const name = Variables.valueOf(place, variable)
    if (name !== undefined) return Option.some<Chosen>({ name, because: "POSTWIRE_ACCOUNT" })
    if (credentialsIn(place).length > 0) return Option.none<Chosen>()
  }
  const configured = Variables.valueOf(config, variable)
  if (configured !== undefined) return Option.some<Chosen>({ name: configured, because: "postwire config" })
  // Without a home folder there is no default account, and a command may not need one.
  const opened = yield* Effect.asSome(store).pipe(Effect.catchTag("InvalidSettings", () => Effect.succeedNone))
  if (Option.isNone(opened)) return Option.none<Chosen>()
  return Option.map(yield* defaultOf(opened.value), (name): Chosen => ({ name, because: "default" }))
})

export const credentialsIn = (variables: Variables.Variables): ReadonlyArray<string> =>
  Credentials.names.map(environmentVariable).filter((name) => Variables.valueOf(variables, name) !== undefined)

/** Notes that commands do not use this account unless they name it. */
export const noteOtherDefault = Effect.fnUntraced(function*(name: string, places: Variables.Places, store: Place) {
  const used = yield* choose(Option.none(), places, Effect.succeed(store))
  if (Option.exists(used, (account) => account.name === name)) return
  const [first] = [places.file, places.environment].flatMap(credentialsIn)
  const isNamed = Option.exists(used, ({ because }) => because === variable)
  yield* Report.say(
    isNamed || Option.isNone(used) && first !== undefined
      ? `Commands use ${isNamed ? variable : first} from the environment, not the account.`
      : `"${name}" is not the default account.`,
    `Pass --account ${name}, or set ${variable}=${name}.`
  )
})

/** The default account of a store: the chosen one, or the only one. */
export const defaultOf = Effect.fnUntraced(function*(store: Place) {
  const names = yield* store.names
  return Option.fromUndefinedOr((yield* defaults)[store.place]).pipe(
    Option.filter((name) => names.includes(name)),
    Option.orElse(() => names.length === 1 ? Option.fromUndefinedOr(names[0]) : Option.none())
  )
})

export const makeDefault = Effect.fnUntraced(function*({ place }: Place, name: string) {
  const fs = yield* FileSystem.FileSystem
  const { folder, path } = yield* defaultsFile
  const text = `${JSON.stringify({ ...yield* defaults, [place]: name }, null, 2)}\n`
  yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
  yield* OutputFile.replace(path, text, 0o600)
})

/** Beside the folder of accounts: the default is a choice of one user on one machine, even in a shared store. */
const defaultsFile = Effect.map(
  Effect.suspend(() => UserDirectories.make().config("postwire")),
  (folder) => ({ folder, path: join(folder, "default-accounts.json") })
)

/** The names of default accounts by store; empty if they cannot be read. */
const defaults = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  return yield* decodeDefaults(yield* fs.readFileString((yield* defaultsFile).path))
}).pipe(Effect.orElseSucceed((): Readonly<Record<string, string>> => ({})))

const decodeDefaults = Schema.decodeEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

/** Reads an account that has to exist. */
export const existing = Effect.fnUntraced(function*(store: Store, name: string) {
  yield* Account.checkName(name)
  const found = yield* Account.read(store, name)
  if (Option.isSome(found)) return found.value
  const names = yield* store.names
  return yield* ErrorReport.refuse(
    `There is no account "${name}"`,
    names.length === 0
      ? `There are no accounts: postwire login ${name} signs in.`
      : `There ${names.length === 1 ? "is" : "are"} ${names.join(", ")}; postwire login ${name} adds it.`
  )
})
