// Extra columns of grants: their age, and a button that revokes them.
import { act } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { at, box, make, span } from "./Elements.mjs"
import { watch } from "./Live.mjs"

/** @import { Item } from "../store/Overview.ts" */

/** The columns beside those of a grant. */
export const columns = ["action", "age"]

/** The cells of these columns. `refresh` reloads the table. @param {Item} grant @param {() => Promise<void>} refresh */
export const cells = ({ alive, app, id, issued_at, user }, refresh) => {
  const age = make("td", { "data-column": "age", "data-since": `${issued_at}` })
  showAge(age, Date.parse(at("now", HTMLTimeElement).dateTime))
  if (alive !== true) return [make("td", { "data-column": "action" }), age]
  const label = `Revoke access of ${app} to @${user}`
  const revoke = make("button", { type: "button", class: "danger", "aria-label": label }, "Revoke")
  revoke.addEventListener("click", () =>
    void act(revoke, async () => {
      await call("DELETE", `/grants/${id}`)
      await refresh()
      // Moves the focus, since the button is gone.
      if (document.activeElement === document.body) box("state-table").focus()
      return `Access of ${app} to @${user} is revoked.`
    }))
  return [make("td", { "data-column": "action" }, revoke), age]
}

/** @param {Element} cell @param {number} now */
const showAge = (cell, now) => {
  const since = Date.parse(cell.getAttribute("data-since") ?? "")
  cell.textContent = Number.isNaN(since) || Number.isNaN(now) ? "" : span(now - since)
}

export const start = () =>
  watch("users", async () => (now) => {
    for (const cell of box("state-rows").querySelectorAll("[data-since]")) showAge(cell, now)
  })
