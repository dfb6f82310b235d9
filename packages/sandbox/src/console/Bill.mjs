// The charges of apps in this billing cycle, by operation, as bars; and the cap, if there is one.
import { onClick } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { box, fill, make } from "./Elements.mjs"
import { look, watch } from "./Live.mjs"

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
    create: ({ name, operation }) =>
      make(
        "li",
        { class: "bar" },
        make("span", { class: "name" }, apps.length > 1 ? `${operation}, ${name}` : operation),
        make("span", { class: "left" }),
        make("progress", { "aria-label": operation })
      ),
    update: (element, { amount }) => {
      const [, left, progress] = element.children
      if (left !== undefined) left.textContent = dollars(amount)
      if (progress instanceof HTMLProgressElement) {
        progress.max = most
        progress.value = amount
      }
    }
  })
}

export const start = () => {
  watch("limits", async () => {
    const statement = await call("GET", "/bill")
    return () => show(statement)
  })
  onClick("bill-clear", async () => {
    await call("DELETE", "/bill")
    await look()
    return "All charges are cleared."
  })
}
