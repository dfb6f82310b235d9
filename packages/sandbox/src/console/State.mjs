// The contents of the service as tables; the place in the hash is `#data/posts/ada`, or `#data/id/123` for one item.
import { act, onClick, onSubmit } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { box, button, input, make, utc } from "./Elements.mjs"
import * as Grants from "./Grants.mjs"
import { hashOf, isShown, onShow } from "./Views.mjs"

/** @import { Item, Part } from "../store/Overview.ts" */

const collectionsOf = {
  users: ["users", "grants"],
  data: [
    "posts",
    "follows",
    "blocks",
    "mutes",
    "bookmark_folders",
    "lists",
    "spaces",
    "conversations",
    "messages",
    "media",
    "uploads"
  ]
}

const rowsPerPage = 50

/** @type {"users" | "data"} */
let view = "data"
let collection = "posts"
/** The id of the only item to show. */
let only = ""
/** The start of each page up to the current one. @type {Array<string>} */
let afters = [""]
let beyond = ""
let asked = 0

/** Reloads the current page and the counts, if they are shown. */
export const refresh = async () => {
  if (isShown("users") || isShown("data")) await Promise.all([showCounts(), showPage()])
}

const showCounts = async () => {
  const { counts } = await call("GET", "/health")
  for (const element of box("collections").children) {
    const counted = element.getAttribute("data-collection") ?? ""
    element.textContent = `${counted.replaceAll("_", " ")} ${Number(counts[counted]).toLocaleString("en")}`
  }
}

/** @returns {Promise<Part & { readonly collection?: string }>} */
const read = () => {
  if (only !== "") return call("GET", `/items/${encodeURIComponent(only)}`)
  const user = input("state-user").value.trim().replace(/^@/, "")
  const query = new URLSearchParams({ limit: String(rowsPerPage) })
  const after = afters.at(-1) ?? ""
  if (after !== "") query.set("after", after)
  if (user !== "") query.set("user", user)
  return call("GET", `/state/${collection}?${query}`)
}

const showPage = async () => {
  const question = ++asked
  const { collection: found = collection, items, next = "" } = await read()
  // Another collection was selected in the meantime.
  if (question !== asked) return ""
  beyond = next
  collection = found
  showTable(items)
  for (const element of box("collections").children) {
    element.setAttribute("aria-pressed", String(element.getAttribute("data-collection") === collection))
  }
  const { activeElement } = document
  button("newer").disabled = afters.length === 1
  button("older").disabled = beyond === ""
  // A disabled element loses the focus.
  if (activeElement instanceof HTMLButtonElement && activeElement.disabled) box("state-table").focus()
  box("state-note").textContent = items.length === 0
    ? only === "" ? "Nothing." : `Nothing has the id ${only}.`
    : only === ""
    ? `Page ${afters.length}`
    : `The one with the id ${only}`
  return ""
}

/** @param {Part["items"]} items */
const showTable = (items) => {
  // Columns without a value would only take space.
  const columns = Object.keys(items[0] ?? {}).filter((column) => items.some((item) => textOf(item[column]) !== ""))
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
        ...columns.map((column) => cellOf(column, item[column]))
      )
    )
  )
  box("state-table").scrollTo(0, 0)
}

const longColumns = ["text", "description", "title", "participants", "scopes", "alt_text"]
const handles = ["author", "username", "owner", "user", "source", "target", "creator", "sender"]

/** @param {Item[string] | undefined} value */
const textOf = (value) =>
  value === undefined || value === null || value === false ? "" : value === true ? "yes" : `${value}`

/** @param {string} column @param {Item[string] | undefined} value */
const cellOf = (column, value) => {
  const text = textOf(value)
  const time = /_(?:at|event|start)$/.test(column) ? Date.parse(text) : NaN
  const isId = /^\d{6,19}$/.test(text) && /(?:id|_of|_to)$/.test(column)
  const content = !Number.isNaN(time)
    ? make("time", { datetime: text }, utc(time).replace(" UTC", ""))
    : isId
    ? make("a", { href: hashOf("data", "id", text) }, text)
    : handles.includes(column) && text !== ""
    ? make("a", { href: hashOf("users", "users", text) }, text)
    : text
  return make(
    "td",
    { class: longColumns.includes(column) ? "text" : undefined, "data-column": column.replaceAll("_", " ") },
    content
  )
}

/** Goes to a collection, of the user in the field. @param {string} chosen */
const goTo = (chosen) => {
  const user = input("state-user").value.trim().replace(/^@/, "")
  const hash = hashOf(view, chosen, ...(user === "" ? [] : [user]))
  if (hash === location.hash) void act(box("state-form"), showFirst)
  else location.hash = hash
}

const showFirst = async () => {
  afters = [""]
  await refresh()
  return ""
}

const offerCollections = () =>
  box("collections").replaceChildren(...collectionsOf[view].map((listed) => {
    const element = make("button", { type: "button", "data-collection": listed, "aria-pressed": "false" }, listed)
    element.addEventListener("click", () => goTo(listed))
    return element
  }))

export const start = () => {
  Grants.start()
  onSubmit("state-form", () => goTo(collection))
  onShow(({ steps: [chosen = "", name = ""], view: shown }) => {
    if (shown !== "users" && shown !== "data") return
    if (view !== shown || box("collections").childElementCount === 0) {
      view = shown
      offerCollections()
    }
    box("state-title").textContent = view === "users" ? "Users and grants" : "Data"
    only = chosen === "id" ? name : ""
    collection = collectionsOf[view].find((listed) => listed === chosen) ?? collectionsOf[view][0] ?? ""
    input("state-user").value = only === "" ? name : ""
    void act(box("state-form"), showFirst)
  })
  onClick("older", () => {
    afters.push(beyond)
    return showPage()
  })
  onClick("newer", () => {
    afters.pop()
    return showPage()
  })
}
