/** The variables of a command: a private file, the environment, and the files of `postwire config`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { open } from "node:fs/promises"
import { parseEnv } from "node:util"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Config from "./Config.ts"

export const flag = Args.text(
  "credentials",
  "A file of mode 0600 with lines such as POSTWIRE_BEARER_TOKEN=... (default: the environment)",
  "FILE"
)

export type Variables = Readonly<Record<string, string | undefined>>

/** The places of variables by precedence. */
export interface Places {
  readonly file: Variables
  readonly environment: Variables
  readonly config: Variables
}

/** The environment of this process, unless another is provided. */
export const Environment = Context.Reference<Variables>("@postwire/cli/Variables/Environment", {
  defaultValue: () => process.env
})

/** The variables of a command by place. */
export const places = Effect.fnUntraced(function*(file: Option.Option<string>) {
  return {
    file: Option.isSome(file) ? yield* read(file.value) : {},
    environment: yield* Environment,
    config: yield* Config.variables
  } satisfies Places
})

export const all = ({ config, environment, file }: Places): Variables => ({ ...config, ...environment, ...file })

/** The value of a variable; an empty one counts as missing. */
export const valueOf = (variables: Variables, name: string): string | undefined => variables[name]?.trim() || undefined

/** The variables in a file that only its owner can read. */
export const read = (path: string): Effect.Effect<Variables, ErrorReport.Failure> =>
  Effect.flatten(Effect.tryPromise({
    try: async () => {
      // Checked on the open file, so that it is the one that is read.
      await using file = await open(path, "r")
      const found = await file.stat()
      // chmod 600 on a folder would make it inaccessible.
      if (found.isDirectory()) throw new Error("it is a folder")
      const { mode } = found
      return (mode & 0o077) === 0 || process.platform === "win32"
        ? Effect.succeed(parseEnv(await file.readFile("utf8")))
        : ErrorReport.refuse(
          `${path}: other users may read it (mode ${(mode & 0o777).toString(8).padStart(4, "0")})`,
          `Remove that permission: chmod 600 ${path}`
        )
    },
    catch: (cause) =>
      new ErrorReport.Failure({
        message: `${path}: ${
          Predicate.hasProperty(cause, "code") && cause.code === "ENOENT"
            ? "there is no such file"
            : cause instanceof Error
            ? cause.message
            : String(cause)
        }`,
        advice: "Name a file that exists and that you may read."
      })
  }))
