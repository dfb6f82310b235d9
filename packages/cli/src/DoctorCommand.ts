/** `postwire doctor`: whether the command can work here, and what to do where it cannot. It reads; it changes nothing. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Connection from "./Connection.ts"
import type { Check } from "./doctor/Check.ts"
import { examine } from "./doctor/Examination.ts"
import * as Report from "./Report.ts"
import * as Text from "./Text.ts"

/** Something keeps the command from working. */
export class Unwell extends Schema.TaggedError<Unwell>()("Unwell", { names: Schema.Array(Schema.String) }) {
  override get message(): string {
    return `${this.names.length === 1 ? "One thing is" : `${this.names.length} things are`} wrong: ${
      this.names.join(", ")
    }`
  }
}

/** `postwire doctor`. */
export const command = Command.make(
  "doctor",
  {
    json: Report.json,
    credentials: Connection.flag
  },
  Effect.fnUntraced(function*({ credentials, json }) {
    const checks = yield* examine(
      yield* Connection.variables(credentials),
      process.versions.node,
      Option.getOrUndefined(credentials)
    )
    const bad = checks.filter(({ status }) => status === "bad").map(({ name }) => name)
    yield* Report.print(json, { ok: bad.length === 0, checks }, () => checks.flatMap(told))
    if (bad.length > 0) return yield* new Unwell({ names: bad })
  })
).pipe(
  Command.withDescription("Look at credentials, clock, budgets and the connection; say what to do."),
  Command.withShortDescription("Find out why it does not work")
)

/** At most 80 columns. */
const told = ({ advice, finding, name, status }: Check): ReadonlyArray<string> => [
  ...Text.wrap(Text.oneLine(finding), 53).map((line, i) =>
    `${(i === 0 ? status : "").padEnd(9)}${(i === 0 ? name : "").padEnd(18)}${line}`
  ),
  ...Text.wrap(advice, 53).map((line) => `${" ".repeat(27)}${line}`)
]
