/** The accounts of `postwire login`: where they are kept, which one a command uses, and what is wrong when there is none. */
import * as Account from "@postwire/core/Account"
import * as Credentials from "@postwire/core/Credentials"
import { environmentVariable, type InvalidSettings, type TokenStoreFailure } from "@postwire/core/Errors"
import { type Store, TokenStore } from "@postwire/core/TokenStore"
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
import { join } from "node:path"
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
  Flag.withDescription("Where accounts are kept: a folder, or redis://... (default: POSTWIRE_TOKEN_STORE, or yours)"),
  Flag.optional
)

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

/** The store that is named, else the folder of accounts of this user. */
export const open = Effect.fnUntraced(function*(
  flag: Option.Option<string>,
  variables: Variables.Variables
): Effect.fn.Return<Store, InvalidSettings, Scope.Scope> {
  const place = Option.getOrUndefined(flag) ?? Variables.valueOf(variables, "POSTWIRE_TOKEN_STORE")
  return Context.get(yield* Layer.build(NodeClient.layerTokenStore({ tokenStore: place })), TokenStore)
})

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
  store: Effect.Effect<Store, InvalidSettings>
) {
  if (Option.isSome(flag)) return Option.some<Chosen>({ name: flag.value, because: "--account" })
  for (const place of [file, environment]) {
    const name = Variables.valueOf(place, variable)
    if (name !== undefined) return Option.some<Chosen>({ name, because: "POSTWIRE_ACCOUNT" })
    if (credentialsIn(place).length > 0) return Option.none<Chosen>()
  }
  // Without a home there is no default, and a command may need none.
  const opened = yield* Effect.option(store)
  if (Option.isNone(opened)) return Option.none<Chosen>()
  return Option.map(yield* defaultOf(opened.value), (name): Chosen => ({ name, because: "default" }))
})

/** The variables of a place that hold credentials. */
export const credentialsIn = (variables: Variables.Variables): ReadonlyArray<string> =>
  Credentials.names.map(environmentVariable).filter((name) => Variables.valueOf(variables, name) !== undefined)

/** The default account of a store: the one that was made it, or the only one. */
export const defaultOf = Effect.fnUntraced(function*(store: Store) {
  const names = yield* store.names
  const kept = yield* Effect.option(readDefault)
  return Option.filter(kept, (name) => names.includes(name)).pipe(
    Option.orElse(() => names.length === 1 ? Option.fromNullishOr(names[0]) : Option.none())
  )
})

/** Beside the folder of accounts, for it is what one user of one machine likes, wherever the accounts are. */
const defaultFile = Effect.map(
  Effect.suspend(() => UserDirectories.make().config("postwire")),
  (folder) => ({ folder, path: join(folder, "default-account") })
)

const readDefault = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  return (yield* fs.readFileString((yield* defaultFile).path)).trim()
})

/** Makes an account the default. */
export const makeDefault = Effect.fnUntraced(function*(name: string) {
  const fs = yield* FileSystem.FileSystem
  const { folder, path } = yield* defaultFile
  yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
  yield* fs.writeFileString(path, `${name}\n`, { mode: 0o600 })
})

/** The account of a name, which has to be there. */
export const existing = Effect.fnUntraced(function*(store: Store, name: string) {
  yield* Account.checkName(name)
  const found = yield* Account.read(store, name)
  return Option.isSome(found) ? found.value : yield* new NoSuchAccount({ name, names: yield* store.names })
})
