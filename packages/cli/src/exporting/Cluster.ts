/** `--cluster`: the database of exports that run on several machines. */
import type { Database } from "@postwire/cluster/Database"
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"

/** The variable with the address, to keep passwords out of the command line. */
export const variable = "POSTWIRE_CLUSTER_URL"

/** `--cluster ADDRESS`, or the variable. */
export const flag = Flag.Redacted("cluster").pipe(
  Flag.withMetavar("ADDRESS"),
  Flag.withDescription(`postgres://user@host/database, or sqlite:FILE (default: ${variable})`),
  Flag.withFallbackConfig(Config.Redacted(variable))
)

/** The value of `--cluster` that refers to the environment. */
const inEnvironment = "environment"

/** The flags that require `--cluster`. */
export const exportFlags = {
  cluster: Flag.Redacted("cluster").pipe(
    Flag.withMetavar("ADDRESS"),
    Flag.withDescription(
      `By all workers of postgres://..., or by this process in sqlite:FILE; ${inEnvironment} is ${variable}`
    ),
    Flag.optional
  ),
  label: Flag.String("label").pipe(
    Flag.withDefault(""),
    Flag.withDescription("With --cluster, a label that distinguishes exports of the same query")
  ),
  detach: Args.toggle("detach", "With --cluster, do not wait until it is complete")
}

/** The address in the environment, if it is set. */
const fallback: Effect.Effect<Option.Option<Redacted.Redacted>> = Effect.orElseSucceed(
  Config.option(Config.Redacted(variable)),
  () => Option.none()
)

/** The address of the cluster, if the export uses one: an export without a file uses that of the environment. */
export const addressOf = (
  cluster: Option.Option<Redacted.Redacted>,
  out: string
): Effect.Effect<Option.Option<Redacted.Redacted>, ErrorReport.Failure> =>
  Option.match(cluster, {
    onNone: () => out === "" ? fallback : Effect.succeedNone,
    onSome: (address) =>
      Redacted.value(address) !== inEnvironment ? Effect.succeed(cluster) : Effect.filterOrFail(
        fallback,
        Option.isSome,
        () =>
          new ErrorReport.Failure({
            message: `--cluster ${inEnvironment}, but ${variable} is not set`,
            advice: "Set it to postgres://user@host/database."
          })
      )
  })

/** The database of an address. Its modules are loaded only if needed. */
export const database = Effect.fnUntraced(
  function*(address: Redacted.Redacted): Effect.fn.Return<Database, InvalidSettings> {
    const Database = yield* Effect.promise(() => import("@postwire/cluster/Database"))
    const database = yield* Database.parse(address)
    if (Database.hasPassword(address) && process.argv.some((argument) => /postgres(ql)?:\/\//.test(argument))) {
      yield* Report.say(
        "Every user of this machine can read the password in the command line.",
        `Set ${variable} to the address instead.`
      )
    }
    return database
  }
)

/** The database of an address, which has to exist: commands that only read create no file. */
export const existing = Effect.fnUntraced(function*(address: Redacted.Redacted) {
  const found = yield* database(address)
  const fs = yield* FileSystem.FileSystem
  // If the file cannot be checked, opening it reports the error.
  if (found._tag === "Sqlite" && !(yield* Effect.orElseSucceed(fs.exists(found.path), () => true))) {
    return yield* new ErrorReport.Failure({
      message: `${found.path}: there is no such file`,
      advice: "Name the file of an export; postwire export --cluster makes one."
    })
  }
  return found
})
