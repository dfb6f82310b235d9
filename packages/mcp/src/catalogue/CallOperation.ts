/** `call_operation`: calls any operation of the catalogue. Writes need `--allow-writes` and the user's consent. */
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Prices from "@postwire/core/spend/Prices"
import * as Effect from "effect/Effect"
import { Gate } from "../money/Gate.ts"
import { Refused } from "../money/Refused.ts"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import { Session } from "../session/Session.ts"
import * as Tool from "../session/Tool.ts"
import * as Fence from "../text/Fence.ts"
import { named } from "./Operations.ts"

/** Makes the tool, which says whether it writes. */
export const make = (allowWrites: boolean) =>
  Tool.make({
    name: "call_operation",
    title: "Call an operation",
    description: `Calls an operation that find_operation names${
      allowWrites ? "; the user confirms each write" : ". Reads only"
    }.`,
    toolset: "catalogue",
    effect: allowWrites ? "change" : "read",
    operations: [],
    inputs: {
      name: Parameters.required(Parameters.text(100)),
      parameters: Parameters.object,
      ...Inputs.listing
    },
    run: ({ detail, name, parameters = {}, rows }) =>
      Effect.gen(function*() {
        const definition = named(name)
        if (definition === undefined) {
          return yield* new Refused({
            reason: "name: there is no such operation.",
            advice: "Find its name with find_operation first."
          })
        }
        if (definition.effect !== "read") {
          const { settings } = yield* Session
          const { isDryRun, write } = yield* Gate
          if (settings.allowWrites !== true) {
            return yield* new Refused({
              reason: `name: ${definition.name} writes, and this server only reads.`,
              advice: "The user can start this server with --allow-writes."
            })
          }
          if (!isDryRun) {
            yield* write({
              of: definition.name,
              micros: Prices.most(definition, parameters),
              lines: Object.entries(parameters).map(([parameter, value]) =>
                `${Fence.id(parameter)}: ${Fence.exact(typeof value === "string" ? value : JSON.stringify(value))}`
              )
            })
          }
        }
        return yield* Page.read(definition, parameters, { detail, rows })
      })
  })
