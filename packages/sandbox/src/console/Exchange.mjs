// Shows a request and its response, and links to the previous and next page.
import { onSubmit, reasonOf } from "./Actions.mjs"
import { call, Refused } from "./AdminCalls.mjs"
import { box, button, lookOf, make, pretty, select } from "./Elements.mjs"
import { formatted, headerLines, linked, parsed, send } from "./Exchanges.mjs"
import { look } from "./Live.mjs"
import { controlsOf, fileOf, operation, put, texts } from "./RequestForm.mjs"

/** @import { Request as Prepared } from "../admin/Description.ts" */

/** Longer bodies are truncated. */
const maxShownBytes = 1_000_000

/** @type {AbortController} */
let sending = new AbortController()

const submit = async () => {
  sending.abort()
  hideStop()
  const { signal } = sending = new AbortController()
  const prepared = await prepare()
  if (prepared === undefined) return
  showRequest(prepared)
  showAnswer("waiting", "", "", "")
  button("stop").hidden = operation()?.streams !== true
  const begun = performance.now()
  const { parts } = prepared
  const body = parts === undefined ? prepared.body : formOf(parts)
  const response = await send({ ...prepared, body }, select("credential").value, signal).catch(() => undefined)
  if (response === undefined) {
    if (!signal.aborted) showEnd("no response, the connection broke", "bad", "", "", {})
    return void look()
  }
  const headers = headerLines(Object.fromEntries(response.headers))
  const status = `${response.status} ${response.statusText}`
  const { end, text } = await read(
    response,
    (text) => void (button("stop").hidden || showAnswer(`${status}, receiving`, lookOf(response.status), headers, text))
  )
  if (signal.aborted) return
  const millis = Math.round(performance.now() - begun)
  showEnd(
    `${status}, ${millis} ms${end === "" ? "" : `, ${end}`}`,
    end === "broken" ? "bad" : lookOf(response.status),
    headers,
    formatted(text),
    end === "" ? parsed(text)?.meta ?? {} : {}
  )
  await look()
}

/** @type {(...answer: [...Parameters<typeof showAnswer>, meta: Parameters<typeof showPages>[0]]) => void} */
const showEnd = (outcome, look, headers, body, meta) => {
  showAnswer(outcome, look, headers, body)
  showPages(meta)
  hideStop()
}

const hideStop = () => {
  const isFocused = document.activeElement === button("stop")
  button("stop").hidden = true
  // A hidden element loses the focus.
  if (isFocused) button("send-button").focus()
}

/**
 * Builds the request of the form; undefined if the sandbox refuses it, and then the form shows why.
 * @returns {Promise<Prepared | undefined>}
 */
const prepare = async () => {
  box("send-error").textContent = ""
  box("response-status").textContent = ""
  for (const mistake of box("send-form").querySelectorAll(".mistake")) mistake.remove()
  for (const field of box("send-form").querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid")
  try {
    return await call("POST", "/request", {
      operation: operation()?.name,
      wire: select("wire").value,
      parameters: texts()
    })
  } catch (error) {
    showMistake(error)
    return undefined
  }
}

/** @param {unknown} error */
const showMistake = (error) => {
  box("send-error").textContent = reasonOf(error)
  const parameters = error instanceof Refused ? error.parameters : []
  const wrong = parameters.flatMap(controlsOf).filter(({ hidden, type }) => type !== "checkbox" && !hidden)
  for (const field of wrong) field.setAttribute("aria-invalid", "true")
  wrong[0]?.closest("details")?.setAttribute("open", "")
  // The focus may move far from the button, so the error is repeated here.
  wrong[0]?.after(make("span", { class: "error mistake" }, box("send-error").textContent))
  wrong[0]?.focus()
}

/** @param {NonNullable<Prepared["parts"]>} parts */
const formOf = (parts) => {
  const form = new FormData()
  for (const part of parts) form.append(part.name, "text" in part ? part.text : fileOf(part.file) ?? "")
  return form
}

/**
 * The text of a body, possibly incomplete or truncated; `show` receives what has arrived so far.
 * @param {Response} response
 * @param {(text: string) => void} show
 * @returns {Promise<{ readonly text: string; readonly end: "" | "broken" | "truncated after 1 MB" }>}
 */
const read = async (response, show) => {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ""
  let bytes = 0
  try {
    for (;;) {
      const part = await reader?.read()
      if (part === undefined || part.done) return { text, end: "" }
      bytes += part.value.length
      text += decoder.decode(part.value, { stream: true })
      show(text)
      if (bytes > maxShownBytes) {
        await reader?.cancel()
        return { text: text.slice(0, maxShownBytes), end: "truncated after 1 MB" }
      }
    }
  } catch {
    return { text, end: "broken" }
  }
}

/** @param {Prepared} prepared */
const showRequest = ({ body, method, parts, path }) => {
  box("exchange").hidden = false
  box("request").textContent = [
    `${method} ${location.origin}${path}`,
    "authorization: Bearer <redacted>",
    ...(body === undefined ? [] : ["content-type: application/json", "", pretty(JSON.parse(body))]),
    ...(parts === undefined ? [] : ["content-type: multipart/form-data", "", ...parts.map(showPart)])
  ].join("\n")
}

/** @param {NonNullable<Prepared["parts"]>[number]} part */
const showPart = (part) => {
  if ("text" in part) return `${part.name}: ${part.text}`
  const file = fileOf(part.file)
  return `${part.name}: <${file?.name}, ${file?.size.toLocaleString("en")} bytes>`
}

/** @param {string} outcome @param {string} look @param {string} headers @param {string} body */
const showAnswer = (outcome, look, headers, body) => {
  box("response-status").textContent = outcome
  box("response-status").className = look
  // A request can be sent from any field, far from the response.
  box("response-status").parentElement?.scrollIntoView({ block: "nearest" })
  box("response-headers").textContent = headers
  box("response-body").replaceChildren(...linked(body))
}

/** @param {{ readonly next_token?: unknown; readonly previous_token?: unknown }} meta */
const showPages = (meta) => {
  const pageToken = operation()?.pageToken
  const { activeElement } = document
  for (const [id, token] of [["next-page", meta?.next_token], ["previous-page", meta?.previous_token]]) {
    const element = button(String(id))
    const isThere = pageToken !== undefined && typeof token === "string"
    element.hidden = !isThere
    element.value = isThere ? token : ""
    // A hidden element loses the focus.
    if (!isThere && element === activeElement) button("send-button").focus()
  }
}

/** Clears the pages of the previous response. */
export const forgetPages = () => showPages({})

/** @param {HTMLButtonElement} page */
const turn = (page) => {
  const parameter = operation()?.pageToken
  if (parameter === undefined) return
  put(parameter, page.value)
  void submit()
}

const stop = () => {
  sending.abort()
  box("response-status").textContent += ", stopped"
  hideStop()
  void look()
}

export const start = () => {
  onSubmit("send-form", () => void submit())
  button("stop").addEventListener("click", stop)
  for (const id of ["operation", "wire"]) select(id).addEventListener("change", forgetPages)
  for (const id of ["next-page", "previous-page"]) button(id).addEventListener("click", () => turn(button(id)))
}
