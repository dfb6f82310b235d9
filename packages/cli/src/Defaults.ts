/** Flags with a default that their help shows. */
import * as Flag from "effect/cli/Flag"

/** What a flag is for, and what it is when it is left out. */
export const withDefault =
  <B extends string | number>(description: string, value: B) => <A>(flag: Flag.Flag<A>): Flag.Flag<A | B> =>
    flag.pipe(Flag.withDescription(`${description} (default ${value})`), Flag.withDefault(value))
