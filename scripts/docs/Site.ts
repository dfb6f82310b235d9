/** The pages of the site: the Markdown files of `docs`, with a title, an address and links that lead to pages. */
import { posix } from "node:path"

/** A page. */
export interface Page {
  /** The address below the site's root, without slashes around it; `index` is the root. */
  readonly id: string
  /** The first heading. */
  readonly title: string
  /** The first paragraph, as plain text. */
  readonly description: string
  /** The Markdown without that heading. */
  readonly body: string
}

/** The addresses of pages and files. */
export interface Addresses {
  /** The path prefix of the site, such as `/` or `/1.2/`. */
  readonly base: string
  /** The address of the repository, where files are that are no pages. */
  readonly repository: string
  /** Returns true if a file, named from the root of the repository, exists. */
  readonly exists: (file: string) => boolean
}

/** The folder of the guides, from the root of the repository. */
export const folder = "docs"

/** The files of the site beside its pages. */
const served = /^docs\/(openapi|pictures)\/[^/]+$/

/** The pages outside of that folder. */
export const others: ReadonlyArray<string> = ["CONTRIBUTING.md", "SECURITY.md"]

/** The address of a Markdown file, below the site's root: `docs/reference/README.md` is `reference`. */
export const idOf = (file: string): string =>
  posix.relative(folder, file).replaceAll("../", "").replace(/\.md$/, "").replace(/(^|\/)README$/, "") || "index"

/** The address of what a link names: a page, a document, or a file of the repository. */
export const addressOf = (file: string, { base, exists, repository }: Addresses): string | undefined => {
  if (!exists(file)) return undefined
  const page = isPage(file) ? file : `${file}/README.md`
  if (file === "README.md") return base
  if (isPage(page) && exists(page)) return `${base}${idOf(page) === "index" ? "" : `${idOf(page)}/`}`
  if (served.test(file)) return `${base}${posix.relative(folder, file)}`
  return `${repository}/blob/main/${file}`
}

const isPage = (file: string): boolean =>
  (file.startsWith(`${folder}/`) && file.endsWith(".md")) || others.includes(file)

/** Code, which holds no links: fences of any length, and what stands between backticks. */
const code = /^(`{3,})[^]*?^\1`*$|(`+)[^`][^]*?\2/gm

/** A comment is for those who edit the file, and so is the empty line after it; in code it is code, and the other way. */
const commentOrCode = RegExp(`^<!--[^]*?-->\\n\\n?|${code.source}`, "gm")

const link = /(\]\()([^)\s]+)(\))/g

/** The text with what is no code replaced. */
const outsideOfCode = (text: string, replace: (prose: string) => string): string => {
  let result = ""
  let end = 0
  for (const match of text.matchAll(code)) {
    result += replace(text.slice(end, match.index)) + match[0]
    end = match.index + match[0].length
  }
  return result + replace(text.slice(end))
}

/** The text without its code. */
export const proseOf = (text: string): string => text.replace(code, "")

const isRelative = (target: string): boolean => !/^(\w+:|#|\/)/.test(target)

const resolve = (file: string, target: string): string =>
  posix.normalize(posix.join(posix.dirname(file), target)).replace(/\/$/, "")

/** The page of a Markdown file. Throws where it has no heading, or a link leads nowhere. */
export const pageOf = (file: string, text: string, addresses: Addresses): Page => {
  const [heading, title] = /^# (.+)\n/m.exec(text) ?? []
  if (heading === undefined || title === undefined) throw new Error(`${file} has no heading`)
  const body = text.replace(heading, "").replace(commentOrCode, (match) => match.startsWith("<!--") ? "" : match)
    .trimStart()
  return {
    id: idOf(file),
    title: plain(title),
    description: plain(/^(?![#<`|[-])[^]+?(?=\n\n|\n?$(?![^]))/m.exec(body)?.[0] ?? title),
    body: outsideOfCode(body, (prose) =>
      prose.replace(link, (whole, open: string, target: string, close: string) => {
        if (!isRelative(target)) return whole
        const [path = "", anchor] = target.split("#")
        const address = addressOf(resolve(file, path), addresses)
        if (address === undefined) throw new Error(`${file} links to ${target}, which is not there`)
        return `${open}${address}${anchor === undefined ? "" : `#${anchor}`}${close}`
      }))
  }
}

const plain = (text: string): string =>
  text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "").replace(/\s+/g, " ").trim()
