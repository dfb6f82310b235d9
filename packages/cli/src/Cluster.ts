/** `--cluster`: the database that exports of many machines share. */
import type { Database } from "@postwire/cluster/Database"
import type { InvalidSettings } from "@postwire/core/Errors"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Report from "./Report.ts"

/** Where the address may be, so that nobody sees a password in it. */
export const variable = "POSTWIRE_CLUSTER_URL"

/** `--cluster ADDRESS`, or the variable. */
export const flag = Flag.Redacted("cluster").pipe(
  Flag.withMetavar("ADDRESS"),
  Flag.withDescription(`postgres://user@host/database, or sqlite:FILE; else ${variable}`),
  Flag.withFallbackConfig(Config.Redacted(variable))
)

/** The database of an address. Modules that only a cluster needs are loaded here, and not by every command. */
export const database = Effect.fnUntraced(
  function*(address: Redacted.Redacted): Effect.fn.Return<Database, InvalidSettings> {
    const Database = yield* Effect.promise(() => import("@postwire/cluster/Database"))
    const database = yield* Database.parse(address)
    if (Database.hasPassword(address) && process.argv.some((argument) => /postgres(ql)?:\/\//.test(argument))) {
      yield* Report.say(
        "Every user of this machine can read the password in the command line.",
        `Put the address into ${variable}.`
      )
    }
    return database
  }
)
