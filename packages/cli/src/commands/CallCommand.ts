/** `postwire call OPERATION`: calls any operation once, and prints JSON or a table. */
import * as CallErrors from "@postwire/core/client/CallErrors"
import { Client } from "@postwire/core/client/Client"
import type { Definition } from "@postwire/core/schema/Definition"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Connection from "../connection/Connection.ts"
import * as FlagValues from "../flags/FlagValues.ts"
import * as OperationFlags from "../flags/OperationFlags.ts"
import * as UndeclaredFlags from "../flags/UndeclaredFlags.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as OutputFile from "../terminal/OutputFile.ts"
import * as Report from "../terminal/Report.ts"
import * as StandardOutput from "../terminal/StandardOutput.ts"
import * as Table from "../terminal/Table.ts"
import { Terminal } from "../terminal/Terminal.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

export const outputFlags = {
  json: Args.toggle("json", "Print JSON, as without a terminal"),
  table: Args.toggle("table", "Print a table, as on a terminal"),
  raw: Args.toggle("raw", "Print the unchanged body, with the service's names"),
  wire: Connection.wire,
  ...Connection.flags
}

const extras = {
  extraQuery: UndeclaredFlags.query("extra-query"),
  extraBody: UndeclaredFlags.body("extra-body", "More members of the body")
}

const file = {
  out: Args.text("out", "The file to write (default: standard output, unless it is a terminal)", "FILE"),
  force: OutputFile.force,
  wire: Connection.wire,
  ...Connection.flags
}

/** The command of an operation that returns a file. */
const download = (definition: Definition) =>
  OperationFlags.named(
    definition,
    Command.make(
      definition.name,
      { own: file, parameters: OperationFlags.make(definition) },
      Effect.fnUntraced(function*({ own: { force, out, wire, ...flags }, parameters }) {
        const { output } = yield* Terminal
        if (Option.isNone(out) && output.isTerminal) {
          return yield* ErrorReport.refuse(
            "--out is required on a terminal: the response is a file.",
            "Name the file to write, or redirect standard output."
          )
        }
        const given = yield* FlagValues.read(definition, OperationFlags.parametersOf(parameters))
        const received = Effect.gen(function*() {
          const client = yield* Client
          return yield* client.read(definition, yield* client.request(definition, given))
        })
        const { data } = yield* received.pipe(Connection.provide(flags, wire))
        if (!(data instanceof Uint8Array)) return
        if (Option.isNone(out)) return yield* StandardOutput.write(data)
        yield* OutputFile.write(out.value, data, force)
        yield* Report.say(`${Text.count(data.length)} bytes are in ${out.value}.`)
      })
    )
  )

/** `postwire call`, with a command for each operation. */
export const command = Command.make("call").pipe(
  Command.withSubcommands(
    OperationFlags.answering.map((definition) =>
      definition.result._tag === "Bytes" ? download(definition) : OperationFlags.named(
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
    )
  ),
  Args.help("Call any operation once. Lists return one page; export fetches all pages.", lines.call, {
    "postwire call getUser --username ada --user-fields public_metrics": "One user",
    "postwire call searchRecentPosts --query effect --raw": "A page of posts, as the service sent it",
    "postwire call createPost --text 'Hello'": "A new post",
    "postwire call uploadMedia --media photo.jpg --media-category tweet_image": "A file, uploaded in one request"
  })
)

type Flags = Command.Command.Config.Infer<typeof outputFlags>

/** Sends a call and prints the response. */
export const answer = Effect.fnUntraced(
  function*<E>(definition: CallErrors.CallInfo, sent: Effect.Effect<HttpClientResponse, E, Client>, flags: Flags) {
    yield* ErrorReport.oneOf({ "--json": flags.json, "--table": flags.table, "--raw": flags.raw })
    const { output } = yield* Terminal
    const response = yield* call(definition, sent, flags).pipe(
      Connection.provide(flags, flags.wire)
    )
    const { body, data, errors } = response
    if (!flags.raw) {
      const token = definition.paging?.token.replaceAll("_", "-")
      const isTable = flags.table || (!flags.json && output.isTerminal)
      yield* Report.print(
        !isTable,
        body,
        () => Table.render(body, output.columns, token),
        Array.isArray(body.data) ? Report.withTitles : undefined
      )
    }
    if (definition.effect !== "read" && data !== undefined) yield* Report.say(describe(definition, data))
    if (errors.length > 0) {
      yield* Report.sayProblems(errors)
      yield* Report.sayMoreProblems(errors.length)
      return yield* new ErrorReport.PartialErrors({
        operation: definition.name,
        errors: errors.length,
        advice: "They are listed above; the rest of the response is on standard output."
      })
    }
  }
)

/** Sends the call. A raw body is printed before it is decoded, which may fail. */
const call = Effect.fnUntraced(
  function*<E>(definition: CallErrors.CallInfo, sent: Effect.Effect<HttpClientResponse, E, Client>, { raw }: Flags) {
    const client = yield* Client
    const response = yield* sent
    if (raw) yield* Report.data(yield* CallErrors.textOf(definition, response))
    return yield* client.read(definition, response)
  }
)

/** The result of a write on one line. */
const describe = ({ name }: CallErrors.CallInfo, data: unknown): string => {
  const facts = Predicate.isObject(data)
    ? Object.entries(data).flatMap(([key, value]) =>
      typeof value === "object" ? [] : [`${key} ${typeof value === "string" ? value : JSON.stringify(value)}`]
    )
    : []
  return Text.cut(Text.oneLine(`${name} is done: ${facts.join(", ")}`), 80 - "postwire: ".length)
}
