/** All other operations: found by words, and called by name. */
import { Client } from "@postwire/core/client/Client"
import { type Definition, parametersOf } from "@postwire/core/schema/Definition"
import * as ParameterRule from "@postwire/core/schema/ParameterRule"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Prices from "@postwire/core/spend/Prices"
import * as Effect from "effect/Effect"
import { dollars } from "../money/Dollars.ts"
import { Gate } from "../money/Gate.ts"
import { Refused } from "../money/Refused.ts"
import * as Inputs from "../session/Inputs.ts"
import { callable, named } from "../session/Operations.ts"
import * as Page from "../session/Page.ts"
import { Session } from "../session/Session.ts"
import * as Tool from "../session/Tool.ts"
import * as Fence from "../text/Fence.ts"
import * as Host from "../writing/Host.ts"

/** `find_operation`: finds operations by words, and describes one by name. */
export const find = Tool.make({
  name: "find_operation",
  title: "Find an operation",
  description:
    "Finds any operation of the service by words such as 'mute' or 'spaces', for call_operation. An exact name returns all its parameters.",
  toolset: "catalogue",
  effect: "read",
  openWorld: false,
  operations: [],
  inputs: { query: Parameters.required(Parameters.text(100)) },
  run: ({ query }) =>
    Effect.map(Session, ({ settings: { prices = Prices.current } }) => {
      const exact = named(query)
      const words = query.toLowerCase().split(/\W+/).filter((word) => word !== "")
      const found = callable
        .map((definition) => {
          const text = `${definition.name} ${definition.summary}`.toLowerCase()
          return { definition, score: words.filter((word) => text.includes(word.replace(/s$/, ""))).length }
        })
        .filter(({ definition, score }) => score > 0 && definition !== exact)
        .sort((a, b) => b.score - a.score)
        .slice(0, exact === undefined ? most : mostBesides)
      return {
        lines: found.length === 0 && exact === undefined
          ? [
            "No operation has these words. Try others: nouns such as post, list, space, community, mute, block, usage."
          ]
          : [
            ...exact === undefined ? [] : described(exact, prices),
            ...exact === undefined || found.length === 0 ? [] : ["Others:"],
            ...found.map(({ definition }) => summary(definition, prices))
          ]
      }
    })
})

/** The most operations of an answer. */
const most = 15

/** The most others besides the one that is named. */
const mostBesides = 5

const priceOf = (definition: Definition, prices: Prices.Prices): string => {
  const { effect, price } = definition
  const kind = effect === "read" ? "read" : "write"
  if (price === "free") return `${kind}, free`
  const most = Prices.most(definition, { max_results: 1 }, prices)
  if (price === "unknown" && most === 0) return `${kind}, price unknown`
  return `${kind}, up to ${dollars(most)}${Prices.isPerRequest(price) ? "" : " each"}`
}

const summary = (definition: Definition, prices: Prices.Prices): string => {
  const names = Object.entries(parametersOf(definition))
    .filter(([name]) => !Parameters.isSelector(name) && name !== definition.identity)
    .map(([name, { required }]) => required ? `${name}*` : name)
  return `${definition.name}(${names.join(", ")}) [${priceOf(definition, prices)}] ${definition.summary}`
}

const described = (definition: Definition, prices: Prices.Prices): ReadonlyArray<string> => [
  `${definition.name} [${priceOf(definition, prices)}] ${definition.summary}`,
  ...definition.scopes.length === 0 ? [] : [`scopes: ${definition.scopes.join(" ")}`],
  ...Object.entries(parametersOf(definition))
    .filter(([name]) => name !== definition.identity)
    .map(([name, parameter]) =>
      `${name}${parameter.required ? "*" : ""}: ${
        parameter.kind === "list" && parameter.values !== undefined
          ? `list of ${parameter.values.join(", ")}`
          : Parameters.describe(parameter)
      }`
    ),
  ...[...definition.alternatives === undefined ? [] : [definition.alternatives], ...definition.rules ?? []].map(
    ParameterRule.format
  )
]

/** `call_operation`: calls any operation of the catalogue. Writes are only prepared. */
export const call = Tool.make({
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
      const { settings: { allowWrites = false, prices, toolsets } } = yield* Session
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
      const micros = Prices.most(definition, parameters, prices)
      return yield* Host.prepare({
        of: definition.name,
        micros,
        lines: [
          `${definition.name}, ${
            definition.price === "unknown" && micros === 0 ? "at an unknown price" : `for up to ${dollars(micros)}`
          }:`,
          ...Object.entries(parameters).map(([parameter, value]) =>
            `${Fence.id(parameter)}: ${Fence.exact(typeof value === "string" ? value : JSON.stringify(value))}`
          )
        ],
        action: { _tag: "calls", operation: definition.name, parameters: [{ ...parameters }] }
      })
    })
})
