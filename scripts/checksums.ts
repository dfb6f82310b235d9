// The SHA-256 of every file of a release, in the form that `sha256sum --check` reads: out/release/SHA256SUMS.
// The workflow of releases runs it without any installation.
import { createHash } from "node:crypto"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** The SHA-256 of a file, in hexadecimal. */
export const sha256 = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex")

/** Writes the sums of a folder's files into its `SHA256SUMS`. */
export const write = (folder: string): void => {
  const files = readdirSync(folder).filter((file) => file !== "SHA256SUMS").sort()
  writeFileSync(
    join(folder, "SHA256SUMS"),
    files.map((file) => `${sha256(join(folder, file))}  ${file}\n`).join("")
  )
}

if (import.meta.main) write("out/release")
