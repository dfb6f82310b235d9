// The charges of apps in this billing cycle, by operation, as bars; and the cap, if there is one.
import { call } from "./AdminCalls.mjs"
import { bar, box, fill, setBar } from "./Elements.mjs"
import { onCall, watch } from "./Live.mjs"

/** @import { Account, Statement } from "../limits/Bill.ts" */

/** @param {number} amount */
const dollars = (amount) => `$${amount.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 3 })}`

/**
 * The charges of an app in the cycle, most expensive operation first.
 * @param {Account} account
 * @param {Statement["cycle"]} cycle
 */
const operationsOf = ({ app, lines, name }, { from, to }) => {
  /** @type {Map<string, number>} */
  const byOperation = new Map()
  for (const { day, dollars, operation } of lines) {
    if (day >= from && day < to) byOperation.set(operation, (byOperation.get(operation) ?? 0) + dollars)
  }
  return [...byOperation]
    .filter(([, amount]) => amount > 0)
    .map(([operation, amount]) => ({ app, name, operation, amount }))
    .sort((a, b) => b.amount - a.amount)
}

/** @param {Statement} statement */
const show = ({ apps, cap, cycle }) => {
  const sum = apps.reduce((all, account) => all + account.dollars, 0)
  box("bill-sum").textContent = `${dollars(sum)} since ${cycle.from}${
    cap === undefined ? "" : `; each app may spend ${dollars(cap)} until ${cycle.to}`
  }.`
  const operations = apps.flatMap((account) => operationsOf(account, cycle))
  const most = operations[0] === undefined ? 1 : Math.max(...operations.map(({ amount }) => amount))
  fill(box("bill"), operations, {
    key: ({ app, operation }) => `${app} ${operation}`,
    create: ({ name, operation }) => bar(operation, apps.length > 1 ? `${operation}, ${name}` : operation),
    update: (element, { amount }) => setBar(element, { text: dollars(amount), value: amount, maximum: most })
  })
}

export const start = () => {
  watch("limits", async () => {
    const statement = await call("GET", "/bill")
    return () => show(statement)
  })
  onCall("bill-clear", "All charges are cleared.", "DELETE", "/bill")
}
