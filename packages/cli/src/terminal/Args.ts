/** The help of commands, and the usual kinds of flags: a switch, a text, a bounded number; optional, with a default, repeatable. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type * as Option from "effect/Option"

/** The help of a command: a description, a short one for lists, and examples with what they do. */
export const help =
  (description: string, short = description, examples: Readonly<Record<string, string>> = {}) =>
  <Name extends string, Input, Context, E, R>(
    command: Command.Command<Name, Input, Context, E, R>
  ): Command.Command<Name, Input, Context, E, R> =>
    command.pipe(
      Command.withDescription(description),
      Command.withShortDescription(short),
      Command.withExamples(Object.entries(examples).map(([command, description]) => ({ command, description })))
    )

/** A switch that is off by default. */
export const toggle = (name: string, description: string): Flag.Flag<boolean> =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

/** Adds a description and makes the flag optional. */
export const optional = (description: string) => <A>(flag: Flag.Flag<A>): Flag.Flag<Option.Option<A>> =>
  flag.pipe(Flag.withDescription(description), Flag.optional)

export const text = (name: string, description: string, metavar?: string): Flag.Flag<Option.Option<string>> => {
  const flag = Flag.String(name)
  return optional(description)(metavar === undefined ? flag : Flag.withMetavar(flag, metavar))
}

/** A whole number within bounds. */
export const int = (name: string, least: number, most = Infinity): Flag.Flag<number> =>
  Flag.Int(name).pipe(
    Flag.filter((value) => value >= least && value <= most, () =>
      most === Infinity ? `${least} or more` : `${least} to ${most}`)
  )

/** Adds a description and a default. */
export const withDefault =
  <B extends string | number>(description: string, value: B) => <A>(flag: Flag.Flag<A>): Flag.Flag<A | B> =>
    flag.pipe(Flag.withDescription(`${description} (default ${value})`), Flag.withDefault(value))

export const many = (name: string, metavar: string, description: string): Flag.Flag<ReadonlyArray<string>> =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.atLeast(0),
    // Without a default, help would show it as required.
    Flag.withDefault([])
  )
