/** `postwire call OPERATION`: one call of any operation, as JSON or as a table. */
import * as CallErrors from "@postwire/core/CallErrors"
import { Client } from "@postwire/core/Client"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Connection from "./Connection.ts"
import * as ErrorReport from "./ErrorReport.ts"
import * as FlagValues from "./FlagValues.ts"
import * as OperationFlags from "./OperationFlags.ts"
import * as Report from "./Report.ts"
import * as Table from "./Table.ts"
import { Terminal } from "./Terminal.ts"
import * as Text from "./Text.ts"
import * as UndeclaredFlags from "./UndeclaredFlags.ts"

/** Flags of the answer and of who asks. */
export const outputFlags = {
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
  ...Connection.flags
}

const extras = {
  extraQuery: UndeclaredFlags.query("extra-query"),
  extraBody: UndeclaredFlags.body("extra-body", "More members of the body")
}

/** `postwire call`, with a command for each operation. */
export const command = Command.make("call").pipe(
  Command.withDescription("Call any operation once. Lists give one page; export gets them whole."),
  Command.withShortDescription("Call any operation once"),
  Command.withSubcommands(OperationFlags.all.map((definition) =>
    OperationFlags.named(
      definition,
      Command.make(
        definition.name,
        { extras, own: outputFlags, parameters: OperationFlags.make(definition) },
        ({ extras, own, parameters }) =>
          Effect.gen(function*() {
            const options = yield* UndeclaredFlags.extrasOf(extras)
            const given = yield* FlagValues.read(definition, OperationFlags.parametersOf(parameters))
            const sent = Effect.flatMap(Client, (client) => client.request(definition, given, options))
            return yield* answer(definition, sent, own)
          })
      )
    )
  )),
  Command.withExamples([
    { command: "postwire call getUser --username ada --user-fields public_metrics", description: "One user" },
    {
      command: "postwire call searchRecentPosts --query effect --raw",
      description: "A page of posts, as the service sent it"
    },
    { command: "postwire call createPost --text 'Hello'", description: "A new post, at once" },
    {
      command: "postwire call uploadMedia --media photo.jpg --media-category tweet_image",
      description: "A file, uploaded in one request"
    }
  ])
)

type Flags = Command.Command.Config.Infer<typeof outputFlags>

/** Sends a call and prints what comes. */
export const answer = Effect.fnUntraced(
  function*<E>(definition: CallErrors.Told, sent: Effect.Effect<HttpClientResponse, E, Client>, flags: Flags) {
    yield* ErrorReport.oneOf({ "--json": flags.json, "--table": flags.table, "--raw": flags.raw })
    const { output } = yield* Terminal
    const response = yield* call(definition, sent, flags).pipe(
      Connection.provide(flags, flags.wire)
    )
    const { body, data, errors } = response
    if (!flags.raw) {
      const token = definition.paging?.token.replaceAll("_", "-")
      const isTable = flags.table || (!flags.json && output.isTerminal)
      yield* Report.print(!isTable, body, () => Table.render(body, output.columns, token))
    }
    if (definition.effect !== "read" && data !== undefined) yield* Report.say(told(definition, data))
    if (errors.length > 0) {
      yield* Report.sayProblems(errors)
      yield* Report.sayMoreProblems(errors.length)
      return yield* new ErrorReport.PartialErrors({
        operation: definition.name,
        errors: errors.length,
        advice: "They are above; what it could answer is on standard output."
      })
    }
  }
)

/** Makes the call. A raw body is printed before it is read, for one may want to see what cannot be read. */
const call = Effect.fnUntraced(
  function*<E>(definition: CallErrors.Told, sent: Effect.Effect<HttpClientResponse, E, Client>, { raw }: Flags) {
    const client = yield* Client
    const response = yield* sent
    if (raw) yield* Report.data(yield* CallErrors.textOf(definition, response))
    return yield* client.read(definition, response)
  }
)

/** What a write has done, on one line. */
const told = ({ name }: CallErrors.Told, data: unknown): string => {
  const facts = Predicate.isObject(data)
    ? Object.entries(data).flatMap(([key, value]) =>
      typeof value === "object" ? [] : [`${key} ${typeof value === "string" ? value : JSON.stringify(value)}`]
    )
    : []
  return Text.cut(Text.oneLine(`${name} is done: ${facts.join(", ")}`), 80 - "postwire: ".length)
}
