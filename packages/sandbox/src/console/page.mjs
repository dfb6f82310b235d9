// Starts the parts of the console page after the admin token is entered.
import { onSubmit, reasonOf } from "./Actions.mjs"
import { hasToken } from "./AdminCalls.mjs"
import * as Bill from "./Bill.mjs"
import * as Clock from "./Clock.mjs"
import { box } from "./Elements.mjs"
import * as Entry from "./Entry.mjs"
import * as Events from "./Events.mjs"
import * as Exchange from "./Exchange.mjs"
import * as Faults from "./Faults.mjs"
import { isLocked, lock, takeFromAddress, takeTyped, unlock } from "./Gate.mjs"
import * as Journal from "./Journal.mjs"
import * as Limits from "./Limits.mjs"
import { look } from "./Live.mjs"
import * as Media from "./Media.mjs"
import * as Operations from "./Operations.mjs"
import * as RequestForm from "./RequestForm.mjs"
import * as Service from "./Service.mjs"
import * as State from "./State.mjs"
import * as Streams from "./Streams.mjs"
import * as Suggestions from "./Suggestions.mjs"
import * as Views from "./Views.mjs"

const enter = async () => {
  if (!hasToken()) return lock("")
  try {
    await Operations.load()
  } catch (error) {
    box("connection").textContent = reasonOf(error)
    return
  }
  unlock()
  RequestForm.offerOperations()
  Exchange.forgetPages()
  Faults.offerOperations()
  Journal.restart()
  Views.show()
  await look()
}

for (
  const part of [
    Clock,
    RequestForm,
    Exchange,
    // Closes an entry before the list moves the focus.
    Entry,
    Journal,
    Limits,
    Bill,
    Streams,
    Events,
    Faults,
    Media,
    State,
    Service,
    Suggestions
  ]
) {
  part.start()
}

onSubmit("gate-form", () => {
  takeTyped()
  enter()
})

document.addEventListener("keydown", ({ key, target }) => {
  const details = key === "Escape" && target instanceof Element ? target.closest("details[open]") : null
  if (details instanceof HTMLDetailsElement) {
    details.open = false
    details.querySelector("summary")?.focus()
  }
})
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && !isLocked()) look()
})
window.addEventListener("hashchange", () => {
  if (takeFromAddress()) enter()
  else if (!isLocked()) {
    Views.show()
    look()
  }
})
document.querySelector(".skip")?.addEventListener("click", (clicked) => {
  // The hash names the view.
  clicked.preventDefault()
  box("main").focus()
})

takeFromAddress()
enter()
