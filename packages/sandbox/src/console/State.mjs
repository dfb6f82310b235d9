// The contents of the service as tables.
import { act, onClick, onSubmit } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { box, button, input, make } from "./Elements.mjs"
import * as Grants from "./Grants.mjs"

/** @import { Part } from "../store/Overview.ts" */

const collections =
  "users posts follows blocks mutes bookmark_folders lists spaces conversations messages media uploads grants"
    .split(" ")

const rowsPerPage = 50

let collection = "users"
/** The start of each page up to the current one. @type {Array<string>} */
let afters = [""]
let beyond = ""
let asked = 0

/** Reloads the first page and the counts. */
export const restart = async () => {
  afters = [""]
  await refresh()
}

/** Reloads the current page and the counts. */
export const refresh = async () => {
  await Promise.all([showCounts(), showPage()])
}

const showCounts = async () => {
  const { counts } = await call("GET", "/health")
  for (const element of box("collections").children) {
    const counted = element.getAttribute("data-collection") ?? ""
    element.textContent = `${counted.replaceAll("_", " ")} ${Number(counts[counted]).toLocaleString("en")}`
  }
}

const showPage = async () => {
  const user = input("state-user").value.trim().replace(/^@/, "")
  const query = new URLSearchParams({ limit: String(rowsPerPage) })
  const after = afters.at(-1) ?? ""
  if (after !== "") query.set("after", after)
  if (user !== "") query.set("user", user)
  const question = ++asked
  /** @type {Part} */
  const { items, next = "" } = await call("GET", `/state/${collection}?${query}`)
  // Another collection was selected in the meantime.
  if (question !== asked) return ""
  beyond = next
  showTable(items)
  for (const element of box("collections").children) {
    element.setAttribute("aria-pressed", String(element.getAttribute("data-collection") === collection))
  }
  const { activeElement } = document
  button("newer").disabled = afters.length === 1
  button("older").disabled = beyond === ""
  // A disabled element loses the focus.
  if (activeElement instanceof HTMLButtonElement && activeElement.disabled) {
    const table = box("state-rows").closest(".scroll")
    if (table instanceof HTMLElement) table.focus()
  }
  box("state-note").textContent = items.length === 0 ? "Nothing." : `Page ${afters.length}`
  return ""
}

/** @param {Part["items"]} items */
const showTable = (items) => {
  const columns = Object.keys(items[0] ?? {})
  const isGrants = collection === "grants" && items.length > 0
  box("state-head").replaceChildren(
    make(
      "tr",
      {},
      ...[...isGrants ? Grants.columns : [], ...columns].map((column) =>
        make("th", { scope: "col" }, column.replaceAll("_", " "))
      )
    )
  )
  box("state-rows").replaceChildren(
    ...items.map((item) =>
      make(
        "tr",
        {},
        ...isGrants ? Grants.cells(item, refresh) : [],
        ...columns.map((column) => cellOf(column, item[column] ?? ""))
      )
    )
  )
  box("state-rows").closest(".scroll")?.scrollTo(0, 0)
}

const longColumns = ["text", "description", "title", "participants", "scopes", "alt_text"]

/**
 * @param {string} column
 * @param {unknown} value
 */
const cellOf = (column, value) =>
  make(
    "td",
    { class: longColumns.includes(column) ? "text" : undefined, "data-column": column.replaceAll("_", " ") },
    value === false ? "" : value === true ? "yes" : `${value}`
  )

/**
 * @param {HTMLElement} asking
 * @param {string} chosen
 */
const choose = (asking, chosen) => {
  collection = chosen
  afters = [""]
  void act(asking, showPage)
}

export const start = () => {
  Grants.start()
  box("collections").replaceChildren(...collections.map((listed) => {
    const element = make("button", { type: "button", "data-collection": listed, "aria-pressed": "false" })
    element.addEventListener("click", () => choose(element, listed))
    return element
  }))
  onSubmit("state-form", () =>
    void act(box("state-form"), async () => {
      await restart()
      return ""
    }))
  onClick("older", () => {
    afters.push(beyond)
    return showPage()
  })
  onClick("newer", () => {
    afters.pop()
    return showPage()
  })
}
