/** Notices: the licences of the code of others that a published file contains. */
import type { Metafile } from "esbuild"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** A package that is contained, with its licence. */
export interface Notice {
  readonly name: string
  readonly version: string
  readonly licence: string
}

const separator = "\n---\n\n"

/** The folders of the packages whose code is in the outputs of a build in `folder`. */
export const sourcesIn = ({ outputs }: Metafile, folder: string): ReadonlyArray<string> =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => {
      const [, path] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? []
      return path === undefined || bytesInOutput === 0 ? [] : [join(folder, path)]
    })
  )

/** The notice of the package in a folder. */
export const of = (folder: string): Notice => {
  const { name, version }: { name: string; version: string } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8")
  )
  const file = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file))
  if (file === undefined) throw new Error(`${name} comes without its licence`)
  return { name, version, licence: readFileSync(join(folder, file), "utf8").trim() }
}

/** Notices as a text. */
export const write = (notices: ReadonlyArray<Notice>): string =>
  notices.map(({ licence, name, version }) => `${name} ${version}\n\n${licence}\n`).join(separator)

/** The notices of a text that `write` has made. */
export const read = (text: string): ReadonlyArray<Notice> =>
  text.split(separator).map((notice) => {
    const [, name = "", version = "", licence = ""] = /^(\S+) (\S+)\n\n([^]*)\n$/.exec(notice) ?? []
    return { name, version, licence }
  })
