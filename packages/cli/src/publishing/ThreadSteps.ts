/** How a thread is told of: part by part while it is posted, and what stands when it ends or is interrupted. */
import type { Progress } from "@postwire/core/publishing/Publish"
import type { PublishedThread } from "@postwire/core/publishing/Thread"
import * as Effect from "effect/Effect"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import * as PostFlags from "./PostFlags.ts"
import * as UploadProgress from "./UploadProgress.ts"

/** The steps of a thread of so many parts. */
export const make = Effect.fnUntraced(function*(parts: number) {
  const bar = yield* UploadProgress.make
  const speak = yield* Report.speaker
  const showUploads = PostFlags.uploadsOf(bar)
  /** How many parts are posted, as far as steps tell. */
  let posted: number | undefined
  let last = ""
  let isSent = false
  const onProgress = (step: Progress) => {
    showUploads(step)
    if (step.phase === "upload" || step.phase === "processing") return
    // Those before it are.
    if (posted === undefined) {
      posted = step.part - 1
      if (posted > 0) speak(`Resumed: ${posted} of ${Text.quantity(parts, "parts")} are posted already.`)
    }
    switch (step.phase) {
      case "looking":
        return speak(`It is not known whether part ${step.part} was posted; it is looked for.`)
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
    /** How many parts are posted; nothing where that is not known. */
    posted: () => posted,
    /** Says what stands of a thread that did not come to its end. */
    sayWhereItStands: (goesOn: boolean) =>
      posted === undefined
        ? Effect.void
        : Report.say(
          `${posted} of ${Text.quantity(parts, "parts")} are posted${last === "" ? "" : `, the last one as ${last}`}.${
            goesOn ? " The same command goes on." : ""
          }`
        ),
    sayHowItEnded: ({ abandoned, posts, resumed }: PublishedThread) =>
      abandoned
        ? Report.say(`The thread is left as it is: ${posts.length} of ${Text.quantity(parts, "parts")} are posted.`)
        : resumed && !isSent && posted === undefined
        ? Report.say("The thread was posted before; nothing was sent.", "--again posts it once more.")
        : Report.say(`The thread is posted: ${Text.quantity(parts, "parts")}.`)
  }
})
