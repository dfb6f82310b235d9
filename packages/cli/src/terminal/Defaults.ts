/** Optional flags: with a default shown in the help, or repeatable. */
import * as Flag from "effect/cli/Flag"

/** Adds a description and a default. */
export const withDefault =
  <B extends string | number>(description: string, value: B) => <A>(flag: Flag.Flag<A>): Flag.Flag<A | B> =>
    flag.pipe(Flag.withDescription(`${description} (default ${value})`), Flag.withDefault(value))

/** A repeatable flag. */
export const many = (name: string, metavar: string, description: string): Flag.Flag<ReadonlyArray<string>> =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.atLeast(0),
    // Without a default, help would show it as required.
    Flag.withDefault([])
  )
