/** Records that are kept as JSON with a version. */
import * as Predicate from "effect/Predicate"

/** Why the text of a record cannot be read by this version. */
export const faultOf = (text: string, version: number): "newer" | "damaged" => {
  try {
    const record: unknown = JSON.parse(text)
    return Predicate.hasProperty(record, "version") && typeof record.version === "number" && record.version > version
      ? "newer"
      : "damaged"
  } catch {
    return "damaged"
  }
}
