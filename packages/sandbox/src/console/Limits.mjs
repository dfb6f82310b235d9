// Rate limits and the posts of the month, as bars.
import { call } from "./AdminCalls.mjs"
import { bar, box, fill, setBar } from "./Elements.mjs"
import { onCall, watch } from "./Live.mjs"
import { credentials } from "./Operations.mjs"

/** @import { WindowState, Usage } from "../limits/RateLimits.ts" */

/** A bar turns red below this remaining share. */
const lowShare = 1 / 5

/** @param {HTMLElement} element @param {number} value @param {number} maximum @param {string} text */
const show = (element, value, maximum, text) => setBar(element, { maximum, text, value }, value < maximum * lowShare)

/** @param {string} key */
const whose = (key) => {
  const [form, , user] = key.split(" ")
  return form === "app" ? "the app" : user === credentials?.user.id ? `@${credentials?.user.username}` : `user ${user}`
}

/** @param {number} millis */
const minutesAndSeconds = (millis) => {
  const seconds = Math.max(0, Math.ceil(millis / 1_000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
}

/** @param {WindowState} window */
const keyOf = ({ credential, operation }) => `${operation} ${credential}`

/** @param {ReadonlyArray<WindowState>} windows @param {number} now */
const showWindows = (windows, now) => {
  box("windows-empty").hidden = windows.length > 0
  fill(box("windows"), [...windows].sort((a, b) => keyOf(a) < keyOf(b) ? -1 : 1), {
    key: keyOf,
    create: ({ credential, operation }) => bar(`${operation}, ${whose(credential)}`),
    update: (element, { limit, remaining, resetAt }) => {
      const reset = minutesAndSeconds(resetAt - now)
      show(element, remaining, limit, `${remaining} of ${limit} remaining, resets in ${reset}`)
    }
  })
}

/** @param {ReadonlyArray<Usage>} usages */
const showCap = (usages) => {
  box("cap-empty").hidden = usages.length > 0
  fill(box("cap"), usages, {
    key: ({ project }) => project,
    create: ({ project }) => bar(`Project ${project}`),
    update: (element, { maximum, posts }) =>
      show(element, posts, maximum, `${posts.toLocaleString("en")} of ${maximum.toLocaleString("en")}`)
  })
}

export const start = () => {
  watch("limits", async () => {
    const { posts, windows } = await call("GET", "/budget")
    return (now) => {
      showWindows(windows, now)
      showCap(posts)
    }
  })
  onCall("budget-clear", "All rate limits are reset.", "DELETE", "/budget")
}
