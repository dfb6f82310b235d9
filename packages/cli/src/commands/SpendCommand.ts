/** `postwire spend`: shows what the commands of this user have spent, by day, operation and account. */
import * as Client from "@postwire/core/client/Client"
import * as Bill from "@postwire/core/spend/Bill"
import { dollarsOf, microsOf } from "@postwire/core/spend/Prices"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Command from "effect/cli/Command"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Connection from "../connection/Connection.ts"
import * as SpendAccount from "../connection/SpendAccount.ts"
import * as Args from "../terminal/Args.ts"
import * as Chart from "../terminal/Chart.ts"
import * as Report from "../terminal/Report.ts"
import { Terminal } from "../terminal/Terminal.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

export interface View {
  readonly service: string
  /** Both inclusive, UTC. */
  readonly from: string
  readonly to: string
  readonly entries: ReadonlyArray<Bill.Entry>
  /** In micro-dollars. */
  readonly limits: Bill.Limits
  /** The amounts that count towards today's and this month's limits, in micro-dollars. */
  readonly day: number
  readonly month: number
}

export const command = Command.make(
  "spend",
  {
    days: Args.int("days", 1, 3_660).pipe(Args.withDefault("The number of days, including today", 30)),
    json: Report.json,
    ...Connection.flags
  },
  Effect.fnUntraced(function*({ days, json, ...flags }) {
    const { variables } = yield* Connection.speaker(flags)
    const settings = NodeClient.fromEnvironment(variables)
    const { baseUrl } = yield* Client.check({ baseUrl: settings.baseUrl, wire: yield* NodeClient.wireOf(settings) })
    const limit = yield* SpendAccount.limitOf(variables)
    const to = Bill.dayOf(yield* Clock.currentTimeMillis)
    const from = Bill.dayOf(Date.parse(to) - (days - 1) * 86_400_000)
    const view = yield* Effect.gen(function*() {
      const store = yield* SpendStore.SpendStore
      const counted = yield* SpendStore.amountsOf(store, baseUrl, to)
      // The clock of the service or of another process may be ahead.
      const entries = yield* store.read(baseUrl, from, Bill.dayOf(Date.parse(to) + aheadMillis))
      const last = entries.at(-1)?.day ?? to
      return {
        service: baseUrl,
        from,
        to: last > to ? last : to,
        entries,
        limits: { perDay: amount(limit.perDay), perMonth: amount(limit.perMonth) },
        day: Bill.sumOf(counted.day),
        month: Bill.sumOf(counted.month)
      }
    }).pipe(Effect.provide(SpendAccount.layerStore(variables, limit)))
    const { output } = yield* Terminal
    yield* Report.print(json, plainOf(view), () => linesOf(view, Math.min(output.columns, 120)))
  }, Effect.scoped)
).pipe(
  Args.help("Show what was spent by day, operation and account, and the rest of your limits.", lines.spend, {
    "postwire spend": "The last 30 days",
    "postwire spend --days 365 --json": "A year, for programs"
  })
)

/** The days ahead that are shown, in milliseconds. */
const aheadMillis = 31 * 86_400_000

const amount = (dollars: number | undefined) => dollars === undefined ? undefined : microsOf(dollars)

/** The view as JSON, in dollars. */
const plainOf = ({ day, entries, from, limits, month, service, to }: View) => {
  const sum = (of: "spent" | "inDoubt" | "reserved") => entries.reduce((all, entry) => all + entry[of], 0)
  const limitOf = (limit: number | undefined, used: number) =>
    limit === undefined ? undefined : { dollars: dollarsOf(limit), dollarsUsed: dollarsOf(used) }
  return {
    service,
    from,
    to,
    ...amounts({ spent: sum("spent"), inDoubt: sum("inDoubt"), reserved: sum("reserved") }),
    limits: { perDay: limitOf(limits.perDay, day), perMonth: limitOf(limits.perMonth, month) },
    entries: entries.map(({ inDoubt, reserved, spent, ...entry }) => ({
      ...entry,
      ...amounts({ spent, inDoubt, reserved })
    }))
  }
}

const amounts = ({ inDoubt, reserved, spent }: Pick<Bill.Entry, "spent" | "inDoubt" | "reserved">) => ({
  dollars: dollarsOf(spent),
  dollarsInDoubt: dollarsOf(inDoubt),
  dollarsInFlight: dollarsOf(reserved)
})

/** The most operations and accounts listed. */
const shown = 12

/** The view as lines of at most `width` columns. */
export const linesOf = (view: View, width: number): ReadonlyArray<string> => {
  const { day, entries, from, limits, month, service, to } = view
  const sum = (of: "spent" | "inDoubt" | "reserved") => entries.reduce((all, entry) => all + entry[of], 0)
  const part = (title: string, by: "day" | "operation" | "account"): ReadonlyArray<string> => {
    const sums = new Map<string, number>()
    for (const entry of entries) sums.set(entry[by], (sums.get(entry[by]) ?? 0) + Bill.sumOf(entry))
    const all = [...sums].filter(([, micros]) => micros > 0)
    if (by !== "day") all.sort((a, b) => b[1] - a[1])
    const rest = by === "day" ? [] : all.splice(shown)
    const left = rest.reduce((sum, [, micros]) => sum + micros, 0)
    return [
      "",
      title,
      ...Chart.rows(
        [...all, ...rest.length === 0 ? [] : [[Text.quantity(rest.length, "others"), left] as const]]
          .map(([name, micros]) => ({ name, value: micros, text: Text.dollars(micros) })),
        width
      )
    ]
  }
  const used = (name: string, amount: number, limit: number | undefined) =>
    limit === undefined ? [] : [`${name}: ${Text.dollars(amount)} of ${Text.dollars(limit)} are used.`]
  return [
    ...Text.wrap(
      `${Text.dollars(sum("spent"))} at ${service}, ${from === to ? to : `${from} to ${to}`} (UTC).`,
      width,
      2
    ),
    ...sum("inDoubt") === 0
      ? []
      : Text.wrap(`${Text.dollars(sum("inDoubt"))} or less in addition are in doubt: no response came.`, width, 2),
    ...sum("reserved") === 0
      ? []
      : Text.wrap(`${Text.dollars(sum("reserved"))} or less in addition are in flight.`, width, 2),
    ...used("Today", day, limits.perDay),
    ...used("This month", month, limits.perMonth),
    ...entries.length === 0 ? [] : [
      ...part("By day", "day"),
      ...part("By operation", "operation"),
      ...part("By account", "account")
    ]
  ]
}
