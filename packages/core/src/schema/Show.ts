/** Shows values in messages. */
import { identity } from "effect/Function"
import * as Multipart from "./Multipart.ts"

/** Renders a value for a message: as JSON of at most 60 characters, redacted. */
export const show = (value: unknown, redact: (text: string) => string = identity): string => {
  if (typeof value === "bigint") return `${value}n`
  if (typeof value === "function") return "a function"
  if (typeof value === "symbol") return "a symbol"
  if (typeof value === "number" || value === undefined) return String(value)
  let text: string | undefined
  try {
    if (Multipart.isBytes(value)) return `${Multipart.sizeOf(value)} bytes`
    text = JSON.stringify(value, (_, member) => typeof member === "bigint" ? `${member}n` : member)
  } catch {
    text = undefined
  }
  if (text === undefined) return "a value that cannot be shown"
  // Redacted before truncating: half a secret would not be recognised.
  text = redact(text)
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
