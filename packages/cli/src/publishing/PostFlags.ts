/** Flags and checks that posts and threads share. */
import type { Progress } from "@postwire/core/publishing/Publish"
import * as PostText from "@postwire/core/text/PostText"
import * as Effect from "effect/Effect"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Text from "../terminal/Text.ts"
import type * as UploadProgress from "./UploadProgress.ts"

export const replyTo = Args.text("reply-to", "Reply to this post", "ID")

export const maxWeight = Args.int("max-weight", 1).pipe(
  Args.withDefault("The largest weight of a text; authors of longer posts may have more", PostText.maximumWeight)
)

/** The most characters of it that are shown. */
const shown = 40

export const checkText = (
  text: string,
  maximum: number,
  { advice, subject }: { readonly subject: string; readonly advice: (excess: number) => string }
): Effect.Effect<void, ErrorReport.Failure> => {
  const weight = PostText.length(text)
  if (weight <= maximum) return Effect.void
  const rest = Text.cut(Text.oneLine(text.slice(PostText.fittingUnits(text, maximum))), shown)
  return ErrorReport.refuse(
    `${subject} weighs ${Text.count(weight)}, and ${Text.count(maximum)} fit. The excess is ${JSON.stringify(rest)}`,
    advice(weight - maximum)
  )
}

/** The flag or file of a post's parameter. */
export const subjectOf = (
  parameter: string,
  files: ReadonlyArray<string>,
  flags: Readonly<Record<string, string>>
): ErrorReport.Subject | undefined => {
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
