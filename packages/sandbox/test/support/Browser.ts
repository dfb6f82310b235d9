/** Chromium, for tests that look at pages. */
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

/** The browser that the machine has: `CHROMIUM`, or one of the names that distributions give it. */
export const executable = ((): string | undefined => {
  const { CHROMIUM, PATH = "" } = process.env
  const paths = PATH.split(delimiter).flatMap((folder) =>
    ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name))
  )
  return [...(CHROMIUM === undefined ? [] : [CHROMIUM]), ...paths].find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
})()
