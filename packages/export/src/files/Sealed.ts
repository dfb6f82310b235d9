/** JSON that notices when it was edited: what a program relies on between two runs is not for people to correct. */
import { createHash } from "node:crypto"

/** The JSON of an object, with a digest of it as its last member. */
export const stringify = (value: object): string => {
  // In the order in which it is read: names that are numbers come first.
  const read = JSON.parse(JSON.stringify(value)) as object
  return `${JSON.stringify({ ...read, sha256: sealOf(JSON.stringify(read)) }, undefined, 2)}\n`
}

/** The object, or nothing when the text is not as it was written. */
export const parse = (text: string): unknown => {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof parsed !== "object" || parsed === null || !("sha256" in parsed)) return undefined
  const { sha256, ...value } = parsed
  return sha256 === sealOf(JSON.stringify(value)) ? value : undefined
}

const sealOf = (body: string): string => createHash("sha256").update(body).digest("hex")
