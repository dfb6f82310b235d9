/** Flags that can be left out: with a default that their help shows, or given any number of times. */
import * as Flag from "effect/cli/Flag"

/** What a flag is for, and what it is when it is left out. */
export const withDefault =
  <B extends string | number>(description: string, value: B) => <A>(flag: Flag.Flag<A>): Flag.Flag<A | B> =>
    flag.pipe(Flag.withDescription(`${description} (default ${value})`), Flag.withDefault(value))

/** A flag that may be given again. */
export const many = (name: string, metavar: string, description: string): Flag.Flag<ReadonlyArray<string>> =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.atLeast(0),
    // Help would take it for one that has to be given.
    Flag.withDefault([])
  )
