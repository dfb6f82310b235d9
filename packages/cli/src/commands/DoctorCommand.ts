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
import * as Palette from "../terminal/Palette.ts"
import * as Report from "../terminal/Report.ts"
import type { Screen } from "../terminal/Terminal.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

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
    yield* Report.print(json, { ok: bad.length === 0, checks }, () => checks.flatMap(linesOf), paint)
    if (bad.length > 0) {
      return yield* ErrorReport.refuse(
        `${bad.length === 1 ? "One thing is" : `${bad.length} things are`} wrong: ${bad.join(", ")}`
      )
    }
  }, Effect.scoped)
).pipe(
  Args.help(
    "Check accounts, credentials, the clock, rate limits and the connection, and give advice.",
    lines.doctor
  )
)

const roles = { ok: "good", info: "faint", warning: "warning", bad: "bad" } as const

/** Paints the statuses; a symbol takes the place of the spaces after them. */
const paint = (text: string, screen: Screen): string =>
  text.replace(
    /^(ok|info|warning|bad) +/gm,
    (padded, status: Check["status"]) =>
      Text.pad(
        Palette.mark(screen, roles[status], status === "warning" && screen.hasColors === true ? "warn" : status),
        padded.length
      )
  )

/** Lines of at most 80 columns. */
const linesOf = ({ advice, finding, name, status }: Check): ReadonlyArray<string> => [
  ...Text.wrap(Text.oneLine(finding), 53).map((line, i) =>
    `${(i === 0 ? status : "").padEnd(9)}${(i === 0 ? name : "").padEnd(18)}${line}`
  ),
  ...Text.wrap(advice, 53).map((line) => `${" ".repeat(27)}${line}`)
]
