/** `postwire upload`: uploads a file resumably, and prints its media id. */
import { type Progress, upload, type UploadOptions } from "@postwire/core/media/Upload"
import { categories } from "@postwire/core/schema/models/Media"
import * as FileSource from "@postwire/node/FileSource"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { basename, resolve } from "node:path"
import * as Connection from "../connection/Connection.ts"
import * as UploadProgress from "../publishing/UploadProgress.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

const flags = {
  file: Argument.String("file").pipe(Argument.withDescription("The picture, GIF, video or subtitles")),
  alt: Args.text("alt", "The alt text, at most 1,000 characters", "TEXT"),
  purpose: Flag.Literals("for", ["post", "directMessage"]).pipe(Args.optional("Its purpose (default: post)")),
  category: Flag.Literals("category", categories).pipe(
    Args.optional("The service's category (default: by the file and its purpose)")
  ),
  subtitles: Args.many("subtitles", "FILE", "Subtitles of a video, SRT or WebVTT; repeatable"),
  language: Args.many("language", "XX", "The language of the subtitles, such as EN: one for each --subtitles").pipe(
    Flag.filter((all) => all.every((language) => /^[A-Z]{2}$/.test(language)), () => "two capital letters, such as EN")
  ),
  json: Report.json,
  wire: Connection.wire,
  ...Connection.flags
}

export const command = Command.make("upload", flags, (given) => run(given)).pipe(
  Args.help(
    "Upload a file and print its media id, for postwire post --media-id and for calls. It is checked before anything is sent. " +
      "After an interruption, the same command continues.",
    lines.upload,
    {
      "postwire upload cat.jpg --alt 'A black cat on a wall'": "A picture, described",
      "postwire upload talk.mp4 --subtitles talk.srt --language EN": "A video with subtitles",
      "postwire upload cat.gif --for directMessage": "For a direct message"
    }
  )
)

type Flags = Command.Command.Config.Infer<typeof flags>

const run = Effect.fnUntraced(function*(flags: Flags) {
  const options = yield* optionsOf(flags)
  const { isOld, media } = yield* Connection.use(
    flags,
    flags.wire,
    ({ userAuth, variables }) =>
      send(flags.file, { ...options, user_auth: userAuth }).pipe(
        ErrorReport.inFlags((parameter) => subjectOf(parameter, flags)),
        ErrorReport.within({ resumable: "itself" }),
        Effect.provide(Connection.layerJournal(variables))
      )
  )
  yield* Report.print(flags.json, media, () => [media.id])
  const { category, expiresAt, size, type } = media
  const left = expiresAt === undefined ? 0 : (expiresAt.getTime() - (yield* Clock.currentTimeMillis)) / 1000
  const until = expiresAt === undefined ? "" : `; use it within ${Text.duration(left)}`
  const how = isOld ? "was uploaded before" : "is uploaded"
  yield* Report.say(`${basename(flags.file)} ${how}: ${type}, ${Text.size(size)}, as ${category}${until}.`)
})

const optionsOf = Effect.fnUntraced(function*({ alt, category, language, purpose, subtitles }: Flags) {
  if (subtitles.length !== language.length) {
    return yield* ErrorReport.refuse(
      `There are ${Text.quantity(subtitles.length, "files")} of subtitles and ${
        Text.quantity(language.length, "languages")
      }`,
      "Pass one --language for each --subtitles, as in --subtitles talk.srt --language EN."
    )
  }
  return {
    alt: Option.getOrUndefined(alt),
    category: Option.getOrUndefined(category),
    purpose: Option.getOrUndefined(purpose),
    subtitles: subtitles.map((path, i) => subtitlesOf(path, language[i] ?? ""))
  }
})

/** Subtitles are labelled with the language's name in that language. */
const subtitlesOf = (path: string, language: string) => ({
  file: FileSource.file(path),
  language,
  name: new Intl.DisplayNames(language.toLowerCase(), { type: "language" }).of(language.toLowerCase()) ?? language
})

/** The flag or file of an upload's parameter. */
const subjectOf = (parameter: string, { file, subtitles }: Flags): ErrorReport.Subject => {
  const [, index] = /^subtitles\[(\d+)\]\.file$/.exec(parameter) ?? []
  const path = parameter === "file" ? file : subtitles[Number(index)]
  return path === undefined
    ? { name: parameter.endsWith(".language") ? "--language" : `--${parameter}`, isFile: false }
    : { name: path, isFile: true }
}

/** Uploads a file, or continues an upload, and shows its progress. */
const send = Effect.fnUntraced(function*(path: string, options: UploadOptions) {
  const progress = yield* UploadProgress.make
  const speak = yield* Report.speaker
  let last: Progress | undefined
  const onProgress = (now: Progress) => {
    if (last === undefined && now.sentBytes > 0 && now.phase === "upload") {
      speak(`Resumed: ${Text.size(now.sentBytes)} of ${Text.size(now.totalBytes)} were uploaded before.`)
    }
    if (last !== undefined && now.sentBytes < last.sentBytes) {
      speak("The service no longer has the earlier part; the upload starts over.")
    }
    last = now
    progress.update(now)
  }
  const media = yield* upload.resumable(resolve(path), FileSource.file(path), { ...options, onProgress }).pipe(
    Effect.ensuring(Effect.sync(progress.end)),
    Effect.onInterrupt(() => last === undefined ? Effect.void : Report.say(whereItStands(last)))
  )
  return { media, isOld: last === undefined }
})

const whereItStands = ({ phase, sentBytes, totalBytes }: Progress): string =>
  `${
    phase === "upload" ? `${Text.size(sentBytes)} of ${Text.size(totalBytes)} are sent` : "All is sent"
  }. The same command continues.`
