/** `postwire query SQL`: queries a copy, which it cannot change. */
import * as Query from "@postwire/archive/look/Query"
import * as Csv from "@postwire/export/sinks/Csv"
import { stringify } from "csv-stringify/sync"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Target from "../archive/Target.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Table from "../terminal/Table.ts"
import { Terminal } from "../terminal/Terminal.ts"
import { lines } from "./Lines.ts"

export const command = Command.make(
  "query",
  {
    sql: Argument.String("sql").pipe(Argument.withDescription("One statement that reads, as SELECT or WITH")),
    ...Target.flags,
    json: Args.toggle("json", "Print a line of JSON for each row"),
    csv: Args.toggle("csv", "Print CSV"),
    guard: Args.toggle("guard", "In csv, put ' before texts that a spreadsheet would run as formulas")
  },
  Effect.fnUntraced(function*({ csv, guard, json, sql, ...flags }) {
    yield* ErrorReport.oneOf({ "--json": json, "--csv": csv })
    if (guard && !csv) return yield* ErrorReport.refuse("--guard is for csv", "Omit it, or pass --csv.")
    const { layer } = yield* Target.reader(flags)
    const rows = yield* Effect.provide(Query.run(sql), layer)
    if (csv) {
      const cast = { string: (text: string) => guard ? Csv.guarded(text) : text }
      return yield* Report.data(stringify([...rows], { header: true, record_delimiter: "windows", cast }).trimEnd())
    }
    if (json) {
      return yield* Effect.forEach(rows, (row) => Report.part(true, plainOf(row), []), { discard: true })
    }
    const { output } = yield* Terminal
    yield* Report.print(false, rows, () => Table.render({ data: rows }, output.columns), Report.withTitles)
  })
).pipe(Args.help("Query a copy with SQL. Nothing can be changed.", lines.query, {
  "postwire query 'SELECT username, count(*) AS posts FROM timeline GROUP BY 1 ORDER BY 2 DESC LIMIT 5'":
    "Who posts most",
  "postwire query --db own.sqlite --csv 'SELECT * FROM bookmarks'": "A view as CSV"
}))

/** Integers that JSON readers would round are texts, as ids are. */
const plainOf = (row: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? `${value}` : value]))
