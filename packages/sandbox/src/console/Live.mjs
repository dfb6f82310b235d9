// Polls the sandbox every second: the clock, and what is shown.
import { onClick, reasonOf } from "./Actions.mjs"
import { call } from "./AdminCalls.mjs"
import { at, box, isoTime, utc } from "./Elements.mjs"
import { isLocked } from "./Gate.mjs"
import { isShown } from "./Views.mjs"

const intervalMillis = 1_000

/**
 * Reads from the sandbox and returns a function that shows the result; `now` is the service's time in milliseconds.
 * @typedef {() => Promise<(now: number) => void>} View
 */

/** @type {Array<readonly [name: string, view: View]>} */
const views = []

/** Polls while the named view is shown. @param {string} name @param {View} view */
export const watch = (name, view) => void views.push([name, view])

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer
/** @type {Promise<void> | undefined} */
let looking

/** Polls now, and then every second. */
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
    box("connection").textContent = `${reason} Retrying.`
    box("connection").classList.add("lost")
  }
  timer = setTimeout(look, intervalMillis)
}

/** Updates all views together. */
const refresh = async () => {
  const [clock, ...shows] = await Promise.all([
    call("GET", "/clock"),
    ...views.flatMap(([name, view]) => isShown(name) ? [view()] : [])
  ])
  const now = Date.parse(clock.now)
  showClock(now)
  for (const show of shows) show(now)
}

/** @param {number} now */
const showClock = (now) => {
  const time = at("now", HTMLTimeElement)
  time.dateTime = isoTime(now)
  time.textContent = utc(now)
}

/**
 * Sends an admin call when a button is pressed, updates the page and reports.
 * @param {string} id
 * @param {string} report
 * @param {[method: string, path: string, body?: unknown]} request
 */
export const onCall = (id, report, ...request) =>
  onClick(id, async () => {
    await call(...request)
    await look()
    return report
  })
