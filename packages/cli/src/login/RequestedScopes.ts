/** The scopes that a login requests. */
import { type Catalogue, catalogue, scopesFor } from "@postwire/core/Catalogue"
import { bearerOf, type Definition } from "@postwire/core/schema/Definition"
import * as Scopes from "@postwire/core/schema/Scopes"
import * as Tools from "@postwire/mcp/server/Tools"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { closestMatch } from "leven"
import * as OperationFlags from "../flags/OperationFlags.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"

/** The flags' values, separated by commas. */
export interface Named {
  readonly operations: Option.Option<string>
  readonly scopes: Option.Option<string>
}

/** The operations that accept a user's token. */
const ofUsers: ReadonlyArray<Definition> = OperationFlags.answering.filter((definition) =>
  bearerOf(definition) !== "app"
)

/**
 * The scopes to request: those of the given operations, the given ones, and those granted before. Without any flag: all scopes that
 * the client can use. Always includes those to look up the user and to refresh the token.
 */
export const ofFlags = Effect.fnUntraced(function*(named: Named, before: ReadonlyArray<Scopes.Scope>) {
  const wanted = itemsOf(named.operations)
  const operations = yield* Effect.forEach(wanted.filter((name) => !Object.hasOwn(ofTools, name)), operationOf)
  const scopes = yield* Effect.forEach(itemsOf(named.scopes), scopeOf)
  const isAll = Option.isNone(named.operations) && Option.isNone(named.scopes)
  const all = new Set([
    ...scopesFor(["getMe", ...operations]),
    ...wanted.flatMap((name) => ofTools[name] ?? []),
    ...isAll ? ofUsers.flatMap(({ scopes }) => scopes) : scopes,
    ...before
  ])
  return Scopes.scopes.filter((scope) => all.has(scope))
})

/** The scopes that the tools of `postwire mcp` can use. */
const ofTools: Readonly<Record<string, ReadonlyArray<Scopes.Scope>>> = {
  "mcp:read": Tools.scopesOf(false),
  "mcp:write": Tools.scopesOf(true)
}

/** The operations that a user's token with these scopes cannot call. */
export const missingFor = (granted: ReadonlyArray<Scopes.Scope>): ReadonlyArray<Definition> =>
  ofUsers.filter(({ scopes }) => scopes.some((scope) => !granted.includes(scope)))

const itemsOf = (list: Option.Option<string>): ReadonlyArray<string> =>
  Option.getOrElse(list, () => "").split(/[\s,]+/).filter((item) => item !== "")

const isOperation = (name: string): name is keyof Catalogue => Object.hasOwn(catalogue, name)

const operationOf = (name: string) =>
  isOperation(name)
    ? Effect.succeed(name)
    : unknown("operation", name, Object.keys(catalogue), "postwire call --help lists all.")

const scopeOf = (name: string) => {
  const [scope] = Scopes.fromWire(name)
  return scope === undefined
    ? unknown("scope", name, Scopes.scopes, `There are ${Scopes.scopes.join(", ")}.`)
    : Effect.succeed(scope)
}

/** Suggests our names for those of the live service, too. */
const unknown = (what: string, name: string, names: ReadonlyArray<string>, all: string) => {
  const meant = closestMatch(name.replace("Tweet", "Post").replace("tweet", "post"), [...names], { maxDistance: 4 })
  return ErrorReport.refuse(
    `There is no ${what} "${name}"`,
    meant === undefined ? all : `Did you mean ${meant}?${what === "scope" ? "" : ` ${all}`}`
  )
}
