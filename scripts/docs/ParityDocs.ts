/** How the sandbox answers recorded requests, as `pnpm parity` measured it. */
import type { Counts } from "../parity/Parity.ts"
import { text } from "./Source.ts"

/** A row for each source of recordings. */
export const table = (): string => {
  const counts: Readonly<Record<string, Counts>> = JSON.parse(text("docs/parity.json"))
  return [
    "| Source | Exchanges | Operations | Equal | With more members | Deviating |",
    "|---|---|---|---|---|---|",
    ...Object.entries(counts).map(([source, { deviating, equal, exchanges, more, operations }]) =>
      `| ${[source, exchanges, operations, equal, more, deviating].join(" | ")} |`
    )
  ].join("\n")
}
