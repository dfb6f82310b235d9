/** Items that the service counted before an export and did not list. */
import type * as Export from "@postwire/export/Export"
import type * as Plan from "@postwire/export/sources/Plan"
import type { Source } from "@postwire/export/sources/Source"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { nounOf } from "../terminal/Noun.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"

/** Parameters that omit items which the figure of a profile, post or list includes. */
const narrowing = ["exclude", "start_time", "end_time", "since_id", "until_id"]

/** Reports that a complete export has fewer items than the service counted. */
export const say = (
  { definition, parameters }: Pick<Source<unknown>, "definition" | "parameters">,
  counted: Option.Option<Pick<Plan.Estimate, "items">>,
  { progress, status }: Export.Summary
): Effect.Effect<void> => {
  const { total } = definition
  const isWhole = total !== undefined && ("countedBy" in total || !narrowing.some((name) => name in parameters))
  const count = Option.match(counted, { onNone: () => 0, onSome: ({ items }) => items })
  return !isWhole || status === "interrupted" || progress.items >= count ? Effect.void : Report.say(
    `The service counted ${Text.quantity(count, nounOf(definition))}, and listed ${Text.count(progress.items)}.`,
    "Counts include some that are not listed, as those of suspended users. If many are missing, export again."
  )
}
