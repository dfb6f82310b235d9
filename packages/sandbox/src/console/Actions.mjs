// What people do, and what they are told of it.
import { Refused } from "./AdminCalls.mjs"
import { box } from "./Elements.mjs"
import { lock } from "./Gate.mjs"

/** @param {string} text */
const notify = (text) => void (box("notice").textContent = text)

/** @param {unknown} error */
export const failed = (error) => {
  if (error instanceof Refused && error.status === 401) lock("The sandbox does not accept this admin token.")
  else if (error instanceof Refused) notify(error.message)
  else notify("The sandbox does not answer.")
}

/**
 * Does what was asked for and says so, or what is wrong.
 * @param {() => Promise<string>} work
 */
export const act = (work) => {
  notify("")
  work().then(notify, failed)
}

/**
 * @param {string} id
 * @param {() => Promise<string>} work
 */
export const onClick = (id, work) => box(id).addEventListener("click", () => act(work))

/**
 * @param {string} id
 * @param {() => void} handle
 */
export const onSubmit = (id, handle) =>
  box(id).addEventListener("submit", (submitted) => {
    submitted.preventDefault()
    handle()
  })
