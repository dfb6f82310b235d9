/** An article in a file of Markdown: read, checked with its pictures, and shown before it is sent. */
import * as Upload from "@postwire/core/media/Upload"
import type { Article } from "@postwire/core/publishing/Article"
import { articleFromMarkdown, type MarkdownArticle } from "@postwire/core/publishing/ArticleMarkdown"
import type { Media } from "@postwire/core/publishing/Publish"
import * as FileSource from "@postwire/node/FileSource"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { hash } from "node:crypto"
import { dirname, resolve } from "node:path"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import * as TextFile from "../terminal/TextFile.ts"
import * as FileKey from "./FileKey.ts"

interface Flags {
  readonly file: string
  readonly title: Option.Option<string>
  readonly cover: Option.Option<string>
}

/** An article whose files all have options. */
interface Files extends Article {
  readonly images: Readonly<Record<string, Media>>
  readonly cover?: Media
}

/** An article of a file, and what the service will show differently. */
export interface ArticleFile {
  readonly article: Files
  readonly markdown: MarkdownArticle
  /** The pictures by the names that the file has for them, and the cover: paths. */
  readonly paths: ReadonlyMap<string, string>
}

/** Reads an article. Refuses one without a title. */
export const read = Effect.fnUntraced(function*({ cover, file, title }: Flags) {
  const text = yield* TextFile.read(file, "a file of Markdown")
  const folder = file === TextFile.standardInput ? "." : dirname(file)
  const local = articleFromMarkdown(text).images.filter(({ name }) => !/^(?:https?|data|file):/i.test(name))
  const markdown = articleFromMarkdown(text, {
    title: Option.getOrUndefined(title),
    media: Object.fromEntries(local.map(({ name }) => [name, name]))
  })
  if (markdown.title === undefined || markdown.title.trim() === "") {
    return yield* ErrorReport.refuse(`${file} has no title`, "Begin it with a heading, # Title, or pass --title.")
  }
  const images = local.map(({ alt, name }) =>
    [name, { file: FileSource.file(resolve(folder, name)), alt: alt || undefined }] as const
  )
  const top = Option.getOrUndefined(cover)
  const read: ArticleFile = {
    article: {
      title: markdown.title,
      content_state: markdown.content_state,
      images: Object.fromEntries(images),
      ...(top === undefined ? {} : { cover: { file: FileSource.file(resolve(top)) } })
    },
    markdown,
    paths: new Map([...local.map(({ name }) => [`images[${JSON.stringify(name)}]`, resolve(folder, name)] as const), [
      "cover",
      top ?? ""
    ]])
  }
  return read
})

/** The default key: one article for each file and account. */
export const keyOf = (file: string, account: string | undefined, { title }: Article): string => {
  const place = file === TextFile.standardInput ? title : resolve(file)
  return FileKey.make(file, "article", hash("sha256", `${account ?? ""}\n${place}`))
}

/** The flag or file of a parameter. */
export const subjectOf = (parameter: string, file: string, { paths }: ArticleFile): ErrorReport.Subject | undefined => {
  const [, name = "", member] = /^(.+)\.(\w+)$/.exec(parameter) ?? []
  const path = paths.get(name)
  if (path !== undefined) {
    return { name: member === "file" ? path : `The ${member} of ${path}`, isFile: member === "file" }
  }
  const flag =
    { article_id: "--draft", key: `The key of ${file} (--key)`, title: "The title", content_state: file }[parameter]
  return flag === undefined ? undefined : { name: flag, isFile: false }
}

/** Says what the article shows differently: each kind once, with its lines. */
export const sayDifferences = ({ markdown: { differences } }: ArticleFile, file: string) => {
  const lines = new Map<string, Array<number>>()
  for (const { line, shown, what } of differences) {
    const text = `${what}, shown ${shown}`
    lines.set(text, [...lines.get(text) ?? [], line])
  }
  return Effect.forEach(
    lines,
    ([text, at]) =>
      Report.say(`${file}: ${Text.oneLine(text)} (${at.length === 1 ? "line" : "lines"} ${at.join(", ")})`),
    { discard: true }
  )
}

/** Shows an article and checks its files. Sends nothing. */
export const show = Effect.fnUntraced(function*(read: ArticleFile, json: boolean) {
  const { article: { content_state, cover, images, title }, markdown: { differences, length }, paths } = read
  const files = [
    ...Object.entries(images).map(([name, file]) => [`images[${JSON.stringify(name)}]`, file] as const),
    ...(cover === undefined ? [] : [["cover", cover] as const])
  ]
  const media = yield* Effect.forEach(
    files,
    ([name, { file, ...options }]) =>
      Upload.prepare(file, options, { operation: "createArticle", prefix: `${name}.` }).pipe(
        Effect.map(({ category, size, type }) => ({ path: paths.get(name) ?? name, type, size, category })),
        Effect.scoped
      )
  )
  yield* Report.print(json, { title, length, content_state, media, differences }, () => [
    title,
    `${Text.quantity(content_state.blocks.length, "blocks")}, ${Text.quantity(length, "characters")}`,
    ...media.map(({ category, path, size, type }) => `+ ${path} (${type}, ${Text.size(size)}, as ${category})`),
    "Nothing was sent."
  ])
})
