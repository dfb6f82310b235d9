/** Names of items. */
import type { Definition } from "@postwire/core/schema/Definition"

/** The plural of the items that an operation lists. */
export const nounOf = ({ result }: Definition): string =>
  result._tag === "Many" && !result.kind.endsWith("s") ? `${result.kind.replace("_", " ")}s` : "rows"
