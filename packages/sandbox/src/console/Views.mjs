// Shows the view that the hash of the URL names, such as `#data/posts/ada`.
import { box } from "./Elements.mjs"

const links = () => [...document.querySelectorAll("nav a")].filter((link) => link instanceof HTMLAnchorElement)

/** @typedef {{ readonly view: string; readonly steps: ReadonlyArray<string> }} Place */

/** @returns {Place} */
export const place = () => {
  const [view = "", ...steps] = location.hash.slice(1).split("/").map(decodeURIComponent)
  return links().some(({ hash }) => hash === `#${view}`) ? { view, steps } : { view: "requests", steps: [] }
}

/** @param {string} view */
export const isShown = (view) => !box("main").hidden && place().view === view

/** @type {Array<(place: Place) => void>} */
const followers = []

/** Calls a function whenever another view, or another part of one, is shown. @param {(place: Place) => void} follow */
export const onShow = (follow) => void followers.push(follow)

export const show = () => {
  const now = place()
  for (const section of document.querySelectorAll("[data-view]")) {
    if (section instanceof HTMLElement) section.hidden = !section.dataset["view"]?.split(" ").includes(now.view)
  }
  for (const link of links()) {
    if (link.hash === `#${now.view}`) link.setAttribute("aria-current", "page")
    else link.removeAttribute("aria-current")
  }
  for (const follow of followers) follow(now)
}

/** The hash of a place. @param {...string} steps */
export const hashOf = (...steps) => `#${steps.map(encodeURIComponent).join("/")}`

/** Replaces the place without an entry in the history. @param {...string} steps */
export const replace = (...steps) => {
  history.replaceState(null, "", hashOf(...steps))
  show()
}
