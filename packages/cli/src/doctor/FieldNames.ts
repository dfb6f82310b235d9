/** Checks which field names a service accepts: the current ones or those of before August. */
import type { Client } from "@postwire/core/client/Client"
import { environmentVariable } from "@postwire/core/errors/Errors"
import { getUsers } from "@postwire/core/operations/Users"
import type { WireName } from "@postwire/core/schema/WireName"
import * as Effect from "effect/Effect"
import { type Check, result } from "./Check.ts"

/** Requests a user that does not exist, with a field of posts: a service that does not know the field name refuses it. */
export const probe: Effect.Effect<"accepted" | "refused" | "unknown", never, Client> = getUsers(
  { ids: ["1"], post_fields: ["lang"] },
  { retries: 0 }
).pipe(
  Effect.as("accepted" as const),
  Effect.catch((error) => Effect.succeed(error._tag === "BadRequest" ? "refused" as const : "unknown" as const))
)

export const fieldNamesCheck = (
  set: WireName,
  other: WireName,
  own: Effect.Success<typeof probe>,
  others: Effect.Success<typeof probe>
): Check => {
  const details = { [set]: own, [other]: others }
  if (own === "unknown") {
    return result(
      "field names",
      "info",
      `It is unknown whether the service accepts those of ${set}`,
      "A read with a field failed for another reason.",
      details
    )
  }
  if (own === "accepted") {
    return result(
      "field names",
      "ok",
      `The service accepts those of ${set}${others === "accepted" ? `, and those of ${other}` : ""}`,
      "Fields and expansions use them.",
      details
    )
  }
  return result(
    "field names",
    "bad",
    `The service refuses those of ${set}${others === "accepted" ? ` and accepts those of ${other}` : ""}`,
    others === "accepted"
      ? `Set ${environmentVariable("wire")}=${other}.`
      : "A newer version may know its names; see docs/drift.md.",
    details
  )
}
