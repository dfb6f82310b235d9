/** The facts of a service in a file: each fact once, with a line for each fact, route and resource. */
import type { Fact, Facts, RouteFacts, ServiceFacts } from "./ServiceFacts.ts"

type Indexes = Readonly<Record<string, number>>

interface FactsFile {
  readonly version: string | undefined
  readonly facts: ReadonlyArray<Fact>
  readonly routes: ReadonlyArray<
    & Omit<RouteFacts, "body" | "headers" | "path" | "query" | "result">
    & {
      readonly path: ReadonlyArray<number>
      readonly query: Indexes
      readonly headers: Indexes
      readonly body: Indexes
      readonly result: Indexes
    }
  >
  readonly resources: Readonly<Record<string, Indexes>>
}

/** The text of the file. */
export const write = ({ resources, routes, version }: ServiceFacts): string => {
  const facts = new Map<string, number>()
  const indexOf = (fact: Fact): number => {
    const text = JSON.stringify(fact)
    const known = facts.get(text) ?? facts.size
    facts.set(text, known)
    return known
  }
  const indexes = (named: Facts): Indexes =>
    Object.fromEntries(Object.entries(named).map(([name, fact]) => [name, indexOf(fact)]))
  const lines = (values: ReadonlyArray<unknown>) => values.map((value) => JSON.stringify(value)).join(",\n")
  const packed = routes.map((route) => ({
    ...route,
    path: route.path.map(indexOf),
    query: indexes(route.query),
    headers: indexes(route.headers),
    body: indexes(route.body),
    result: indexes(route.result)
  }))
  const kinds = Object.entries(resources).map(([kind, named]) =>
    `${JSON.stringify(kind)}: ${JSON.stringify(indexes(named))}`
  )
  return `{"version": ${JSON.stringify(version)},\n"facts": [\n${[...facts.keys()].join(",\n")}\n],\n"routes": [\n${
    lines(packed)
  }\n],\n"resources": {\n${kinds.join(",\n")}\n}}\n`
}

/** The facts in the text of a file. */
export const read = (text: string): ServiceFacts => {
  const { facts, resources, routes, version }: FactsFile = JSON.parse(text)
  const factOf = (index: number): Fact => facts[index] ?? { type: "any" }
  const named = (indexes: Indexes): Facts =>
    Object.fromEntries(Object.entries(indexes).map(([name, index]) => [name, factOf(index)]))
  return {
    version,
    routes: routes.map((route) => ({
      ...route,
      path: route.path.map(factOf),
      query: named(route.query),
      headers: named(route.headers),
      body: named(route.body),
      result: named(route.result)
    })),
    resources: Object.fromEntries(Object.entries(resources).map(([kind, indexes]) => [kind, named(indexes)]))
  }
}
