/** What time it is at the service, and when by its clock something was made. */
import type { Headers } from "../../schema/Response.ts"
import type { AnyItem } from "../../schema/StreamItem.ts"

/** The time at which the service answered; `undefined` where the headers do not state it. */
export const servedAt = (headers: Headers): number | undefined => {
  const served = Date.parse(headers["date"] ?? "")
  // A cache between the two does not know the time; a header has whole seconds.
  return Number.isNaN(served) || headers["age"] !== undefined ? undefined : served + 500
}

/** Differences up to here are within what a header can state. */
export const toleranceMillis = 2_000

/** When what an item tells of happened, in milliseconds; `undefined` where it does not say so. */
export const timeOf = (item: AnyItem): number | undefined => {
  const data = "post" in item ? item.post : item.event
  if (typeof data !== "object" || data === null) return undefined
  if ("created_at" in data && typeof data.created_at === "string") return millisOf(data.created_at)
  for (const member of Object.values(data)) {
    if (typeof member === "object" && member !== null && "event_at" in member && typeof member.event_at === "string") {
      return millisOf(member.event_at)
    }
  }
  return undefined
}

const millisOf = (text: string): number | undefined => {
  const millis = Date.parse(text)
  return Number.isNaN(millis) ? undefined : millis
}
