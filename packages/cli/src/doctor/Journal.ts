/** Checks the journal of uploads and threads. */
import { Journal } from "@postwire/core/storage/Journal"
import * as Effect from "effect/Effect"
import { dirname } from "node:path"
import * as Connection from "../connection/Connection.ts"
import type { Variables } from "../connection/Variables.ts"
import { type Check, faulty, result } from "./Check.ts"

const name = "journal"

/** Checks the folder of the journal without writing to it. */
export const journalCheck = (variables: Variables): Effect.Effect<Check> =>
  Effect.flatMap(Journal, ({ describe, read }) => Effect.map(read(probe), () => dirname(describe(probe)))).pipe(
    Effect.map((folder): Check =>
      result(
        name,
        "ok",
        `Uploads and threads record their progress in ${folder}`,
        "POSTWIRE_JOURNAL names another folder.",
        { folder }
      )
    ),
    Effect.provide(Connection.layerJournal(variables)),
    Effect.catch((error) => Effect.succeed(faulty(name, "warning", error)))
  )

/** A key that no upload or thread has. */
const probe = "doctor"
