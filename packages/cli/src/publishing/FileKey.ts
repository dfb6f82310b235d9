/** The default key of a thread or an article in a file. */
import { basename, extname } from "node:path"
import { standardInput } from "../terminal/TextFile.ts"

/** Makes a key of the file's name and a hash. */
export const make = (file: string, noun: string, hash: string): string => {
  const name = file === standardInput ? noun : basename(file, extname(file)).replace(/[^\p{L}\p{N}_-]+/gu, "-")
  // A key is well-formed text.
  return `${name.slice(0, 64).replace(/[\ud800-\udbff]$/, "")}-${hash.slice(0, 12)}`
}
