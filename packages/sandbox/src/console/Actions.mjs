// Runs user actions and reports their results next to the control.
import { Refused } from "./AdminCalls.mjs"
import { box } from "./Elements.mjs"
import { lock } from "./Gate.mjs"

/** The message of a failure. A rejected token leads back to the gate, which shows its own message. @param {unknown} error */
export const reasonOf = (error) => {
  if (!(error instanceof Refused)) return "The sandbox does not respond."
  if (error.status !== 401) return error.message
  lock("The sandbox rejected this admin token.")
  return ""
}

/**
 * Runs an action and shows its result in the nearest part of the page that has a place for it. Ignores repeated clicks while it runs.
 * @param {HTMLElement} asking
 * @param {() => Promise<string>} work
 */
export const act = async (asking, work) => {
  if (asking.ariaBusy === "true") return
  const outcome = asking.closest(":has(> .outcome)")?.querySelector(":scope > .outcome")
  /** @param {string} text @param {boolean} isBad */
  const say = (text, isBad) => {
    if (outcome === null || outcome === undefined) return
    outcome.textContent = text
    outcome.classList.toggle("bad", isBad)
  }
  asking.ariaBusy = "true"
  say("", false)
  try {
    say(await work(), false)
  } catch (error) {
    say(reasonOf(error), true)
  } finally {
    asking.ariaBusy = null
  }
}

/** @param {string} id @param {() => Promise<string>} work */
export const onClick = (id, work) => box(id).addEventListener("click", () => void act(box(id), work))

/** @param {string} id @param {() => void} handle */
export const onSubmit = (id, handle) =>
  box(id).addEventListener("submit", (submitted) => {
    submitted.preventDefault()
    handle()
  })
