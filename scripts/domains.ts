// Packs the top-level domains that a link can have, as published with the conformance vectors of the core's tests, into a
// module: each as the number of characters that it shares with the one before it, as a letter, and the others.
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = new URL("../packages/core/", import.meta.url)

const { topLevelDomains }: { readonly topLevelDomains: Readonly<Record<string, ReadonlyArray<string>>> } = JSON.parse(
  readFileSync(new URL("test/fixtures/text.json", root), "utf8")
)

const shared = (a: string, b: string): number => {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}

let last = ""
const words = Object.values(topLevelDomains).flat().sort().map((name) => {
  const length = shared(last, name)
  last = name
  return String.fromCharCode(65 + length) + name.slice(length)
})

/** Lines of at most 120 characters. */
const lines: Array<string> = []
for (const word of words) {
  const line = lines.at(-1)
  if (line === undefined || line.length + word.length > 112) lines.push(word)
  else lines[lines.length - 1] = line + word
}

writeFileSync(
  fileURLToPath(new URL("src/internal/TopLevelDomains.ts", root)),
  `/** Made by \`node scripts/domains.ts\`, which says how. */
export const packed = ${lines.map((line) => `"${line}"`).join(" +\n  ")}
`
)
