/** The accounts of `postwire login`: where they are kept, which one a command uses, and what is wrong when there is none. */
import * as DatabaseProblem from "@postwire/cluster/DatabaseProblem"
import * as Account from "@postwire/core/accounts/Account"
import * as Credentials from "@postwire/core/auth/Credentials"
import { environmentVariable, InvalidSettings, TokenStoreFailure } from "@postwire/core/errors/Errors"
import { type Store, TokenStore } from "@postwire/core/storage/TokenStore"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Flag from "effect/cli/Flag"
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
import * as Report from "../terminal/Report.ts"
import * as Variables from "./Variables.ts"

/** Where the name of the account may be. */
export const variable = "POSTWIRE_ACCOUNT"

/** `--account NAME`. */
export const flag = Flag.String("account").pipe(
  Flag.withMetavar("NAME"),
  Flag.withDescription("Use this account of postwire login; else POSTWIRE_ACCOUNT, or the credentials"),
  Flag.optional
)

/** `--token-store ADDRESS`. */
export const storeFlag = Flag.String("token-store").pipe(
  Flag.withMetavar("ADDRESS"),
  Flag.withDescription(
    "Where accounts are kept: a folder, redis://..., postgres://... (default: POSTWIRE_TOKEN_STORE)"
  ),
  Flag.optional
)

/** A store, and where it is: a path, or an address without its password. */
export interface Place extends Store {
  readonly place: string
}

/** The account that a command uses, and why that one. */
export interface Chosen {
  readonly name: string
  readonly because: "--account" | "POSTWIRE_ACCOUNT" | "default"
}

/** The account that was named is not there. */
export class NoSuchAccount extends Schema.TaggedError<NoSuchAccount>()("NoSuchAccount", {
  name: Schema.String,
  names: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `There is no account "${this.name}"`
  }
  get advice(): string {
    return this.names.length === 0
      ? `There is none here: postwire login ${this.name} signs in.`
      : `There ${this.names.length === 1 ? "is" : "are"} ${this.names.join(", ")}; postwire login ${this.name} adds it.`
  }
}

/** What is wrong with accounts as a whole. */
export type AccountsError = NoSuchAccount | InvalidSettings | TokenStoreFailure

/** Where accounts are, unless it is the folder of this user. */
export const placeOf = (flag: Option.Option<string>, variables: Variables.Variables): string | undefined =>
  Option.getOrUndefined(flag) ?? Variables.valueOf(variables, "POSTWIRE_TOKEN_STORE")

/** The store that is named, else the folder of accounts of this user. What only PostgreSQL needs is loaded for that alone. */
export const open = Effect.fnUntraced(function*(
  flag: Option.Option<string>,
  variables: Variables.Variables
): Effect.fn.Return<Place, InvalidSettings | TokenStoreFailure, Scope.Scope> {
  const place = placeOf(flag, variables)
  const layer: Layer.Layer<TokenStore, InvalidSettings | TokenStoreFailure> = /^postgres(ql)?:/.test(place ?? "")
    ? yield* layerPostgres(Redacted.make(place ?? ""))
    : NodeClient.layerTokenStore({ tokenStore: place })
  if (Option.isSome(flag) && /:\/\/[^/]*:[^/]*@/.test(flag.value)) {
    yield* Report.say(
      "Every user of this machine can read the password in the command line.",
      "Put the address into POSTWIRE_TOKEN_STORE."
    )
  }
  const store = Context.get(yield* Layer.build(layer), TokenStore)
  return { ...store, place: place === undefined ? "" : place.includes("://") ? withoutPassword(place) : resolve(place) }
})

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
  new TokenStoreFailure({ store: "in PostgreSQL", fault: "unavailable", action: "read", detail })

/** The app in the variables: its secret is what an account may have been kept without. */
export const appIn = (variables: Variables.Variables): Account.App | undefined => {
  const clientId = Variables.valueOf(variables, "POSTWIRE_CLIENT_ID")
  const secret = Variables.valueOf(variables, "POSTWIRE_CLIENT_SECRET")
  return clientId === undefined
    ? undefined
    : { clientId, ...secret !== undefined && { clientSecret: Redacted.make(secret) } }
}

/**
 * Which account a command uses: what is closer to the command line counts more, and in one place a name counts more than tokens.
 * Nothing where credentials come first, or where there is neither.
 */
export const choose = Effect.fnUntraced(function*(
  flag: Option.Option<string>,
  { environment, file }: Variables.Places,
  store: Effect.Effect<Place, InvalidSettings | TokenStoreFailure>
) {
  if (Option.isSome(flag)) return Option.some<Chosen>({ name: flag.value, because: "--account" })
  for (const place of [file, environment]) {
    const name = Variables.valueOf(place, variable)
    if (name !== undefined) return Option.some<Chosen>({ name, because: "POSTWIRE_ACCOUNT" })
    if (credentialsIn(place).length > 0) return Option.none<Chosen>()
  }
  // Without a home there is no default, and a command may need none.
  const opened = yield* Effect.asSome(store).pipe(Effect.catchTag("InvalidSettings", () => Effect.succeedNone))
  if (Option.isNone(opened)) return Option.none<Chosen>()
  return Option.map(yield* defaultOf(opened.value), (name): Chosen => ({ name, because: "default" }))
})

/** The variables of a place that hold credentials. */
export const credentialsIn = (variables: Variables.Variables): ReadonlyArray<string> =>
  Credentials.names.map(environmentVariable).filter((name) => Variables.valueOf(variables, name) !== undefined)

/** Says so where commands that name no account do not use this one. */
export const sayWhatIsUsed = Effect.fnUntraced(function*(name: string, places: Variables.Places, store: Place) {
  const used = yield* choose(Option.none(), places, Effect.succeed(store))
  if (Option.exists(used, (account) => account.name === name)) return
  const [first] = [places.file, places.environment].flatMap(credentialsIn)
  const isNamed = Option.exists(used, ({ because }) => because === variable)
  yield* Report.say(
    isNamed || Option.isNone(used) && first !== undefined
      ? `Commands use ${isNamed ? variable : first} of the environment, not the account.`
      : `"${name}" is not the default account.`,
    `Pass --account ${name}, or set ${variable}=${name}.`
  )
})

/** The default account of a store: the one that was made it, or the only one. */
export const defaultOf = Effect.fnUntraced(function*(store: Place) {
  const names = yield* store.names
  return Option.fromUndefinedOr((yield* defaults)[store.place]).pipe(
    Option.filter((name) => names.includes(name)),
    Option.orElse(() => names.length === 1 ? Option.fromUndefinedOr(names[0]) : Option.none())
  )
})

/** Makes an account the default of its store. */
export const makeDefault = Effect.fnUntraced(function*({ place }: Place, name: string) {
  const fs = yield* FileSystem.FileSystem
  const { folder, path } = yield* defaultsFile
  const text = `${JSON.stringify({ ...yield* defaults, [place]: name }, null, 2)}\n`
  yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
  yield* fs.writeFileString(path, text, { mode: 0o600 })
})

/** Beside the folder of accounts: it is what one user of one machine likes, also where the accounts are shared. */
const defaultsFile = Effect.map(
  Effect.suspend(() => UserDirectories.make().config("postwire")),
  (folder) => ({ folder, path: join(folder, "default-accounts.json") })
)

/** The names of default accounts by the places of their stores. Where that cannot be read, there are none. */
const defaults = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  return yield* decodeDefaults(yield* fs.readFileString((yield* defaultsFile).path))
}).pipe(Effect.orElseSucceed((): Readonly<Record<string, string>> => ({})))

const decodeDefaults = Schema.decodeEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

/** The account of a name, which has to be there. */
export const existing = Effect.fnUntraced(function*(store: Store, name: string) {
  yield* Account.checkName(name)
  const found = yield* Account.read(store, name)
  return Option.isSome(found) ? found.value : yield* new NoSuchAccount({ name, names: yield* store.names })
})
