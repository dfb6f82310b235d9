/** `call_operation`: calls any operation of the catalogue. Writes are only prepared. */
import { Client } from "@postwire/core/client/Client"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Prices from "@postwire/core/spend/Prices"
import * as Effect from "effect/Effect"
import { dollars } from "../money/Dollars.ts"
import { Gate } from "../money/Gate.ts"
import { Refused } from "../money/Refused.ts"
import * as Inputs from "../session/Inputs.ts"
import { named } from "../session/Operations.ts"
import * as Page from "../session/Page.ts"
import { Session } from "../session/Session.ts"
import * as Tool from "../session/Tool.ts"
import * as Fence from "../text/Fence.ts"
import * as Host from "../writing/Host.ts"

export const tool = Tool.make({
  name: "call_operation",
  title: "Call an operation",
  description: "Calls an operation that find_operation names. Writes are only prepared, for publish.",
  toolset: "catalogue",
  effect: "read",
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
      const { settings: { allowWrites = false, toolsets } } = yield* Session
      if (definition.effect !== "read" && (!allowWrites || toolsets?.includes("writes") === false)) {
        return yield* new Refused({
          reason: `name: ${definition.name} writes, and this server only reads.`,
          advice: "The user can start this server with --allow-writes."
        })
      }
      const { isDryRun } = yield* Gate
      if (definition.effect === "read" || isDryRun) {
        return yield* Page.read(definition, parameters, { detail, rows })
      }
      const client = yield* Client
      yield* client.check(definition, parameters)
      const micros = Prices.most(definition, parameters)
      return yield* Host.prepare({
        of: definition.name,
        micros,
        lines: [
          `${definition.name}, for up to ${dollars(micros)}:`,
          ...Object.entries(parameters).map(([parameter, value]) =>
            `${Fence.id(parameter)}: ${Fence.exact(typeof value === "string" ? value : JSON.stringify(value))}`
          )
        ],
        action: { _tag: "calls", operation: definition.name, parameters: [{ ...parameters }] }
      })
    })
})
