/** The repository that the site is made of. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { fileURLToPath, pathToFileURL } from "node:url"
import { type Addresses, folder, others } from "../../scripts/docs/Site.ts"

// Astro bundles this module to somewhere else, and builds in the folder of the site.
export const root = new URL("../", pathToFileURL(`${process.cwd()}/`))

const path = (file: string): string => fileURLToPath(new URL(file, root))

export const text = (file: string): string => readFileSync(path(file), "utf8")

export const addresses: Addresses = {
  base: import.meta.env.BASE_URL.replace(/\/?$/, "/"),
  repository: JSON.parse(text("packages/core/package.json")).homepage,
  exists: (file) => existsSync(path(file))
}

/** The files that are pages. */
export const files = (): ReadonlyArray<string> => [
  ...globSync(`${folder}/**/*.md`, { cwd: path(".") }).sort(),
  ...others
]
