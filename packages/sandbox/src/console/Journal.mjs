// The live list of requests.
import { act, onClick } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { box, fill, input, isoTime, lookOf, make, pretty, select } from "./Elements.mjs"
import * as FaultWords from "./FaultWords.mjs"
import { look, watch } from "./Live.mjs"
import { endpoints, operations } from "./Operations.mjs"

/**
 * @import { Entry } from "../journal/Journal.ts"
 * @typedef {Omit<Entry, "body" | "headers">} Line
 */

/** The maximum number of lines on the page. */
const maxLines = 500

/** @type {Map<number, Line>} */
const shown = new Map()
/** The id of the latest entry. */
let last = 0

/** Starts with the oldest entry of the sandbox. */
export const restart = () => {
  box("operation-names").replaceChildren(
    ...[...operations.map(({ name }) => name), ...endpoints].map((name) => make("option", { value: name }))
  )
  shown.clear()
  last = 0
}

/** @param {{ readonly oldest: number; readonly lines: ReadonlyArray<Line> }} journal */
const add = ({ lines, oldest }) => {
  for (const id of shown.keys()) if (id < oldest) shown.delete(id)
  for (const line of lines) {
    shown.set(line.id, line)
    last = line.id
  }
  for (const id of shown.keys()) if (shown.size > maxLines) shown.delete(id)
  showLines()
}

const matches = (/** @type {Line} */ { fault, operation, status: code }) => {
  const part = input("journal-operation").value.trim().toLowerCase()
  const wanted = select("journal-status").value
  if (part !== "" && !(operation ?? "").toLowerCase().includes(part)) return false
  if (wanted === "none") return code === undefined
  return wanted === "fault" ? fault !== undefined : String(code ?? "").startsWith(wanted)
}

const showLines = () => {
  const found = [...shown.values()].filter(matches).reverse()
  box("journal-empty").hidden = found.length > 0
  box("journal-empty").textContent = shown.size === 0 ? "No requests yet." : "No request matches."
  fill(box("lines"), found, { key: ({ id }) => String(id), create: lineOf })
}

const lineOf = (/** @type {Line} */ { at, fault, id, method, operation, path, status: code }) => {
  const toggle = make(
    "button",
    { type: "button", "aria-expanded": "false" },
    make("span", {}, isoTime(at).slice(11, 19)),
    make("span", { class: `status ${lookOf(code)}` }, code === undefined ? "none" : String(code)),
    make("span", { class: "what mono" }, `${method} ${path}`),
    make("span", { class: "operation" }, operation ?? "no operation"),
    ...(fault === undefined ? [] : [make("span", { class: "fault" }, `Fault: ${FaultWords.ofBehaviour(fault)}`)])
  )
  const item = make("li", {}, toggle)
  toggle.addEventListener("click", () => {
    if (!collapse(item)) void act(toggle, () => expand(item, toggle, id))
  })
  item.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && collapse(item)) toggle.focus()
  })
  return item
}

/** @param {HTMLElement} item */
const collapse = (item) => {
  const details = item.querySelector("pre")
  details?.remove()
  item.querySelector("button")?.setAttribute("aria-expanded", "false")
  return details !== null
}

/**
 * @param {HTMLElement} item
 * @param {HTMLElement} toggle
 * @param {number} id
 */
const expand = async (item, toggle, id) => {
  const entry = await call("GET", `/journal/${id}`)
  collapse(item)
  item.append(make("pre", { tabindex: "0", role: "region", "aria-label": `Request ${id}` }, pretty(entry)))
  toggle.setAttribute("aria-expanded", "true")
  return ""
}

export const start = () => {
  watch(async () => {
    if (!input("follow").checked) return () => {}
    const journal = await call("GET", `/journal/lines?after=${last}`)
    return () => add(journal)
  })
  input("journal-operation").addEventListener("input", showLines)
  select("journal-status").addEventListener("change", showLines)
  input("follow").addEventListener("change", look)
  onClick("journal-clear", async () => {
    await call("DELETE", "/journal")
    await look()
    return "The journal is empty."
  })
}
