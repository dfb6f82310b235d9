// What people do, and what they are told of it: beside what they did it with.
import { Refused } from "./AdminCalls.mjs"
import { box } from "./Elements.mjs"
import { lock } from "./Gate.mjs"

/**
 * What is to be said of a failure. A token that is not accepted leads back to the gate, which says so itself.
 * @param {unknown} error
 */
export const reasonOf = (error) => {
  if (!(error instanceof Refused)) return "The sandbox does not answer."
  if (error.status !== 401) return error.message
  lock("The sandbox does not accept this admin token.")
  return ""
}

/**
 * Does what was asked for, and says what came of it where the element is that asked: in the outcome of its part. Asked
 * again meanwhile, it is not done twice.
 * @param {HTMLElement} asking
 * @param {() => Promise<string>} work
 */
export const act = async (asking, work) => {
  if (asking.ariaBusy === "true") return
  const outcome = asking.closest("section, header")?.querySelector(".outcome")
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

/**
 * @param {string} id
 * @param {() => Promise<string>} work
 */
export const onClick = (id, work) => box(id).addEventListener("click", () => void act(box(id), work))

/**
 * @param {string} id
 * @param {() => void} handle
 */
export const onSubmit = (id, handle) =>
  box(id).addEventListener("submit", (submitted) => {
    submitted.preventDefault()
    handle()
  })
