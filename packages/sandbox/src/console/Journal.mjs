// The live list of requests, newest first.
import { onClick } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { box, fill, input, isoTime, lookOf, make, options, select } from "./Elements.mjs"
import { callerOf } from "./Entry.mjs"
import * as FaultWords from "./FaultWords.mjs"
import * as Lines from "./Lines.mjs"
import { look, watch } from "./Live.mjs"
import { names } from "./Operations.mjs"
import { hashOf, replace } from "./Views.mjs"

/**
 * @import { Shown } from "./Entry.mjs"
 * @typedef {Omit<Shown, "body" | "headers">} Line
 */

/** The maximum number of lines on the page. */
const maxLines = 500

/** @type {Map<number, Line>} */
const shown = new Map()
/** The id of the latest entry. */
let last = 0

/** Starts with the oldest entry of the sandbox. */
export const restart = () => {
  box("operation-names").replaceChildren(...options(names()))
  shown.clear()
  last = 0
}

/** Reads the latest requests and returns a function that shows them. */
const read = async () => {
  const journal = await call("GET", `/journal/lines?after=${last}&limit=${maxLines}`)
  return () => add(journal)
}

/** @param {{ readonly oldest: number; readonly lines: ReadonlyArray<Line> }} journal */
const add = ({ lines, oldest }) => {
  for (const id of shown.keys()) if (id < oldest) shown.delete(id)
  for (const line of lines) {
    shown.set(line.id, line)
    last = line.id
  }
  for (const id of shown.keys()) if (shown.size > maxLines) shown.delete(id)
  const callers = [...new Set([...shown.values()].map(callerOf))]
  const { value } = select("journal-caller")
  if (callers.length + 1 !== select("journal-caller").options.length) {
    select("journal-caller").replaceChildren(make("option", { value: "" }, "all"), ...options(callers))
    select("journal-caller").value = callers.includes(value) ? value : ""
  }
  showLines()
}

const matches = (/** @type {Line} */ line) => {
  const { fault, method, operation, path, problem, query, status: code } = line
  const part = input("journal-operation").value.trim().toLowerCase()
  const sought = input("journal-search").value.trim().toLowerCase()
  const wanted = select("journal-status").value
  const caller = select("journal-caller").value
  const texts = [path, ...Object.entries(query).flat(), operation, problem, callerOf(line), String(code)]
  return (operation ?? "").toLowerCase().includes(part) &&
    texts.some((text) => text?.toLowerCase().includes(sought)) &&
    ["", method].includes(select("journal-method").value) &&
    ["", callerOf(line)].includes(caller) &&
    (wanted === "none"
      ? code === undefined
      : wanted === "fault"
      ? fault !== undefined
      : String(code ?? "").startsWith(wanted))
}

const showLines = () => {
  const found = [...shown.values()].filter(matches).reverse()
  box("journal-empty").hidden = found.length > 0
  box("journal-empty").textContent = shown.size === 0 ? "No requests yet." : "No request matches."
  fill(box("lines"), found, { key: ({ id }) => String(id), create: lineOf })
  mark()
}

let mark = () => {}

const lineOf = (/** @type {Line} */ line) => {
  const { at, fault, id, method, millis, operation, path, status: code } = line
  return make(
    "li",
    {},
    make(
      "a",
      { href: hashOf("requests", String(id)) },
      make("span", { class: `status ${lookOf(code)}` }, code === undefined ? "none" : String(code)),
      make("span", { class: "what mono" }, make("strong", {}, method), ` ${path}`),
      " ",
      make("span", { class: "operation" }, operation ?? "no operation"),
      make("span", { class: "caller" }, callerOf(line)),
      make("time", { datetime: isoTime(at), title: isoTime(at) }, isoTime(at).slice(11, 19)),
      make("span", { class: "millis" }, `${millis} ms`),
      ...(fault === undefined ? [] : [make("span", { class: "fault" }, `Fault: ${FaultWords.ofBehaviour(fault)}`)])
    )
  )
}

export const start = () => {
  watch("requests", async () => input("follow").checked || last === 0 ? read() : () => {})
  for (const id of ["journal-operation", "journal-search"]) input(id).addEventListener("input", showLines)
  for (const id of ["journal-status", "journal-method", "journal-caller"]) {
    select(id).addEventListener("change", showLines)
  }
  input("follow").addEventListener("change", look)
  mark = Lines.navigate("requests", "lines")
  onClick("journal-clear", async () => {
    await call("DELETE", "/journal")
    replace("requests")
    const show = await read()
    show()
    return "The journal is empty."
  })
}
