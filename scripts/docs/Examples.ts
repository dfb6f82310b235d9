/** The example of each operation, made from the statement in its docstring: for the three clients, and as data. */
import { areas, type Documented, documented, notice } from "./Source.ts"

/** A way to use the client. */
export interface ClientStyle {
  readonly title: string
  /** The file that holds its examples, for the compiler. */
  readonly file: string
  readonly header: string
  readonly open: (operation: string) => string
  readonly callee: (operation: Documented) => string
  readonly wait: string
  readonly log: (value: string) => string
  /** `shown` is a part of the item; all of it if omitted. */
  readonly each: (items: string, item: string, shown?: string) => string
}

/** The clients in the order of the README. */
export const clients: ReadonlyArray<ClientStyle> = [
  {
    title: "Promises",
    file: "examples/reference/promises.ts",
    header: `import type { PostwireClient } from "@postwire/node"`,
    open: (operation) => `export const ${operation} = async (client: PostwireClient) => {`,
    callee: ({ definition }) => `client.${definition.name}`,
    wait: "await ",
    log: (value) => `console.log(${value})`,
    each: (items, item, shown = item) => `for await (const ${item} of ${items}) console.log(${shown})`
  },
  {
    title: "Blocking",
    file: "examples/reference/blocking.ts",
    header: `import type { PostwireClientSync } from "@postwire/sync"`,
    open: (operation) => `export const ${operation} = (client: PostwireClientSync) => {`,
    callee: ({ definition }) => `client.${definition.name}`,
    wait: "",
    log: (value) => `console.log(${value})`,
    each: (items, item, shown = item) => `for (const ${item} of ${items}) console.log(${shown})`
  },
  {
    title: "Effect",
    file: "examples/reference/effect.ts",
    header: `import {\n  ${areas.map(({ name }) => name).join(",\n  ")}\n} from "@postwire/core"\n` +
      `import { Console, Stream } from "effect"`,
    open: (operation) => `export function* ${operation}() {`,
    callee: ({ area, definition }) => `${area}.${definition.name}`,
    wait: "yield* ",
    log: (value) => `yield* Console.log(${value})`,
    each: (items, item, shown = item) => `yield* Stream.runForEach(${items}, (${item}) => Console.log(${shown}))`
  }
]

const statement = /^(?:const (\{ data \}|\w+) = )?(?:yield\* )?(\w+)(\.items)?\(([^]*)\)$/

/** The parts of the statement. */
const partsOf = ({ definition, example }: Documented) => {
  const [matched, variable, name, items = "", parameters = ""] = statement.exec(example) ?? []
  if (matched === undefined || name !== definition.name) {
    throw new Error(`the example of ${definition.name} is not one call of it`)
  }
  return { variable, items, parameters }
}

/** Under which name a stream brings what it brings. */
export const memberOf = ({ result }: Documented["definition"]): "post" | "event" =>
  result._tag === "One" && result.kind === "post" ? "post" : "event"

/** The example of an operation of a client. */
export const example = (style: ClientStyle, operation: Documented): string => {
  const { items, parameters, variable } = partsOf(operation)
  const { live } = operation.definition
  const called = (before: string) => `${before}${style.callee(operation)}${items}(`
  if (variable === undefined) return call(called(style.wait), parameters)
  if (live !== undefined && variable !== undefined) {
    const member = memberOf(operation.definition)
    return `${call(called(`const ${variable} = `), parameters)}\n${style.each(variable, `{ ${member} }`, member)}`
  }
  if (items !== "") {
    return `${call(called(`const ${variable} = `), parameters)}\n${style.each(variable, variable.replace(/s$/, ""))}`
  }
  const binding = variable === "{ data }" ? variable : `{ data: ${variable} }`
  return `${call(called(`const ${binding} = ${style.wait}`), parameters)}\n` +
    style.log(variable === "{ data }" ? "data" : variable)
}

/** The file of a client with the examples of all operations. */
export const file = (style: ClientStyle): string =>
  `// ${notice}\n${style.header}\n\n${
    documented
      .map((operation) => `${style.open(operation.definition.name)}\n${indent(example(style, operation))}\n}\n`)
      .join("\n")
  }`

/** The file with what each example passes, for tests. */
export const parametersFile = (): string => {
  const entries = documented.map((operation) =>
    indent(call(`${operation.definition.name}: `, partsOf(operation).parameters || "{}", ""))
  )
  return `// ${notice}\nimport type { Name } from "@postwire/core/Catalogue"\n\n` +
    `export const parameters: { readonly [N in Name]: object } = {\n${entries.join(",\n")}\n}\n`
}

const indent = (text: string): string => text.replace(/^/gm, "  ")

// The examples are indented by two in their files, which are formatted to 120 columns.
const call = (before: string, parameters: string, after = ")"): string =>
  before.length + parameters.length <= 117
    ? `${before}${parameters}${after}`
    : `${before}{\n${
      indent(parameters.slice(2, -2).replace(/^ {2}/gm, "").replace(/, (?=\w+: )(?![^{]*\})/g, ",\n"))
    }\n}${after}`
