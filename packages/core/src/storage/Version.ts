/** Records stored as JSON with a version. */
import * as Predicate from "effect/Predicate"

/** The reason why this version cannot read a record. */
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
