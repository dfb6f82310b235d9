/** A process that reserves an amount in a file, and ends without settling it. */
import { Effect } from "effect"
import { SpendStore } from "../../../core/src/spend/SpendStore.ts"
import * as SqliteSpendStore from "../../src/SqliteSpendStore.ts"

const [, , path = "", bill = "", day = ""] = process.argv
const reservation = { day, operation: "getPosts", account: "ada", micros: 400_000 }
await SpendStore.use((store) => store.reserve(bill, "lost", reservation, {})).pipe(
  Effect.provide(SqliteSpendStore.layer({ path })),
  Effect.runPromise
)
