// A list of links that open entries beside it.
import { box } from "./Elements.mjs"
import { hashOf, isShown, onShow, place, replace } from "./Views.mjs"

/**
 * Lets the keys move through a list: an open entry is replaced by the next one, and Escape closes it. Returns a function that marks
 * the open entry, for when the list has changed.
 * @param {string} view @param {string} id The id of the list.
 */
export const navigate = (view, id) => {
  const list = box(id)
  const links = () => [...list.querySelectorAll("a")]
  /** The hash of the entry that was opened last. */
  let reached = ""

  /** The tab key reaches the open entry, or else the one that was opened last, or the first one. */
  const mark = () => {
    const { steps: [open = ""] } = place()
    const all = links()
    const current = all.find(({ hash }) => hash === hashOf(view, open))
    const first = current ?? all.find(({ hash }) => hash === reached) ?? all[0]
    for (const link of all) {
      link.tabIndex = link === first ? 0 : -1
      if (link === current) link.setAttribute("aria-current", "true")
      else link.removeAttribute("aria-current")
    }
    if (current !== undefined && current.hash !== reached) current.scrollIntoView({ block: "nearest" })
    reached = current?.hash ?? reached
  }

  list.addEventListener("keydown", (pressed) => {
    const all = links()
    const i = all.findIndex((link) => link === document.activeElement)
    const next = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: all.length - 1 }[pressed.key]
    const link = next === undefined || i < 0 ? undefined : all[next]
    if (link === undefined) return
    pressed.preventDefault()
    link.focus()
    if (place().steps[0] !== undefined) replace(view, link.hash.split("/")[1] ?? "")
  })
  onShow(({ steps: [open], view: shown }) => {
    if (shown !== view) return
    mark()
    // A closed entry loses the focus.
    if (open === undefined && reached !== "" && document.activeElement === document.body) {
      links().find((link) => link.tabIndex === 0)?.focus()
    }
  })
  document.addEventListener("keydown", ({ key, target }) => {
    if (key !== "Escape" || !isShown(view) || place().steps[0] === undefined) return
    if (target instanceof Element && target.closest("details[open]")) return
    replace(view)
  })
  return mark
}
