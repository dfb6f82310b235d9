/** Where uploads and threads note how far they are, and whether they can. */
import { Journal } from "@postwire/core/storage/Journal"
import * as Effect from "effect/Effect"
import { dirname } from "node:path"
import * as Connection from "../connection/Connection.ts"
import type { Variables } from "../connection/Variables.ts"
import type { Check } from "./Check.ts"

const name = "journal"

/** The folder of the journal. Nothing is written to it. */
export const journalCheck = (variables: Variables): Effect.Effect<Check> =>
  Effect.flatMap(Journal, ({ describe, read }) => Effect.as(read(probe), dirname(describe(probe)))).pipe(
    Effect.map((folder): Check => ({
      name,
      status: "ok",
      finding: `Uploads and threads record their progress in ${folder}`,
      advice: "POSTWIRE_JOURNAL names another folder.",
      details: { folder }
    })),
    Effect.provide(Connection.layerJournal(variables)),
    Effect.catch(({ message }) => {
      const [finding = "", ...advice] = message.split(/(?<=\.) /)
      return Effect.succeed<Check>({ name, status: "warning", finding, advice: advice.join(" ") })
    })
  )

/** No upload and no thread has this key. */
const probe = "doctor"
