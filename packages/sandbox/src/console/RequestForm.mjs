// The form of a request: a field for each parameter of the operation.
import { box, make, select } from "./Elements.mjs"
import { operations, wires } from "./Operations.mjs"

/** @import { Parameter } from "../Description.ts" */

/** The operation that is chosen. */
export const operation = () => operations.find((described) => described.name === select("operation").value)

/** @returns {ReadonlyArray<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>} */
export const fields = () =>
  [...box("send-form").querySelectorAll("input, select, textarea")].flatMap((field) =>
    (field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement) &&
      field.name !== ""
      ? [field]
      : []
  )

/** Offers the operations that there are, and the wires that the sandbox speaks. */
export const offerOperations = () => {
  const { value } = select("operation")
  /** @type {ReadonlyArray<string>} */
  const names = operations.map((described) => described.name)
  select("operation").replaceChildren(...names.map((listed) => make("option", { value: listed }, listed)))
  for (const option of select("wire").options) option.hidden = option.disabled = !wires.includes(option.value)
  if (!wires.includes(select("wire").value)) select("wire").value = wires[0] ?? ""
  select("operation").value = names.includes(value) ? value : "searchRecentPosts"
  showForm()
}

const showForm = () => {
  const chosen = operation()
  if (chosen === undefined) return
  const { value } = select("wire")
  const wire = value === "x" || value === "x-2026-02" ? value : "neutral"
  const { credentials, effect, limits, pageToken, parameters, routes, rules, summary } = chosen
  select("credential").value = credentials.includes("OAuth 2.0 Application-Only") && effect === "read"
    ? select("credential").value
    : "user"
  box("about").replaceChildren(
    make("div", {}, `${summary} ${limits === undefined ? "" : `${limits}. `}Takes: ${credentials.join(", ")}.`),
    ...routes.map((route) => make("div", { class: "mono" }, route[wire])),
    ...rules.map((rule) => make("div", {}, `Rule: ${rule}.`))
  )
  const known = new Map(fields().map((field) => [field.name, field.value]))
  const isLast = (/** @type {Parameter} */ parameter) => parameter.name === pageToken
  const ordered = [...parameters].sort((a, b) => Number(isLast(a)) - Number(isLast(b)))
  const plain = ordered.filter(({ selector }) => !selector)
  const selectors = ordered.filter(({ selector }) => selector)
  box("parameters").replaceChildren(...plain.map((parameter) => fieldOf(parameter, wire)))
  box("selector-parameters").replaceChildren(...selectors.map((parameter) => fieldOf(parameter, wire)))
  box("selectors").hidden = selectors.length === 0
  // What was typed for another operation, or before the words were changed.
  for (const field of fields()) if (field.name !== pageToken) field.value = known.get(field.name) ?? field.value
}

/**
 * @param {Parameter} parameter
 * @param {"neutral" | "x" | "x-2026-02"} wire
 */
const fieldOf = (parameter, wire) => {
  const { default: otherwise, key, kind, name: field, open: isOpen, place, required, rule, values = [] } = parameter
  const id = `parameter-${field}`
  const common = { id, name: field, "aria-describedby": `${id}-rule`, "aria-required": required ? "true" : undefined }
  const isArray = kind === "list" && place === "body"
  const isLong = isArray || field === "text" || field === "query" || parameter.selector
  const choices = kind === "boolean" ? ["true", "false"] : kind === "choice" && !isOpen ? values : undefined
  const control = choices !== undefined
    ? make("select", common, make("option", { value: "" }, ""), ...choices.map((value) => make("option", {}, value)))
    : isArray || field === "text"
    ? make("textarea", { ...common, spellcheck: "false", rows: "2" })
    : make("input", {
      ...common,
      autocomplete: "off",
      spellcheck: "false",
      inputmode: kind === "integer" ? "numeric" : undefined
    })
  const hints = [
    `${key[wire] === field ? "" : `Sent as ${key[wire]}. `}${rule[0]?.toUpperCase()}${rule.slice(1)}.`,
    otherwise === undefined ? "" : `Default ${otherwise}.`,
    isArray ? "One per line, or with commas." : "",
    kind === "list" && values.length > 0 ? `Known: ${values.join(", ")}.` : ""
  ]
  return make(
    "div",
    { class: isLong ? "field long" : "field" },
    make("label", { for: id }, field, ...(required ? [make("span", { class: "needed" }, " (required)")] : [])),
    control,
    make("span", { class: "hint", id: `${id}-rule` }, hints.filter((hint) => hint !== "").join(" "))
  )
}

export const start = () => {
  for (const id of ["operation", "wire"]) select(id).addEventListener("change", showForm)
}
