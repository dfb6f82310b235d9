// Shows requests and responses: headers, and bodies whose ids are links.
import { isoTime, make } from "./Elements.mjs"
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

/**
 * A JSON text with links and marked keys.
 * @param {string} text
 * @returns {ReadonlyArray<Node | string>}
 */
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

/** A text as formatted JSON, or unchanged. @param {string} text */
export const formatted = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

/** Headers as lines; times in seconds are spelt out. @param {Readonly<Record<string, string>>} headers */
export const headerLines = (headers) =>
  Object.entries(headers).map(([name, value]) =>
    `${name}: ${value}${name.endsWith("-reset") && /^\d{9,11}$/.test(value) ? ` (${utc(Number(value) * 1_000)})` : ""}`
  ).join("\n")

/** A time for people. @param {number} millis */
export const utc = (millis) => `${isoTime(millis).slice(0, 19).replace("T", " ")} UTC`
