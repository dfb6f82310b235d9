// Requests every address outside of this project that its Markdown files link to, and prints those that are gone:
//   node scripts/externalLinks.ts
// It runs on a schedule, never with the tests: others' servers are no reason to stop a change.
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { proseOf } from "./docs/Site.ts"

const root = new URL("..", import.meta.url)

const patience = 30_000

const isExample = (url: string): boolean =>
  /(^|\.)(localhost|test|invalid|example(\.(com|org|net))?)$|^\[|^127\./.test(new URL(url).hostname)

/** The addresses that a text of Markdown links to, without those in code and those that are examples. */
export const externalLinks = (text: string): ReadonlyArray<string> =>
  Array.from(proseOf(text).matchAll(/(?:\]\(|<)(https?:[^)>\s]+)/g), ([, url = ""]) => url).filter((url) =>
    !isExample(url)
  )

/** The reason why an address counts as gone, if it does. Servers that refuse programs prove nothing. */
export const fault = async (url: string, millis = patience): Promise<string | undefined> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(millis) })
    await response.body?.cancel()
    return response.status === 404 || response.status === 410 ? String(response.status) : undefined
  } catch (error) {
    return error instanceof Error && error.name === "TimeoutError"
      ? `no answer within ${millis / 1000} s`
      : "no connection"
  }
}

const main = async () => {
  const { homepage }: { readonly homepage: string } = JSON.parse(
    readFileSync(new URL("packages/core/package.json", root), "utf8")
  )
  const files = globSync("**/*.md", { cwd: root, exclude: ["**/node_modules", "**/dist", "out"] })
  const places = Map.groupBy(
    files.flatMap((file) => externalLinks(readFileSync(new URL(file, root), "utf8")).map((url) => ({ file, url }))),
    ({ url }) => url.replace(/#.*/, "")
  )
  // The tests check those of the repository itself.
  const urls = [...places.keys()].filter((url) => !url.startsWith(homepage))
  const faults = (await Promise.all(urls.map(async (url) => ({ url, reason: await fault(url) }))))
    .filter(({ reason }) => reason !== undefined)
  for (const { reason, url } of faults) {
    console.error(`${url}: ${reason}, in ${[...new Set(places.get(url)!.map(({ file }) => file))].join(", ")}`)
  }
  console.log(`${urls.length} addresses, ${faults.length} of them gone`)
  process.exitCode = faults.length === 0 ? 0 : 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
