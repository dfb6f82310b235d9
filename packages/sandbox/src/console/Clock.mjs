// The buttons that move the clock of the service.
import { act, onSubmit } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { box, input } from "./Elements.mjs"
import { look, onCall } from "./Live.mjs"

/** @param {string} time */
const advance = async (time) => {
  await call("POST", "/clock", { advance: time })
  await look()
  return `The clock is advanced by ${time}.`
}

export const start = () => {
  onCall("clock-reset", "The clock is reset.", "DELETE", "/clock")
  for (const element of document.querySelectorAll("[data-advance]")) {
    if (!(element instanceof HTMLElement)) continue
    element.addEventListener("click", () => void act(element, () => advance(element.dataset["advance"] ?? "")))
  }
  onSubmit("clock-form", () => void act(box("clock-form"), () => advance(input("advance").value.trim())))
}
