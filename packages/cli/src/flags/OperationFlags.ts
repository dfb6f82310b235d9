/** Commands for operations, by name and alias, with the parameters as flags: `post_fields` is `--post-fields`. */
import { aliases, catalogue } from "@postwire/core/Catalogue"
import { bearerOf, type Definition, parametersOf as declaredBy } from "@postwire/core/schema/Definition"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Quota from "@postwire/core/schema/Quota"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import * as Args from "../terminal/Args.ts"
import { forShells } from "../terminal/ShellWords.ts"

export type Flags = Record<string, Flag.Flag<Option.Option<unknown>>>

/** Every operation, without aliases. */
const definitions: ReadonlyArray<Definition> = [
  ...new Set(Object.values(catalogue).map(({ definition }): Definition => definition))
]

export const paged: ReadonlyArray<Definition> = definitions.filter(({ paging }) => paging !== undefined)

export const live: ReadonlyArray<Definition> = definitions.filter(({ live }) => live !== undefined)

export const answering: ReadonlyArray<Definition> = definitions.filter(({ live }) => live === undefined)

/** The parameters for the next page. Commands that fetch all pages do not have them. */
export const pageToken = ({ paging }: Definition): ReadonlyArray<string> =>
  paging === undefined ? [] : [paging.token, "pagination_token"]

/** Names the command of an operation, with the operation's alias. */
export const named = <Name extends string, Input, E, R, Context>(
  definition: Definition,
  command: Command.Command<Name, Input, Context, E, R>
): Command.Command<Name, Input, Context, E, R> => {
  const { name, summary } = definition
  const described = Command.withDescription(command, [summary, ...termsOf(definition)].join(" ")).pipe(
    Command.withShortDescription(summary)
  )
  const alias = Object.entries(aliases).find(([, of]) => of === name)?.[0]
  return alias === undefined ? described : Command.withAlias(described, alias)
}

/** The requirements of an operation. */
const termsOf = (definition: Definition): ReadonlyArray<string> => {
  const { access, limits, scopes } = definition
  const limit = Quota.format(limits)
  return [
    ...(scopes.length === 0 || bearerOf(definition) === "app" ? [] : [`A user's token needs ${scopes.join(", ")}.`]),
    ...(access === undefined ? [] : [`The project needs ${access} access.`]),
    ...(limit === undefined ? [] : [`Limit: ${limit}.`])
  ]
}

/** The flags of an operation. `defaults` are values that the command sends by itself. */
export const make = (
  definition: Definition,
  options: {
    readonly without?: ReadonlyArray<string>
    /** The flags that a file of `--each` can replace. */
    readonly replaced?: ReadonlyArray<string>
    readonly defaults?: Readonly<Record<string, unknown>>
  } = {}
): Flags => {
  const { defaults = {}, replaced = [], without = [] } = options
  const flags: Flags = {}
  for (const [name, parameter] of Object.entries(declaredBy(definition))) {
    if (without.includes(name)) continue
    const others = replaced.includes(name) ? ["each"] : othersOf(definition, name)
    flags[name] = flagOf(name, parameter, defaults[name], others)
  }
  if (definition.userAuth !== undefined) {
    flags["user_auth"] = Flag.Boolean("user-auth").pipe(
      Args.optional(`Sign with the user's OAuth 1.0a credential (default ${definition.userAuth})`)
    )
  }
  return flags
}

export const parametersOf = (given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      Option.isOption(value) && Option.isSome(value) ? [[name, value.value]] : []
    )
  )

const othersOf = ({ alternatives }: Definition, name: string): ReadonlyArray<string> =>
  alternatives?.of.includes(name) === true ? alternatives.of.filter((other) => other !== name) : []

const nameOf = (parameter: string): string => parameter.replaceAll("_", "-")

const flagOf = (
  name: string,
  parameter: Parameters.AnyParameter,
  standard: unknown,
  others: ReadonlyArray<string>
): Flag.Flag<Option.Option<unknown>> => {
  // A flag that is absent would be false.
  const isSwitch = parameter.required && parameter.kind === "boolean"
  const needed = others.length > 0
    ? ` (this, or ${others.map((other) => `--${nameOf(other)}`).join(" or ")})`
    : isSwitch
    ? " (required)"
    : ""
  const flag = plain(nameOf(name), parameter).pipe(
    Flag.withDescription(describe(name, parameter, standard) + needed)
  )
  return parameter.required && needed === "" ? Flag.map(flag, (value) => Option.some(value)) : Flag.optional(flag)
}

const plain = (name: string, { kind, open, values }: Parameters.AnyParameter): Flag.Flag<unknown> => {
  switch (kind) {
    case "integer":
      return Flag.Int(name)
    case "boolean":
      return Flag.Boolean(name)
    case "choice":
      return open === true
        ? Flag.map(Flag.String(name), nameOn)
        : values === undefined
        ? Flag.String(name)
        : Flag.Literals(name, values)
    case "list":
      return open !== true ? items(name) : Flag.map(Flag.String(name), namesOn)
    case "bytes":
      return Flag.withMetavar(Flag.String(name), "FILE")
    case "json":
      return Flag.withMetavar(Flag.String(name), "JSON|@FILE")
    default:
      return Flag.String(name)
  }
}

/** Marks a name that is not in any list, as `{ unlisted: "name" }` in programs. */
const unlistedMark = "unlisted:"

const nameOn = (text: string) => text.startsWith(unlistedMark) ? { unlisted: text.slice(unlistedMark.length) } : text

/** Names stay one text with commas, unless one is marked. */
const namesOn = (text: string) => text.includes(unlistedMark) ? text.split(",").map(nameOn) : text

/** A list: one text with commas, or a repeated flag whose values may contain commas. */
const items = (name: string): Flag.Flag<ReadonlyArray<string>> =>
  Flag.String(name).pipe(
    Flag.atLeast(1),
    Flag.map((texts) => texts.length === 1 ? texts.flatMap((text) => text.split(",")) : texts)
  )

const describe = (name: string, parameter: Parameters.AnyParameter, standard: unknown): string => {
  const { default: usual = standard, kind, open, values } = parameter
  const rule = kind === "list" && values !== undefined
    ? `Names, separated by commas, such as ${values.slice(0, 2).join(",")}`
    : kind === "choice" && open !== true
    // Help lists the choices.
    ? "One of these"
    : kind === "bytes"
    ? "A file; - is standard input"
    : kind === "json"
    ? `${parameter.schema.ast._tag === "Arrays" ? "Objects" : "An object"} as JSON, or a file of it`
    : kind === "boolean"
    ? `True; --no-${nameOf(name)} is false`
    : forShells(Parameters.describe(parameter)).replace(/^must be /, "").replace(/^./, (letter) => letter.toUpperCase())
  return usual === undefined ? rule : `${rule} (default ${standard ?? usual})`
}
