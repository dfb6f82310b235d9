/** `postwire post`: posts a text with its files. */
import { publish } from "@postwire/core/publishing/Publish"
import * as FileSource from "@postwire/node/FileSource"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { basename } from "node:path"
import * as Connection from "../connection/Connection.ts"
import * as PostFlags from "../publishing/PostFlags.ts"
import * as UploadProgress from "../publishing/UploadProgress.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as TextFile from "../terminal/TextFile.ts"
import { lines } from "./Lines.ts"

const flags = {
  text: Argument.String("text").pipe(
    Argument.withDescription("The text, or - to read it from standard input"),
    Argument.optional
  ),
  media: Args.many("media", "FILE", "A picture, GIF or video; repeatable"),
  alt: Args.many("alt", "TEXT", "The alt text: one for each --media, \"\" for none"),
  mediaId: Args.many("media-id", "ID", "Uploaded media of postwire upload; they come before files"),
  poll: Args.many("poll", "OPTION", "An option of a poll: 2 to 4, one flag each"),
  pollMinutes: Args.int("poll-minutes", 5, 10_080).pipe(Args.withDefault("The minutes that the poll is open", 1_440)),
  replyTo: PostFlags.replyTo,
  quote: Args.text("quote", "Quote this post", "ID"),
  maxWeight: PostFlags.maxWeight,
  json: Report.json,
  wire: Connection.wire,
  ...Connection.flags
}

export const command = Command.make("post", flags, (given) => run(given)).pipe(
  Args.help(
    "Post a text with pictures, a video or a poll, and print the id. Everything is checked before anything is sent. If a file " +
      "cannot be uploaded, nothing is posted.",
    lines.post,
    {
      "postwire post 'Good morning'": "A text",
      "postwire post 'My cat' --media cat.jpg --alt 'A black cat on a wall'": "With a picture, described",
      "postwire post 'Tea?' --poll Yes --poll No --poll-minutes 60": "A poll of an hour",
      "fortune | postwire post -": "What another command prints"
    }
  )
)

type Flags = Command.Command.Config.Infer<typeof flags>

const run = Effect.fnUntraced(function*(flags: Flags) {
  const { alt, json, maxWeight: maximum, media, wire } = flags
  yield* checkAlt(media, alt)
  const text = yield* textOf(flags)
  if (text === "" && media.length === 0 && flags.mediaId.length === 0) {
    return yield* ErrorReport.refuse(
      "There is no text",
      "Write one, - to read it from standard input, or pass --media."
    )
  }
  yield* PostFlags.checkText(text, maximum, {
    subject: "The text",
    advice: (excess) =>
      `Shorten it by ${excess}, or post it in parts: postwire thread ${
        flags.text._tag === "Some" && flags.text.value === TextFile.standardInput ? "-" : "FILE"
      } --split`
  })
  const post = {
    ...(text === "" ? {} : { text }),
    media: media.map((path, i) => ({ file: FileSource.file(path), alt: alt[i] || undefined })),
    media_ids: flags.mediaId.length === 0 ? undefined : flags.mediaId,
    poll: flags.poll.length === 0 ? undefined : { options: flags.poll, duration_minutes: flags.pollMinutes },
    in_reply_to_post_id: Option.getOrUndefined(flags.replyTo),
    quote_post_id: Option.getOrUndefined(flags.quote)
  }
  const progress = yield* UploadProgress.make
  const posted = yield* Connection.use(
    flags,
    wire,
    ({ userAuth }) =>
      publish(post, { maxWeight: maximum, user_auth: userAuth, onProgress: PostFlags.uploadsOf(progress) }).pipe(
        Effect.ensuring(Effect.sync(progress.end)),
        ErrorReport.inFlags((parameter) => PostFlags.subjectOf(parameter, media, parametersOfFlags))
      )
  )
  yield* Report.print(json, posted, () => [posted.id])
  const names = media.map((path) => basename(path)).join(", ")
  yield* Report.say(`Posted${names === "" ? "" : `, with ${names}`}.`)
})

const parametersOfFlags = {
  media_ids: "--media-id",
  media: "--media",
  "poll.duration_minutes": "--poll-minutes",
  poll: "--poll",
  in_reply_to_post_id: "--reply-to",
  quote_post_id: "--quote",
  text: "The text"
}

/** Files and alt texts are matched by their order. */
const checkAlt = (media: ReadonlyArray<string>, alt: ReadonlyArray<string>) =>
  alt.length === 0 || alt.length === media.length ? Effect.void : ErrorReport.refuse(
    `There are ${media.length} --media and ${alt.length} --alt`,
    "Write one --alt for each --media, in their order; --alt '' where a file has none."
  )

/** The text without the trailing line break that commands and editors add. */
const textOf = Effect.fnUntraced(function*({ text }: Flags) {
  const given = Option.getOrElse(text, () => "")
  return given === TextFile.standardInput ? (yield* TextFile.read(given)).trimEnd() : given
})
