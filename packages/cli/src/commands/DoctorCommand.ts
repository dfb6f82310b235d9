/**
 * `postwire doctor`: checks whether commands can work here, and gives advice. It only reads, except that it refreshes expired
 * tokens of accounts like every command.
 */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Accounts from "../connection/Accounts.ts"
import * as Connection from "../connection/Connection.ts"
import * as Variables from "../connection/Variables.ts"
import type { Check } from "../doctor/Check.ts"
import { examine } from "../doctor/Examination.ts"
import { journalCheck } from "../doctor/Journal.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"

export const command = Command.make(
  "doctor",
  {
    json: Report.json,
    ...Connection.flags
  },
  Effect.fnUntraced(function*({ json, ...flags }) {
    const { account, store, variables } = yield* Connection.speaker(flags)
    const places = yield* Variables.places(flags.credentials)
    // Without a home folder there are no accounts, and credentials need none.
    const opened = Option.getOrUndefined(yield* Effect.option(store))
    const examined = yield* examine(
      variables,
      process.versions.node,
      Option.getOrUndefined(flags.credentials),
      opened && { store: opened, chosen: account, variables: Accounts.credentialsIn(Variables.all(places)) }
    )
    const checks = [...examined, yield* journalCheck(variables)]
    const bad = checks.filter(({ status }) => status === "bad").map(({ name }) => name)
    yield* Report.print(json, { ok: bad.length === 0, checks }, () => checks.flatMap(linesOf))
    if (bad.length > 0) {
      return yield* ErrorReport.refuse(
        `${bad.length === 1 ? "One thing is" : `${bad.length} things are`} wrong: ${bad.join(", ")}`
      )
    }
  }, Effect.scoped)
).pipe(
  Args.help(
    "Check accounts, credentials, the clock, rate limits and the connection, and give advice.",
    "Find out why commands do not work"
  )
)

/** Lines of at most 80 columns. */
const linesOf = ({ advice, finding, name, status }: Check): ReadonlyArray<string> => [
  ...Text.wrap(Text.oneLine(finding), 53).map((line, i) =>
    `${(i === 0 ? status : "").padEnd(9)}${(i === 0 ? name : "").padEnd(18)}${line}`
  ),
  ...Text.wrap(advice, 53).map((line) => `${" ".repeat(27)}${line}`)
]
