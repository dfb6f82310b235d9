// A request of the journal beside the list: request, response, code, and a button that sends it again.
import { act } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import * as Code from "./Code.mjs"
import { box, lookOf, make, pretty, utc } from "./Elements.mjs"
import { fact, formatted, headersOf, linked, send, text } from "./Exchanges.mjs"
import * as FaultWords from "./FaultWords.mjs"
import { look } from "./Live.mjs"
import { open } from "./RequestForm.mjs"
import { hashOf, onShow, replace } from "./Views.mjs"

/**
 * @import { Entry } from "../journal/Journal.ts"
 * @import { Response as Kept } from "../journal/Responses.ts"
 * @typedef {{ readonly caller?: { readonly form: string; readonly userId?: string; readonly username?: string } }} Called
 * @typedef {Omit<Entry, "caller"> & Called & { readonly response?: Kept }} Shown
 */

/** The caller in a word. @param {Called} called */
export const callerOf = ({ caller }) =>
  caller === undefined ? "nobody" : caller.userId === undefined ? "the app" : `@${caller.username ?? caller.userId}`

let asked = 0

/** True if the body was recorded as it was sent. @param {Shown} shown */
const isWhole = ({ body, headers }) =>
  (headers["content-type"] ?? "application/json").startsWith("application/json") &&
  !(typeof body === "string" && body.startsWith("<"))

/** @param {Shown} entry */
const sendAgain = async (entry) => {
  const { body, caller, id, method, path } = entry
  const response = await send(
    { method, path: Code.targetOf(entry), body: body === undefined ? undefined : JSON.stringify(body) },
    caller && Code.holderOf(entry)
  ).catch(() => undefined)
  // The rest of a stream is not needed.
  await response?.body?.cancel()
  /** @type {{ readonly lines: ReadonlyArray<Shown> }} */
  const { lines } = await call("GET", `/journal/lines?after=${id}`)
  await look()
  replace("requests", String(lines.findLast((line) => line.method === method && line.path === path)?.id ?? id))
  return ""
}

/** @param {Shown} entry @param {HTMLElement} shown */
const codeOf = (entry, shown) =>
  Object.entries(Code.languages).map(([language, write]) => {
    const copy = make("button", { type: "button", "aria-label": `Copy as ${language}` }, language)
    copy.addEventListener("click", () =>
      void act(copy, async () => {
        const code = write(entry)
        shown.hidden = false
        shown.textContent = code
        // Browsers refuse it at addresses other than loopback.
        if (await navigator.clipboard?.writeText(code).then(() => true, () => false)) return `Copied as ${language}.`
        getSelection()?.selectAllChildren(shown)
        return "The browser does not let the page copy: the code is selected instead."
      }))
    return copy
  })

/** @param {Shown} entry */
const actionsOf = (entry) => {
  const code = text("Code", [], "entry-code")
  code.hidden = true
  const again = make("button", { type: "button", id: "send-again" }, "Send again")
  again.addEventListener("click", () => void act(again, () => sendAgain(entry)))
  const edit = make("button", { type: "button" }, "Edit")
  edit.addEventListener("click", () => {
    const found = Code.callOf(entry)
    if (found !== undefined) open(found, Code.holderOf(entry))
  })
  if (!isWhole(entry)) {
    return [
      make("p", { class: "hint" }, "A part of the body is not kept, so this request cannot be sent again or copied.")
    ]
  }
  return [
    make(
      "div",
      { class: "row" },
      again,
      ...(Code.callOf(entry) === undefined ? [] : [edit]),
      make("span", { class: "copies", role: "group", "aria-label": "Copy as" }, "Copy as", ...codeOf(entry, code))
    ),
    make("p", { class: "outcome", role: "status" }),
    code
  ]
}

/** @param {Shown} entry */
const factsOf = (entry) => {
  const { at, caller, fault, millis, operation, problem, status } = entry
  return make(
    "dl",
    { class: "facts" },
    fact(
      "Status",
      make("span", { class: `status ${lookOf(status)}` }, status === undefined ? "no response" : String(status)),
      ...(problem === undefined ? [] : [` ${problem}`])
    ),
    fact("Time", make("time", {}, utc(at))),
    fact("Duration", `${millis} ms`),
    fact("Operation", operation ?? "none"),
    fact(
      "Caller",
      ...(caller?.userId === undefined
        ? [callerOf(entry)]
        : [make("a", { href: hashOf("data", "id", caller.userId) }, callerOf(entry))]),
      caller === undefined ? "" : `, ${caller.form}`
    ),
    ...(fault === undefined ? [] : [fact("Fault", FaultWords.ofBehaviour(fault))])
  )
}

/** @param {Shown} entry */
const parts = (entry) => {
  const { body, headers, id, method, path, query, response, status } = entry
  const parameters = Object.entries(query)
  return [
    make(
      "div",
      { class: "heading" },
      make("h3", { id: "entry-title", class: "mono", tabindex: "-1" }, `${method} ${path}`),
      make("a", { href: "#requests", class: "button", id: "entry-close", "aria-label": "Close the request" }, "Close")
    ),
    factsOf(entry),
    ...actionsOf(entry),
    make("h4", {}, "Request"),
    ...(parameters.length === 0
      ? []
      : [make("dl", { class: "facts query" }, ...parameters.map(([name, value]) => fact(name, ...linked(value))))]),
    headersOf("Request headers", headers),
    ...(body === undefined ? [] : [text("Request body", linked(typeof body === "string" ? body : pretty(body)))]),
    make("h4", {}, "Response"),
    ...(response === undefined
      ? [make("p", { class: "hint" }, status === undefined ? "The connection broke." : "It is no longer kept.")]
      : [
        headersOf("Response headers", response.headers),
        response.body === ""
          ? make("p", { class: "hint" }, "The body is empty.")
          : text("Response body", linked(formatted(response.body)), `entry-${id}`)
      ])
  ]
}

/** @param {string | undefined} id */
const show = async (id) => {
  const question = ++asked
  const panel = box("entry")
  box("log").classList.toggle("opened", id !== undefined)
  panel.hidden = id === undefined
  if (id === undefined) return panel.replaceChildren()
  const entry = await call("GET", `/journal/${encodeURIComponent(id)}`).catch(() => undefined)
  if (question !== asked) return
  panel.replaceChildren(
    ...(entry === undefined
      ? [
        make("p", { class: "hint" }, "This request is no longer kept. "),
        make("a", { href: "#requests" }, "All requests")
      ]
      : parts(entry))
  )
  panel.scrollTo(0, 0)
  // On narrow screens the entry takes the place of the list, which has the focus.
  if (box("lines").parentElement?.offsetParent === null) panel.querySelector("h3")?.focus()
}

export const start = () => {
  onShow(({ steps: [id], view }) => void (view === "requests" && show(id)))
}
