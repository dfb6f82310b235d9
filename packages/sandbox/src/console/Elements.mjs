// Finds, creates and lists elements. Data from the service are untrusted: they become text, never markup.

/** The element with an id. @template {HTMLElement} E @param {string} id @param {new () => E} type @returns {E} */
export const at = (id, type) => {
  const found = document.getElementById(id)
  if (!(found instanceof type)) throw new Error(`#${id} is missing`)
  return found
}

/** @param {string} id */
export const button = (id) => at(id, HTMLButtonElement)
/** @param {string} id */
export const input = (id) => at(id, HTMLInputElement)
/** @param {string} id */
export const select = (id) => at(id, HTMLSelectElement)
/** @param {string} id */
export const box = (id) => at(id, HTMLElement)

/**
 * Creates an element with attributes and children; strings become text.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Readonly<Record<string, string | boolean | undefined>>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag)
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(attribute, "")
    else if (typeof value === "string") element.setAttribute(attribute, value)
  }
  element.append(...children)
  return element
}

/**
 * Fills a list. Elements with the same key are reused, which preserves focus and scroll position.
 * @template A
 * @param {HTMLElement} list
 * @param {ReadonlyArray<A>} items
 * @param {{
 *   readonly key: (item: A) => string
 *   readonly create: (item: A) => HTMLElement
 *   readonly update?: (element: HTMLElement, item: A) => void
 * }} by
 */
export const fill = (list, items, { create, key, update }) => {
  const known = new Map([...list.children].map((child) => [child.getAttribute("data-key") ?? "", child]))
  items.forEach((item, i) => {
    const itemKey = key(item)
    let element = known.get(itemKey)
    known.delete(itemKey)
    if (!(element instanceof HTMLElement)) {
      element = create(item)
      element.setAttribute("data-key", itemKey)
    }
    if (list.children[i] !== element) list.insertBefore(element, list.children[i] ?? null)
    if (element instanceof HTMLElement) update?.(element, item)
  })
  for (const gone of known.values()) gone.remove()
}

/** The options of a choice. @param {ReadonlyArray<string>} values */
export const options = (values) => values.map((value) => make("option", { value }, value))

/** An item with a name, a text and a bar, which `setBar` fills. @param {string} label @param {string} name */
export const bar = (label, name = label) =>
  make(
    "li",
    { class: "bar" },
    make("span", { class: "name" }, name),
    make("span", { class: "left" }),
    make("progress", { "aria-label": label })
  )

/** @param {HTMLElement} element @param {{ readonly value: number; readonly maximum: number; readonly text: string }} content */
export const setBar = (element, { maximum, text, value }, isLow = false) => {
  const [, left, progress] = element.children
  if (left !== undefined) left.textContent = text
  if (!(progress instanceof HTMLProgressElement)) return
  progress.max = maximum
  progress.value = value
  progress.classList.toggle("low", isLow)
}

/** @param {unknown} value */
export const pretty = (value) => JSON.stringify(value, undefined, 2)

/** @param {number} millis */
export const isoTime = (millis) => new Date(millis).toISOString()

/** A time for people. @param {number} millis */
export const utc = (millis) => `${isoTime(millis).slice(0, 19).replace("T", " ")} UTC`

/** A duration in words. @param {number} millis */
export const span = (millis) => {
  const seconds = Math.max(0, Math.floor(millis / 1_000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${Math.floor(seconds / 60) % 60} min`
  return `${Math.floor(seconds / 86_400)} d ${Math.floor(seconds / 3_600) % 24} h`
}

/** The class of a status; empty if there was no response. @param {number | undefined} code */
export const lookOf = (code) => code === undefined || code >= 500 ? "bad" : code >= 400 ? "warn" : "good"
