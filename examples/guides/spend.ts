import * as Spend from "@postwire/core/spend/Spend"
import { createClient } from "@postwire/node"
import * as SqliteSpendStore from "@postwire/node/SqliteSpendStore"
import { Layer } from "effect"

// #region limit
await using client = createClient({
  spendLimit: { perDay: 10, perMonth: 100 } // dollars
})
const { cost } = await client.getUser({ username: "ada" })
console.log(cost?.dollars, "dollars for", cost?.charged, "resources")
// #endregion

export const shared = () =>
  // #region store
  createClient({
    spendLimit: { perDay: 10 },
    spendStore: "./spend.db",
    onSpend: ({ dollars, operation }) => console.log(operation, dollars)
  })
// #endregion

export const cheaper = () =>
  // #region prices
  createClient({ prices: { since: "2026-12-01", read: { post: 0.004 } } })
// #endregion

export const bounded = () =>
  // #region unknown
  createClient({ spendLimit: { perDay: 10 }, prices: { unknown: 0.02 } })
// #endregion

// #region layer
export const layerSpending = Spend.layer({ spendLimit: { perDay: 10 } }).pipe(
  Layer.provide(SqliteSpendStore.layer({ path: "./spend.db" }))
)
// #endregion
