/** The parts of a thread: read from its file, split and numbered on request, checked, and shown before they are sent. */
import { InvalidParameters } from "@postwire/core/errors/Errors"
import * as MediaRules from "@postwire/core/media/MediaRules"
import * as Upload from "@postwire/core/media/Upload"
import type { Post } from "@postwire/core/publishing/Publish"
import * as PostText from "@postwire/core/text/PostText"
import * as FileSource from "@postwire/node/FileSource"
import * as Effect from "effect/Effect"
import { dirname, resolve } from "node:path"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import * as TextFile from "../terminal/TextFile.ts"
import * as PostFlags from "./PostFlags.ts"
import * as ThreadFile from "./ThreadFile.ts"

export interface Part {
  readonly text: string
  readonly images: ReadonlyArray<ThreadFile.Image>
  /** The folder of relative image paths. */
  readonly folder: string
  /** Its name: the number, and the line in the file. */
  readonly name: string
}

interface Flags {
  readonly file: string
  readonly maxWeight: number
  readonly number: boolean
  readonly split: boolean
  readonly json: boolean
}

/** Reads the parts of a file. Refuses everything that is invalid without opening the images. */
export const read = Effect.fnUntraced(function*(flags: Flags) {
  const { file, maxWeight, split } = flags
  const written = ThreadFile.parse(yield* TextFile.read(file, "a file of Markdown"))
  const unusable = (reason: string, advice: string) => ErrorReport.refuse(`${file}: ${reason}`, advice)
  for (const [i, { images, line, text }] of written.entries()) {
    const name = `part ${i + 1} (line ${line})`
    if (text === "" && images.length === 0) {
      return yield* unusable(`${name} is empty`, "Write something between the lines of ---, or remove one of them.")
    }
    const elsewhere = images.find(({ path }) => /^(https?|data|file):/i.test(path))
    if (elsewhere !== undefined) {
      return yield* unusable(
        `the image ${Text.cut(Text.oneLine(elsewhere.path), 40)} of ${name} is not a file`,
        "Download it, and name the file."
      )
    }
  }
  const folder = file === TextFile.standardInput ? "." : dirname(file)
  const parts = numbered(written, flags).map((part, i): Part => ({
    ...part,
    folder,
    name: `Part ${i + 1} (line ${part.line})`
  }))
  yield* Effect.forEach(parts, ({ name, text }) =>
    PostFlags.checkText(text, maxWeight, {
      subject: name,
      advice: (excess) =>
        split ? `Shorten it by ${excess}.` : `Shorten it by ${excess}, put a line of --- into it, or pass --split.`
    }))
  return parts
})

/** Splits and numbers the parts, with room for the numbers. */
const numbered = (written: ReadonlyArray<ThreadFile.Part>, { maxWeight, number, split }: Flags) => {
  for (let digits = 1;; digits++) {
    const room = number ? ` ${"9".repeat(digits)}/${"9".repeat(digits)}`.length : 0
    const parts = split
      ? written.flatMap((part) => cut(part, Math.max(maxWeight - room, PostText.minimumPart)))
      : written
    if (!number) return parts
    const total = String(parts.length)
    if (total.length <= digits) {
      return parts.map((part, i) => ({ ...part, text: `${part.text} ${i + 1}/${total}`.trimStart() }))
    }
  }
}

/** The first piece keeps the images. */
const cut = (part: ThreadFile.Part, maximum: number): ReadonlyArray<ThreadFile.Part> =>
  PostText.fits(part.text, maximum)
    ? [part]
    : PostText.split(part.text, { maximum }).map((text, i) => ({ ...part, text, images: i === 0 ? part.images : [] }))

export const postOf = (part: Part): Post => ({
  ...part.text === "" ? {} : { text: part.text },
  media: part.images.map((image) => ({ file: FileSource.file(pathOf(part, image)), alt: image.alt || undefined }))
})

const pathOf = ({ folder }: Part, { path }: ThreadFile.Image): string => resolve(folder, path)

/** The flag or file of a thread's parameter. */
export const subjectOf = (parameter: string, parts: ReadonlyArray<Part>): ErrorReport.Subject | undefined => {
  if (parameter === "key") return { name: "--key", isFile: false }
  const [, index, member = ""] = /^posts\[(\d+)\]\.(.+)$/.exec(parameter) ?? []
  const part = parts[Number(index)]
  return part && PostFlags.subjectOf(member, part.images.map(({ path }) => path), {
    text: part.name,
    media: `The files of ${part.name}`,
    in_reply_to_post_id: "--reply-to"
  })
}

/** Shows the posts and checks their files. Sends nothing. */
export const show = Effect.fnUntraced(function*(parts: ReadonlyArray<Part>, { json, maxWeight }: Flags) {
  const shown = yield* Effect.forEach(parts, (part, i) =>
    Effect.map(
      filesOf(part, `posts[${i}].`),
      (media) => ({ ...part, weight: PostText.length(part.text), media })
    )).pipe(ErrorReport.inFlags((parameter) => subjectOf(parameter, parts)))
  const files = shown.reduce((sum, { media }) => sum + media.length, 0)
  const value = { maxWeight, parts: shown.map(({ media, text, weight }) => ({ text, weight, media })) }
  yield* Report.print(json, value, () => [
    ...shown.flatMap(({ media, name, text, weight }) => [
      `${name}: ${Text.count(weight)} of ${Text.count(maxWeight)}`,
      ...text.split("\n").flatMap((line) => Text.wrap(line, width)).map(indented),
      ...media.flatMap(({ alt, category, path, size, type }) =>
        Text.wrap(`+ ${path} (${type}, ${Text.size(size)}, as ${category})${alt === "" ? "" : `: ${alt}`}`, width, 2)
      ).map(indented),
      ""
    ]),
    `${Text.quantity(parts.length, "parts")}, ${Text.quantity(files, "files")}. Nothing was sent.`
  ])
})

/** The width of the indented text, so that it fits 80 columns. */
const width = 76

const indented = (line: string): string => `    ${line}`.trimEnd()

/** Checks the files of a part; `prefix` comes before the names of its parameters. */
const filesOf = Effect.fnUntraced(function*(part: Part, prefix: string) {
  const operation = "publishThread"
  const files = yield* Effect.forEach(
    part.images,
    (image, i) =>
      Upload.prepare(FileSource.file(pathOf(part, image)), { alt: image.alt || undefined }, {
        operation,
        prefix: `${prefix}media[${i}].`
      }).pipe(
        Effect.map(({ category, size, type }) => ({ ...image, type, size, category })),
        Effect.scoped
      )
  )
  const fault = MediaRules.faultOfPost(files.map(({ category }) => category))
  return fault === undefined
    ? files
    : yield* new InvalidParameters({ operation, parameter: `${prefix}media`, rule: fault.rule, value: fault.value })
})
