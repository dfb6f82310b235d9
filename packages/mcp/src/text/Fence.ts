/**
 * Marks text that strangers wrote: `«2244994945|the text»`. The number is the author's id, or `?`. Nothing in the text can end the
 * field, so that it cannot pass for words of the server.
 */
import { reveal, sanitize } from "./Sanitize.ts"

/** An id as it may stand outside a fence. */
const plainId = /^\d{1,19}$/

/** A fenced text of at most `characters`. */
export const fence = (text: string, author: string | undefined, characters = Infinity): string => {
  const clean = sanitize(text).replaceAll("«", "‹").replaceAll("»", "›")
  const points = clean.length > characters ? [...clean] : []
  const cut = points.length > characters ? `${points.slice(0, characters).join("")}…` : clean
  return `«${author !== undefined && plainId.test(author) ? author : "?"}|${cut}»`
}

/** A fenced text of which nothing is omitted, for a user's consent to it. */
export const exact = (text: string): string => fence(reveal(text), undefined)

/** An id, or a fenced text where the service sent something else. */
export const id = (value: unknown): string =>
  typeof value === "string" && /^[\w-]{1,64}$/.test(value) ? value : fence(String(value), undefined, 64)

/** A handle, or a fenced text where the service sent something else. */
export const handle = (value: unknown): string =>
  typeof value === "string" && /^\w{1,15}$/.test(value) ? `@${value}` : fence(String(value), undefined, 64)
