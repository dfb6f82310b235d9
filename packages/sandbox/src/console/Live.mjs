// What is looked at every second: the clock of the service, and what others watch.
import { reasonOf } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { at, box, isoTime } from "./Elements.mjs"
import { isLocked } from "./Gate.mjs"

const intervalMillis = 1_000

/**
 * Reads something of the sandbox, and returns what shows it; `now` is the time of the service in milliseconds.
 * @typedef {() => Promise<(now: number) => void>} View
 */

/** @type {Array<View>} */
const views = []

/** @param {View} view */
export const watch = (view) => void views.push(view)

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer
/** @type {Promise<void> | undefined} */
let looking

/** Looks now, and from then on every second. */
export const look = () => looking ??= lookOnce().finally(() => void (looking = undefined))

const lookOnce = async () => {
  clearTimeout(timer)
  if (isLocked()) return
  try {
    if (!document.hidden) await refresh()
    box("connection").textContent = `Connected to ${location.host}`
    box("connection").classList.remove("lost")
  } catch (error) {
    const reason = reasonOf(error)
    if (isLocked()) return
    box("connection").textContent = `${reason} Trying again.`
    box("connection").classList.add("lost")
  }
  timer = setTimeout(look, intervalMillis)
}

/** Shows what was read at the same time together. */
const refresh = async () => {
  const [clock, ...shows] = await Promise.all([call("GET", "/clock"), ...views.map((view) => view())])
  const now = Date.parse(clock.now)
  showClock(now)
  for (const show of shows) show(now)
}

/** @param {number} now */
const showClock = (now) => {
  const time = at("now", HTMLTimeElement)
  time.dateTime = isoTime(now)
  time.textContent = `${isoTime(now).slice(0, 19).replace("T", " ")} UTC`
}
