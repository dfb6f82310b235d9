/** `find_operation`: finds operations by words, and describes one by name. */
import { type Definition, parametersOf } from "@postwire/core/schema/Definition"
import * as ParameterRule from "@postwire/core/schema/ParameterRule"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Prices from "@postwire/core/spend/Prices"
import * as Effect from "effect/Effect"
import { dollars } from "../money/Dollars.ts"
import { callable, named } from "../session/Operations.ts"
import * as Tool from "../session/Tool.ts"

export const tool = Tool.make({
  name: "find_operation",
  title: "Find an operation",
  description:
    "Finds any operation of the service by words such as 'mute' or 'spaces', for call_operation. An exact name returns all its parameters.",
  toolset: "catalogue",
  effect: "read",
  openWorld: false,
  operations: [],
  inputs: { query: Parameters.required(Parameters.text(100)) },
  run: ({ query }) => {
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
    return Effect.succeed({
      lines: found.length === 0 && exact === undefined
        ? ["No operation has these words. Try others: nouns such as post, list, space, community, mute, block, usage."]
        : [
          ...exact === undefined ? [] : described(exact),
          ...exact === undefined || found.length === 0 ? [] : ["Others:"],
          ...found.map(({ definition }) => summary(definition))
        ]
    })
  }
})

/** The most operations of an answer. */
const most = 15

/** The most others besides the one that is named. */
const mostBesides = 5

const priceOf = (definition: Definition): string => {
  const { effect, price } = definition
  const micros = price === "free" ? 0 : Prices.most(definition, { max_results: 1 })
  return `${effect === "read" ? "read" : "write"}, ${
    micros === 0 ? "free" : `up to ${dollars(micros)}${price !== "free" && "request" in price ? "" : " each"}`
  }`
}

const summary = (definition: Definition): string => {
  const names = Object.entries(parametersOf(definition))
    .filter(([name]) => !Parameters.isSelector(name) && name !== definition.identity)
    .map(([name, { required }]) => required ? `${name}*` : name)
  return `${definition.name}(${names.join(", ")}) [${priceOf(definition)}] ${definition.summary}`
}

const described = (definition: Definition): ReadonlyArray<string> => [
  `${definition.name} [${priceOf(definition)}] ${definition.summary}`,
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
