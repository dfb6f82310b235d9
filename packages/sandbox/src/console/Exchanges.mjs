// Shows requests and responses: headers, and bodies whose ids are links.
import { make, pretty, utc } from "./Elements.mjs"
import { tokenOf } from "./Operations.mjs"
import { hashOf } from "./Views.mjs"

/** Longer texts have no links. */
const maxLinked = 300_000

/** @param {string} text */
const nodeOf = (text, /** @type {boolean} */ isKey) => {
  if (isKey) return make("span", { class: "key" }, text)
  const [, id] = /^"(\d{6,19})"$/.exec(text) ?? []
  if (id !== undefined) return make("a", { href: hashOf("data", "id", id) }, text)
  return text
}

/** A JSON text with links and marked keys. @param {string} text @returns {ReadonlyArray<Node | string>} */
export const linked = (text) => {
  if (text.length > maxLinked) return [text]
  /** @type {Array<Node | string>} */
  const nodes = []
  let end = 0
  for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"/g)) {
    const [string] = match
    nodes.push(text.slice(end, match.index))
    end = match.index + string.length
    nodes.push(nodeOf(string, text[end] === ":"))
  }
  return [...nodes, text.slice(end)]
}

/** The value of a JSON text; undefined for other texts. @param {string} text */
export const parsed = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A text as formatted JSON, or unchanged. @param {string} text */
export const formatted = (text) => pretty(parsed(text)) ?? text

/**
 * Sends a request to the service, with a token of the holder if there is one.
 * @param {{ readonly method: string; readonly path: string; readonly body: string | FormData | undefined }} request
 * @param {string | undefined} holder
 */
export const send = ({ body, method, path }, holder, /** @type {AbortSignal | null} */ signal = null) =>
  fetch(path, {
    method,
    headers: {
      ...(holder === undefined ? {} : { authorization: `Bearer ${tokenOf(holder)}` }),
      ...(typeof body === "string" ? { "content-type": "application/json" } : {})
    },
    body: body ?? null,
    cache: "no-store",
    signal
  })

/** Headers as lines; times in seconds are spelt out. @param {Readonly<Record<string, string>>} headers */
export const headerLines = (headers) =>
  Object.entries(headers).map(([name, value]) =>
    `${name}: ${value}${name.endsWith("-reset") && /^\d{9,11}$/.test(value) ? ` (${utc(Number(value) * 1_000)})` : ""}`
  ).join("\n")

/** A name and its value. @param {string} name @param {...(Node | string)} content */
export const fact = (name, ...content) => make("div", {}, make("dt", {}, name), make("dd", {}, ...content))

/** A text that the keyboard can scroll. @param {string} label @param {ReadonlyArray<Node | string>} content */
export const text = (label, content, id = "") =>
  make("pre", { tabindex: "0", role: "region", "aria-label": label, id: id === "" ? undefined : id }, ...content)

/** Headers that open. @param {string} label @param {Readonly<Record<string, string>>} headers */
export const headersOf = (label, headers) =>
  make(
    "details",
    {},
    make("summary", {}, `${Object.keys(headers).length} headers`),
    text(label, [headerLines(headers)])
  )
