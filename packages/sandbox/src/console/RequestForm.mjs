// The request form: a field for each parameter of the operation, with choices for known values.
import { at, box, make, options, select } from "./Elements.mjs"
import { operations, takesApps, takesUsers, wires } from "./Operations.mjs"
import { knownTo, listOf } from "./Suggestions.mjs"

/**
 * @import { Operation, Parameter } from "../admin/Description.ts"
 * @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control
 */

const form = () => at("send-form", HTMLFormElement)

/** The selected operation. */
export const operation = () => operations.find((described) => described.name === select("operation").value)

/** The controls of a parameter, those of known values first. @param {string} parameter @returns {ReadonlyArray<Control>} */
export const controlsOf = (parameter) =>
  [...form().elements].flatMap((control) =>
    (control instanceof HTMLInputElement || control instanceof HTMLSelectElement ||
        control instanceof HTMLTextAreaElement) && control.name === parameter
      ? [control]
      : []
  )

/** The text of each given parameter: selected and entered values, comma-separated; for a file its name. */
export const texts = () => {
  const given = new FormData(form())
  return Object.fromEntries([...new Set(given.keys())].flatMap((parameter) => {
    const values = given.getAll(parameter).map((value) => value instanceof File ? value.name : value)
    const text = values.filter((value) => value !== "").join(",")
    return text === "" ? [] : [[parameter, text]]
  }))
}

/** The file of a parameter. @param {string} parameter */
export const fileOf = (parameter) => {
  const [control] = controlsOf(parameter)
  return control instanceof HTMLInputElement ? control.files?.[0] : undefined
}

/** Sets a value: known parts are selected, the rest is entered. @param {string} parameter @param {string} text */
export const put = (parameter, text) => {
  const controls = controlsOf(parameter)
  const isList = controls.some(({ type }) => type === "checkbox")
  const values = new Set(isList ? text.split(",") : [text])
  for (const control of controls) {
    if (control instanceof HTMLInputElement && control.type === "checkbox") {
      control.checked = values.delete(control.value)
    } else if (control instanceof HTMLSelectElement) {
      const i = [...control.options].findIndex(({ value }) => values.delete(value))
      control.selectedIndex = i < 0 ? control.options.length - 1 : i
    } else if (control.type !== "file") control.value = [...values].join(",")
  }
}

/** Summarises collapsed choices, and shows the field for another value if that is selected. */
const showChosen = () => {
  const given = texts()
  for (const chosen of form().querySelectorAll("[data-chosen]")) {
    chosen.textContent = given[chosen.getAttribute("data-chosen") ?? ""]?.replaceAll(",", ", ") ?? ""
  }
  for (const other of form().querySelectorAll("input[data-other]")) {
    if (!(other instanceof HTMLInputElement)) continue
    const choice = controlsOf(other.name)[0]
    other.hidden = choice instanceof HTMLSelectElement && choice.selectedIndex < choice.options.length - 1
    if (other.hidden) other.value = ""
  }
}

/** Lists the operations and the wires of the sandbox. */
export const offerOperations = () => {
  const { value } = select("operation")
  /** @type {ReadonlyArray<string>} */
  const names = operations.map((described) => described.name)
  select("operation").replaceChildren(...options(names.toSorted()))
  for (const option of select("wire").options) option.hidden = option.disabled = !wires.includes(option.value)
  if (!wires.includes(select("wire").value)) select("wire").value = wires[0] ?? ""
  select("operation").value = names.includes(value) ? value : "searchRecentPosts"
  showForm()
}

/** Further rules are collapsed. */
const mostRules = 3

const ruleOf = (/** @type {string} */ rule) => make("div", {}, `Rule: ${rule}.`)

const showForm = () => {
  const chosen = operation()
  if (chosen === undefined) return
  const { value } = select("wire")
  const wire = value === "x" || value === "x-2026-02" ? value : "neutral"
  const { credentials, effect, limits, pageToken, parameters, routes, rules, summary } = chosen
  if (!takesUsers(chosen)) select("credential").value = "app"
  else if (!takesApps(chosen) || effect !== "read") select("credential").value = "user"
  box("about").replaceChildren(
    make("div", {}, `${summary} ${limits === undefined ? "" : `${limits}. `}Takes: ${credentials.join(", ")}.`),
    ...routes.map((route) => make("div", { class: "mono" }, route[wire])),
    ...rules.length > mostRules
      ? [make("details", {}, make("summary", {}, `${rules.length} rules`), ...rules.map(ruleOf))]
      : rules.map(ruleOf)
  )
  const before = texts()
  const isLast = (/** @type {Parameter} */ parameter) => parameter.name === pageToken
  const ordered = [...parameters].sort((a, b) => Number(isLast(a)) - Number(isLast(b)))
  const plain = ordered.filter(({ selector }) => !selector)
  const selectors = ordered.filter(({ selector }) => selector)
  box("parameters").replaceChildren(...plain.map((parameter) => fieldOf(parameter, wire, routes)))
  box("selectors").replaceChildren(...selectors.map((parameter) => fieldOf(parameter, wire, routes)))
  // Keeps values of the previous operation or wire.
  for (const [parameter, text] of Object.entries(before)) if (parameter !== pageToken) put(parameter, text)
  showChosen()
}

/** @param {Parameter} parameter @param {"neutral" | "x" | "x-2026-02"} wire @param {Operation["routes"]} routes */
const fieldOf = (parameter, wire, routes) => {
  const { default: otherwise, key, kind, name: field, place, required, rule, values = [] } = parameter
  const id = `parameter-${field}`
  const isArray = kind === "list" && place === "body"
  const isChosen = kind === "list" && values.length > 0
  const hints = [
    key[wire] === field ? "" : `Sent as ${key[wire]}.`,
    isChosen || kind === "boolean" || kind === "bytes" || kind === "choice" || rule === "must be text"
      ? ""
      : `${rule[0]?.toUpperCase()}${rule.slice(1)}.`,
    otherwise === undefined ? "" : `Default ${otherwise}.`,
    isArray ? "One per line, or comma-separated." : ""
  ].filter((hint) => hint !== "").join(" ")
  const hint = make("span", { class: "hint", id: `${id}-rule` }, hints)
  if (isChosen) return choicesOf(parameter, id, hint)
  const isLong = isArray || field === "text" || field === "query"
  const common = { id, name: field, "aria-describedby": `${id}-rule`, "aria-required": required ? "true" : undefined }
  const known = kind === "boolean" ? ["true", "false"] : kind === "choice" ? values : undefined
  const controls = known !== undefined
    ? choiceOf(parameter, known, common)
    : [
      isArray || field === "text"
        ? make("textarea", { ...common, spellcheck: "false", rows: "2" })
        : kind === "bytes"
        ? make("input", { ...common, type: "file" })
        : make("input", {
          ...common,
          autocomplete: "off",
          spellcheck: "false",
          list: listOf(knownTo(parameter, routes)),
          inputmode: kind === "integer" ? "numeric" : undefined
        })
    ]
  return make(
    "div",
    { class: isLong ? "field long" : "field" },
    make("label", { for: id }, field, ...(required ? [make("span", { class: "needed" }, " (required)")] : [])),
    ...controls,
    hint
  )
}

/**
 * A choice of one known value, or another one if allowed.
 * @param {Parameter} parameter
 * @param {ReadonlyArray<string>} known
 * @param {Readonly<Record<string, string | undefined>>} common
 */
const choiceOf = ({ name: field, open: isOpen }, known, common) => [
  make(
    "select",
    common,
    make("option", { value: "" }, ""),
    ...known.map((value) => make("option", {}, value)),
    ...(isOpen ? [make("option", { value: "" }, "another value")] : [])
  ),
  ...(isOpen
    ? [make("input", {
      name: field,
      "data-other": true,
      "aria-label": `Another value of ${field}`,
      autocomplete: "off",
      spellcheck: "false",
      hidden: true
    })]
    : [])
]

/**
 * A choice of several known values, and others if allowed; fields and expansions are collapsed.
 * @param {Parameter} parameter
 * @param {string} id
 * @param {HTMLElement} hint
 */
const choicesOf = ({ name: field, open: isOpen, selector: isFolded, values = [] }, id, hint) => {
  const boxes = values.map((value) => make("input", { type: "checkbox", name: field, value }))
  const all = make("button", { type: "button", "aria-label": `All or none of ${field}` }, "All or none")
  all.addEventListener("click", () => {
    const isAll = boxes.every(({ checked }) => checked)
    for (const box of boxes) box.checked = !isAll
    showChosen()
  })
  const choices = make(
    "div",
    { class: "choices", role: "group", "aria-label": field },
    ...boxes.map((box) => make("label", { class: "inline" }, box, box.value)),
    ...(isFolded ? [all] : []),
    ...(isOpen
      ? [make(
        "label",
        { class: "inline" },
        "others",
        make("input", { id, name: field, autocomplete: "off", spellcheck: "false", placeholder: "comma-separated" })
      )]
      : [])
  )
  return isFolded
    ? make(
      "details",
      { class: "field long" },
      make("summary", {}, field, make("span", { class: "hint", "data-chosen": field })),
      hint,
      choices
    )
    : make("div", { class: "field long" }, make("span", { class: "label" }, field), choices, hint)
}

/**
 * Shows the form with a call in it.
 * @param {{ readonly operation: Operation; readonly wire: string; readonly parameters: Readonly<Record<string, unknown>> }} call
 * @param {"app" | "user"} holder
 */
export const open = ({ operation: { name }, parameters, wire }, holder) => {
  form().reset()
  select("operation").value = name
  select("wire").value = wire
  select("operation").dispatchEvent(new Event("change"))
  select("credential").value = holder
  for (const [parameter, value] of Object.entries(parameters)) {
    put(parameter, typeof value === "object" && !Array.isArray(value) ? JSON.stringify(value) : `${value}`)
  }
  showChosen()
  location.hash = "#send"
  select("operation").focus()
}

export const start = () => {
  for (const id of ["operation", "wire"]) select(id).addEventListener("change", showForm)
  for (const event of ["input", "change"]) form().addEventListener(event, showChosen)
  form().addEventListener("keydown", (pressed) => {
    // In multi-line fields, Enter alone starts a new line.
    if (pressed.key === "Enter" && (pressed.ctrlKey || pressed.metaKey)) form().requestSubmit()
  })
}
