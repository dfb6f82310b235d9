// A Singer target that knows nothing of Postwire: it makes a table for each stream, and prints the last state.
//   tap | node target.ts FILE
import { createInterface } from "node:readline"
import { DatabaseSync } from "node:sqlite"

interface Message {
  readonly type: string
  readonly stream: string
  readonly schema: { readonly properties: Readonly<Record<string, { readonly type: unknown }>> }
  readonly key_properties: ReadonlyArray<string>
  readonly record: Readonly<Record<string, string | number | boolean | null>>
  readonly value: object
}

const database = new DatabaseSync(process.argv[2] ?? "")
const columns = new Map<string, ReadonlyArray<string>>()
let state: object | undefined
let records = 0

database.exec("BEGIN")
for await (const line of createInterface(process.stdin)) {
  const message: Message = JSON.parse(line)
  const names = Object.keys(message.schema?.properties ?? {})
  switch (message.type) {
    case "SCHEMA":
      columns.set(message.stream, names)
      database.exec(
        `CREATE TABLE IF NOT EXISTS ${message.stream} (${names.join(", ")}, PRIMARY KEY (${
          message.key_properties.join(", ")
        }))`
      )
      break
    case "RECORD": {
      records++
      const row = (columns.get(message.stream) ?? []).map((name) => message.record[name] ?? null)
      database.prepare(`INSERT OR REPLACE INTO ${message.stream} VALUES (${row.map(() => "?").join(", ")})`).run(
        ...row.map((value) => typeof value === "boolean" ? Number(value) : value)
      )
      break
    }
    case "STATE":
      state = message.value
  }
}
database.exec("COMMIT")
console.log(JSON.stringify({ records, state }))
