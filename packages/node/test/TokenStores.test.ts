import { describe } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import * as FileTokenStore from "../src/FileTokenStore.ts"
import { contention, contract, type Kind } from "./support/TokenStores.ts"

const folder = mkdtempSync(join(tmpdir(), "postwire-accounts-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let places = 0

const program = new URL("support/incrementer.ts", import.meta.url)

const inFiles: Kind = {
  place: () => join(folder, String(++places), "accounts"),
  layer: (place) => FileTokenStore.layer({ folder: place }),
  program
}

describe("in files", () => {
  contract(inFiles)
  contention(inFiles)
})
