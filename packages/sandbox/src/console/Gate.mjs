// The gate of the page: it prompts for the admin token.
import { forgetToken, keepToken } from "./AdminCalls.mjs"
import { box, input } from "./Elements.mjs"

export const isLocked = () => box("main").hidden

/** @param {string} reason */
export const lock = (reason) => {
  forgetToken()
  for (const id of ["main", "views", "time"]) box(id).hidden = true
  box("gate").hidden = false
  box("connection").textContent = ""
  for (const outcome of document.querySelectorAll(".outcome")) outcome.textContent = ""
  box("gate-error").textContent = reason
  input("token").toggleAttribute("aria-invalid", false)
  if (reason !== "") input("token").setAttribute("aria-invalid", "true")
  input("token").focus()
}

export const unlock = () => {
  const isTyped = box("gate").contains(document.activeElement)
  box("gate").hidden = true
  for (const id of ["main", "views", "time"]) box(id).hidden = false
  // The focus moves from the hidden gate to the start of the page.
  if (isTyped) box("title").focus()
}

/** Reads the entered token. */
export const takeTyped = () => {
  keepToken(input("token").value.trim())
  input("token").value = ""
  box("gate-error").textContent = ""
}

/** Removes the token from the URL, so that it is neither in the history nor on screen. */
export const takeFromAddress = () => {
  const token = new URLSearchParams(location.hash.slice(1)).get("token")
  if (token === null) return false
  keepToken(token)
  history.replaceState(null, "", location.pathname)
  return true
}
