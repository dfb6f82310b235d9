/** Shows the progress of a thread, part by part, and its state when it ends or is interrupted. */
import type { Progress } from "@postwire/core/publishing/Publish"
import type { PublishedThread } from "@postwire/core/publishing/Thread"
import * as Effect from "effect/Effect"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import * as PostFlags from "./PostFlags.ts"
import * as UploadProgress from "./UploadProgress.ts"

export const make = Effect.fnUntraced(function*(parts: number) {
  const bar = yield* UploadProgress.make
  const speak = yield* Report.speaker
  const showUploads = PostFlags.uploadsOf(bar)
  /** The number of posted parts, as far as known. */
  let posted: number | undefined
  let last = ""
  let isSent = false
  const onProgress = (step: Progress) => {
    showUploads(step)
    if (step.phase === "upload" || step.phase === "processing") return
    // The parts before it are posted.
    if (posted === undefined) {
      posted = step.part - 1
      if (posted > 0) speak(`Resumed: ${posted} of ${Text.quantity(parts, "parts")} are posted already.`)
    }
    switch (step.phase) {
      case "looking":
        return speak(`It is unknown whether part ${step.part} was posted; looking for it.`)
      case "sending":
        isSent = true
        return
      case "posted":
        posted = step.part
        last = step.id
        return speak(`Part ${step.part} of ${parts} is posted: ${step.id}`)
    }
  }
  return {
    onProgress,
    end: bar.end,
    /** The number of posted parts; `undefined` if unknown. */
    posted: () => posted,
    /** Shows the state of a thread that is not complete. */
    sayWhereItStands: (goesOn: boolean) =>
      posted === undefined
        ? Effect.void
        : Report.say(
          `${posted} of ${Text.quantity(parts, "parts")} are posted${last === "" ? "" : `, the last one as ${last}`}.${
            goesOn ? " The same command continues." : ""
          }`
        ),
    sayHowItEnded: ({ abandoned, posts, resumed }: PublishedThread) =>
      abandoned
        ? Report.say(`The thread is kept as it is: ${posts.length} of ${Text.quantity(parts, "parts")} are posted.`)
        : resumed && !isSent && posted === undefined
        ? Report.say("The thread was posted before; nothing was sent.", "--again posts it again.")
        : Report.say(`The thread is posted: ${Text.quantity(parts, "parts")}.`)
  }
})
