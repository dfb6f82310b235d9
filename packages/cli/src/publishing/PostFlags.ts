/** Flags and checks that posts and threads share. */
import type { Progress } from "@postwire/core/publishing/Publish"
import * as PostText from "@postwire/core/text/PostText"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { withDefault } from "../terminal/Defaults.ts"
import type { Subject } from "../terminal/ErrorReport.ts"
import * as Text from "../terminal/Text.ts"
import type * as UploadProgress from "./UploadProgress.ts"

/** `--reply-to ID`. */
export const replyTo = Flag.String("reply-to").pipe(
  Flag.withMetavar("ID"),
  Flag.withDescription("Reply to this post"),
  Flag.optional
)

/** `--max-weight`. */
export const maxWeight = Flag.Int("max-weight").pipe(
  Flag.filter((weight) => weight >= 1, () => "1 or more"),
  withDefault("The largest weight of a text; authors of longer posts may have more", PostText.maximumWeight)
)

/** A text is too long for a post. */
export class TextTooLong extends Schema.TaggedError<TextTooLong>()("TextTooLong", {
  /** The text's name, as the subject of a sentence. */
  subject: Schema.String,
  weight: Schema.Int,
  maximum: Schema.Int,
  /** The part that does not fit. */
  rest: Schema.String,
  advice: Schema.String
}) {
  override get message(): string {
    return `${this.subject} weighs ${Text.count(this.weight)}, and ${Text.count(this.maximum)} fit. The excess is ${
      JSON.stringify(this.rest)
    }`
  }
}

/** The most characters of it that are shown. */
const shown = 40

/** Refuses a text that is too long. */
export const checkText = (
  text: string,
  maximum: number,
  { advice, subject }: { readonly subject: string; readonly advice: (excess: number) => string }
): Effect.Effect<void, TextTooLong> => {
  const weight = PostText.length(text)
  return weight <= maximum ? Effect.void : Effect.fail(
    new TextTooLong({
      subject,
      weight,
      maximum,
      rest: Text.cut(Text.oneLine(text.slice(PostText.fittingUnits(text, maximum))), shown),
      advice: advice(weight - maximum)
    })
  )
}

/** The flag or file of a post's parameter. */
export const subjectOf = (
  parameter: string,
  files: ReadonlyArray<string>,
  flags: Readonly<Record<string, string>>
): Subject | undefined => {
  const [, index, member] = /^media\[(\d+)\]\.(\w+)/.exec(parameter) ?? []
  const file = files[Number(index)]
  if (file !== undefined) {
    return { name: member === "file" ? file : `The ${member} of ${file}`, isFile: member === "file" }
  }
  const [, flag] = Object.entries(flags).find(([name]) => parameter.startsWith(name)) ?? []
  return flag === undefined ? undefined : { name: flag, isFile: false }
}

/** Shows the uploads among the steps of publishing. */
export const uploadsOf = (bar: Effect.Success<typeof UploadProgress.make>) => (step: Progress): void => {
  if (step.phase === "upload" || step.phase === "processing") bar.update(step, `${step.part} ${step.file}`)
  else bar.end()
}
