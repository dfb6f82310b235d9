/** Which words a service takes: of this date or of that before. */
import type { Client } from "@postwire/core/client/Client"
import { environmentVariable } from "@postwire/core/errors/Errors"
import { getUsers } from "@postwire/core/operations/Users"
import type { WireName } from "@postwire/core/schema/WireName"
import * as Effect from "effect/Effect"
import type { Check } from "./Check.ts"

/** Reads a user that nobody has, with a field under a name of posts: a service that does not know the name refuses it. */
export const probe: Effect.Effect<"taken" | "refused" | "untold", never, Client> = getUsers(
  { ids: ["1"], post_fields: ["lang"] },
  { retries: 0 }
).pipe(
  Effect.as("taken" as const),
  Effect.catch((error) => Effect.succeed(error._tag === "BadRequest" ? "refused" as const : "untold" as const))
)

/** What the answers tell of the wire that is set. */
export const wordsCheck = (
  set: WireName,
  other: WireName,
  own: Effect.Success<typeof probe>,
  others: Effect.Success<typeof probe>
): Check => {
  const details = { [set]: own, [other]: others }
  if (own === "untold") {
    return {
      name: "words",
      status: "info",
      finding: `Whether the service takes those of ${set} is not told`,
      advice: "A read with a field failed for another reason.",
      details
    }
  }
  if (own === "taken") {
    return {
      name: "words",
      status: "ok",
      finding: `The service takes those of ${set}${others === "taken" ? `, and those of ${other}` : ""}`,
      advice: "Fields and expansions are named by them.",
      details
    }
  }
  return {
    name: "words",
    status: "bad",
    finding: `The service refuses those of ${set}${others === "taken" ? ` and takes those of ${other}` : ""}`,
    advice: others === "taken"
      ? `Set ${environmentVariable("wire")}=${other}.`
      : "A newer version may know its words; see docs/drift.md.",
    details
  }
}
