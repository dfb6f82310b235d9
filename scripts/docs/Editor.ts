/**
 * The texts that editors show for methods and parameters. Both are computed types, for which editors show no
 * documentation, so these types are combined with generated interfaces that have the texts.
 */
import { type Definition, parametersOf } from "../../packages/core/src/schema/Definition.ts"
import * as Parameters from "../../packages/core/src/schema/Parameters.ts"
import { rulesOf } from "./ParameterRules.ts"
import { type Documented, documented, notice } from "./Source.ts"

const comment = (text: string, indent: string): string => {
  const lines = text.trim().split("\n")
  return lines.length === 1
    ? `${indent}/** ${lines[0]} */`
    : `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */`
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

const selectors: Readonly<Record<string, string>> = {
  expansions: "What is referred to and should come along, in `includes`",
  analytics_fields: "Figures of posts to return besides those that always come",
  broadcast_chat_message_fields: "Fields of messages to return besides those that always come",
  broadcast_fields: "Fields of broadcasts to return besides those that always come",
  chat_conversation_fields: "Fields of conversations to return besides those that always come",
  chat_message_event_fields: "Fields of events to return besides those that always come",
  community_fields: "Fields of communities to return besides those that always come",
  compliance_job_fields: "Fields of compliance jobs to return besides those that always come",
  connection_fields: "Fields of connections to return besides those that always come",
  dm_event_fields: "Fields of direct message events to return besides those that always come",
  like_with_post_author_fields: "Fields of likes to return besides those that always come",
  list_fields: "Fields of lists to return besides those that always come",
  media_analytics_fields: "Figures of videos to return besides those that always come",
  media_fields: "Fields of media in `includes` to return besides those that always come",
  news_fields: "Fields of stories to return besides those that always come",
  note_fields: "Fields of notes to return besides those that always come",
  personalized_trend_fields: "Fields of trends to return besides those that always come",
  place_fields: "Fields of places in `includes` to return besides those that always come",
  poll_fields: "Fields of polls in `includes` to return besides those that always come",
  post_fields: "Fields of posts to return besides those that always come",
  public_key_fields: "Fields of public keys to return besides those that always come",
  space_fields: "Fields of spaces to return besides those that always come",
  topic_fields: "Fields of topics in `includes` to return besides those that always come",
  trend_fields: "Fields of trends to return besides those that always come",
  usage_fields: "Fields of usage to return besides those that always come",
  user_fields: "Fields of users to return besides those that always come",
  webhook_config_fields: "Fields of webhooks to return besides those that always come"
}

/** The rule of a parameter, its default and its known values, in words. */
const textOf = (name: string, parameter: Parameters.AnyParameter): string => {
  if (Parameters.isSelector(name) && parameter.values !== undefined) {
    const text = selectors[name]
    if (text === undefined) throw new Error(`${name} has no text for editors`)
    return sentence(text)
  }
  return sentence([...rulesOf(parameter), ...(parameter.required ? ["required"] : [])].join("; "))
}

/** The name of the type with the texts of an operation's parameters, which editors show in its place. */
const typeOf = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}Parameters`

const parametersText = (definition: Definition): string => {
  const members = Object.entries(parametersOf(definition)).map(([name, parameter]) =>
    `${comment(textOf(name, parameter), "  ")}\n  readonly ${name}?: unknown`
  )
  if (definition.userAuth !== undefined) {
    const text = sentence(
      `whether OAuth 1.0a signs the request instead of a bearer token; default ${definition.userAuth}`
    )
    members.push(`${comment(text, "  ")}\n  readonly user_auth?: unknown`)
  }
  return `/** What \`${definition.name}\` takes. */
export type ${typeOf(definition.name)} = {
${members.join("\n")}
}
`
}

const byName = new Map<string, { readonly operation: Documented; readonly second: boolean | undefined }>(
  documented.flatMap((operation) => [
    [operation.definition.name, { operation, second: undefined }] as const,
    ...operation.aliases.map(({ deprecated, name }) => [name, { operation, second: deprecated }] as const)
  ])
)

const methodText = ({ definition, example, prose }: Documented, second: boolean | undefined): string => {
  const call = example.replace(/^const .+? = /, "").replace(/^yield\* /, "")
  const text = `${prose}\n\n\`\`\`ts\nclient.${call}\n\`\`\``
  return second === undefined
    ? text
    : second
    ? `${text}\n\n@deprecated Use \`${definition.name}\`.`
    : `Another name of \`${definition.name}\`.\n\n${text}`
}

/** The module with all of them. */
export const module = (): string => {
  const names = [...byName].map(([name, found]) => ({ name, ...found }))
  const withParameters = documented.filter(({ definition }) =>
    definition.userAuth !== undefined || Object.keys(parametersOf(definition)).length > 0
  )
  return `// ${notice}
/** The texts that editors show for methods and parameters. Types only. */

/** Defines the methods of a kind of client: \`method\` is the type for the operation called \`name\`. */
export interface MethodType {
  readonly name: string
  readonly method: unknown
}

/** The method of an operation. */
export type MethodOf<F extends MethodType, Name extends string> = (F & { readonly name: Name })["method"]

/** Every operation as a method of a client. */
export interface Methods<F extends MethodType> {
${
    names.map(({ name, operation, second }) =>
      `${comment(methodText(operation, second), "  ")}\n  readonly ${name}: MethodOf<F, "${name}">`
    ).join("\n")
  }
}

${withParameters.map(({ definition }) => parametersText(definition)).join("\n")}
/** The texts of the parameters of every operation that has some. The declarations have their types. */
export interface Parameters {
${withParameters.map(({ definition: { name } }) => `  readonly ${name}: ${typeOf(name)}`).join("\n")}
}

/** The texts of the parameters of a declaration; none for one that is not in the catalogue. */
export type ParametersOf<D> = D extends { readonly name: infer Name extends keyof Parameters } ? Parameters[Name] : {}
`
}
