// The buttons that move the clock of the service.
import { act, onClick } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { look } from "./Live.mjs"

export const start = () => {
  onClick("clock-reset", async () => {
    await call("DELETE", "/clock")
    await look()
    return "The clock is reset."
  })
  for (const element of document.querySelectorAll("[data-advance]")) {
    if (!(element instanceof HTMLElement)) continue
    element.addEventListener("click", () =>
      void act(element, async () => {
        const advance = element.getAttribute("data-advance")
        await call("POST", "/clock", { advance })
        await look()
        return `The clock is advanced by ${advance}.`
      }))
  }
}
