/**
 * `postwire doctor`: whether the command can work here, and what to do where it cannot. It reads, and changes nothing but tokens of
 * accounts that have expired, which it renews like every command.
 */
import * as NodeClient from "@postwire/node/NodeClient"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Accounts from "../connection/Accounts.ts"
import * as Connection from "../connection/Connection.ts"
import * as Variables from "../connection/Variables.ts"
import type { Check } from "../doctor/Check.ts"
import { examine } from "../doctor/Examination.ts"
import { journalCheck } from "../doctor/Journal.ts"
import { examineDocument } from "../doctor/OpenApi.ts"
import * as DriftReport from "../drift/DriftReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"

/** Something keeps the command from working. */
export class Unwell extends Schema.TaggedError<Unwell>()("Unwell", { names: Schema.Array(Schema.String) }) {
  override get message(): string {
    return `${this.names.length === 1 ? "One thing is" : `${this.names.length} things are`} wrong: ${
      this.names.join(", ")
    }`
  }
}

/** A document of the service says something else than the client. */
export class Drifted extends Schema.TaggedError<Drifted>()("Drifted", {
  path: Schema.String,
  differences: Schema.Int
}) {
  readonly advice = "A newer version of Postwire may know them."
  override get message(): string {
    return `${this.path}: ${Text.quantity(this.differences, "differences")} from what this version knows`
  }
}

/** `postwire doctor`. */
export const command = Command.make(
  "doctor",
  {
    json: Report.json,
    ...Connection.flags,
    openapi: Flag.String("openapi").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Compare with an OpenAPI document of the service instead (JSON); nothing is sent"),
      Flag.optional
    ),
    all: Flag.Boolean("all").pipe(
      Flag.withDescription("With --openapi: list accepted differences and operations that only the document has"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function*({ all, json, openapi, ...flags }) {
    if (Option.isSome(openapi)) {
      const report = yield* examineDocument(openapi.value)
      const differences = report.drifts.length
      const { wire } = NodeClient.fromEnvironment(Variables.all(yield* Variables.places(flags.credentials)))
      yield* Report.print(json, { ok: differences === 0, ...report }, () => [
        ...wire === undefined || wire === report.wire
          ? []
          : [`POSTWIRE_WIRE is ${wire}; the service of this document speaks ${report.wire}.`, ""],
        ...DriftReport.lines(report, all)
      ])
      return differences === 0 ? undefined : yield* new Drifted({ path: openapi.value, differences })
    }
    const { account, store, variables } = yield* Connection.speaker(flags)
    const places = yield* Variables.places(flags.credentials)
    // Without a home there are none, and none are needed where there are credentials.
    const opened = Option.getOrUndefined(yield* Effect.option(store))
    const examined = yield* examine(
      variables,
      process.versions.node,
      Option.getOrUndefined(flags.credentials),
      opened && { store: opened, chosen: account, variables: Accounts.credentialsIn(Variables.all(places)) }
    )
    const checks = [...examined, yield* journalCheck(variables)]
    const bad = checks.filter(({ status }) => status === "bad").map(({ name }) => name)
    yield* Report.print(json, { ok: bad.length === 0, checks }, () => checks.flatMap(told))
    if (bad.length > 0) return yield* new Unwell({ names: bad })
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Look at accounts, credentials, clock, budgets and the connection; say what to do. With --openapi: what the service's " +
      "document says otherwise."
  ),
  Command.withShortDescription("Find out why it does not work")
)

/** At most 80 columns. */
const told = ({ advice, finding, name, status }: Check): ReadonlyArray<string> => [
  ...Text.wrap(Text.oneLine(finding), 53).map((line, i) =>
    `${(i === 0 ? status : "").padEnd(9)}${(i === 0 ? name : "").padEnd(18)}${line}`
  ),
  ...Text.wrap(advice, 53).map((line) => `${" ".repeat(27)}${line}`)
]
