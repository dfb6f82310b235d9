/** How the sandbox answers recorded requests, as `pnpm parity` measured it. */
import { readdirSync } from "node:fs"
import { x } from "../../packages/core/src/wire/Wire.ts"
import { endpoints } from "../drift/Endpoint.ts"
import * as FactsFile from "../drift/FactsFile.ts"
import { keyOf } from "../drift/ServiceFacts.ts"
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

/** How many operations of the newest document with facts are declared. */
export const covered = (): string => {
  const file = readdirSync(new URL("../fixtures/", import.meta.url)).filter((file) => file.startsWith("service-"))
    .sort().at(-1)
  const keys = new Set(endpoints(x).map(keyOf))
  const { routes } = FactsFile.read(text(`scripts/fixtures/${file}`))
  return `${routes.filter(({ key }) => keys.has(key)).length} of ${routes.length}`
}
