/** `postwire call OPERATION`: one call of any operation, as JSON or as a table. */
import { aliases } from "@postwire/core/Catalogue"
import { Client } from "@postwire/core/Client"
import type { Problem } from "@postwire/core/Errors"
import * as Executor from "@postwire/core/Executor"
import type { Definition } from "@postwire/core/Operation"
import type { Wire } from "@postwire/core/WireNames"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Connection from "./Connection.ts"
import { commands, Contradiction } from "./ExportCommand.ts"
import * as OperationFlags from "./OperationFlags.ts"
import * as Progress from "./Progress.ts"
import * as Report from "./Report.ts"
import * as Table from "./Table.ts"

/** The answer is there, but the service reported errors for parts of what was asked. */
export class Incomplete extends Schema.TaggedError<Incomplete>()("Incomplete", {
  operation: Schema.String,
  errors: Schema.Int
}) {
  override readonly [Runtime.errorExitCode] = 3
  override get message(): string {
    const { errors, operation } = this
    return `${operation}: the service reported ${Progress.count(errors)} ${
      errors === 1 ? "error" : "errors"
    } for parts ` +
      "of what was asked"
  }
  get advice(): string {
    return "They are above; what it could answer is on standard output."
  }
}

const own = {
  json: Flag.Boolean("json").pipe(
    Flag.withDescription("Print JSON, as without a terminal"),
    Flag.withDefault(false)
  ),
  table: Flag.Boolean("table").pipe(
    Flag.withDescription("Print a table, as on a terminal"),
    Flag.withDefault(false)
  ),
  raw: Flag.Boolean("raw").pipe(
    Flag.withDescription("Print the body as it came, in the words of the wire"),
    Flag.withDefault(false)
  ),
  wire: Connection.wire,
  credentials: Connection.flag
}

const aliasOf = (name: string): string | undefined => Object.entries(aliases).find(([, of]) => of === name)?.[0]

/** `postwire call`, with a command for each operation. */
export const command = Command.make("call").pipe(
  Command.withDescription("Call any operation once. Lists give one page; export gets them whole."),
  Command.withShortDescription("Call any operation once"),
  Command.withSubcommands(commands((definition) => {
    const call = Command.make(
      definition.name,
      { own, parameters: OperationFlags.make(definition) },
      ({ own, parameters }) => run(definition, OperationFlags.parametersOf(parameters), own)
    ).pipe(Command.withDescription(definition.summary))
    const alias = aliasOf(definition.name)
    return alias === undefined ? call : Command.withAlias(call, alias)
  }, () => true)),
  Command.withExamples([
    { command: "postwire call getUser --username ada --user-fields public_metrics", description: "One user" },
    {
      command: "postwire call searchRecentPosts --query effect --raw",
      description: "A page of posts, as the service sent it"
    },
    { command: "postwire call createPost --text 'Hello'", description: "A new post, at once" }
  ])
)

interface Flags {
  readonly json: boolean
  readonly table: boolean
  readonly raw: boolean
  readonly wire: Option.Option<Wire>
  readonly credentials: Option.Option<string>
}

const run = Effect.fnUntraced(
  function*(definition: Definition, parameters: Readonly<Record<string, unknown>>, flags: Flags) {
    if ([flags.json, flags.table, flags.raw].filter(Boolean).length > 1) {
      return yield* new Contradiction({
        reason: "--json, --table and --raw contradict each other",
        advice: "Pass one of them."
      })
    }
    const response = yield* call(definition, parameters, flags).pipe(
      Effect.provide(Connection.layer(flags.credentials, flags.wire))
    )
    const { body, data, errors } = response
    if (!flags.raw) {
      const token = definition.paging?.token.replaceAll("_", "-")
      yield* Console.log(
        flags.table || (!flags.json && process.stdout.isTTY)
          ? Table.render(body, process.stdout.columns ?? 80, token).join("\n")
          : Report.plainJson(JSON.stringify(body, null, 2))
      )
    }
    if (definition.effect !== "read" && data !== undefined) yield* Console.error(told(definition, data))
    if (errors.length > 0) {
      for (const problem of errors.slice(0, shown)) yield* Console.error(describe(problem))
      if (errors.length > shown) yield* Console.error(`postwire: and ${Progress.count(errors.length - shown)} more`)
      return yield* new Incomplete({ operation: definition.name, errors: errors.length })
    }
  }
)

/** So many partial errors are told one by one. */
const shown = 10

/** Calls the operation. A raw body is printed before it is read, for one may want to see what cannot be read. */
const call = Effect.fnUntraced(
  function*(definition: Definition, parameters: Readonly<Record<string, unknown>>, { raw }: Flags) {
    const client = yield* Client
    const response = yield* client.request(definition, parameters)
    if (raw) {
      const { confirmWith, effect, name } = definition
      const text = yield* Executor.textOf({ operation: name, effect, confirmWith }, response)
      yield* Console.log(process.stdout.isTTY ? Report.plainJson(text) : text)
    }
    return yield* client.read(definition, response)
  }
)

/** What a write has done, on one line. */
const told = ({ name }: Definition, data: unknown): string => {
  const facts = Predicate.isObject(data)
    ? Object.entries(data).flatMap(([key, value]) =>
      typeof value === "object" ? [] : [`${key} ${typeof value === "string" ? value : JSON.stringify(value)}`]
    )
    : []
  return Table.cut(Table.oneLine(`postwire: ${name} is done: ${facts.join(", ")}`), 80)
}

const describe = ({ detail, message, title, value }: Problem): string => {
  const what = detail ?? message ?? title ?? "an error without a description"
  return Table.oneLine(
    `postwire: ${what}${typeof value === "string" && !what.includes(value) ? ` (${value})` : ""}`
  )
}
