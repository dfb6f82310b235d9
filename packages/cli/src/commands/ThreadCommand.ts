/** `postwire thread`: posts a file as a thread, each part once. */
import { type PublishedThread, publishThread, type ThreadError } from "@postwire/core/publishing/Thread"
import * as Cause from "effect/Cause"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Connection from "../connection/Connection.ts"
import * as PostFlags from "../publishing/PostFlags.ts"
import * as ThreadKey from "../publishing/ThreadKey.ts"
import * as ThreadParts from "../publishing/ThreadParts.ts"
import * as ThreadSteps from "../publishing/ThreadSteps.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import { lines } from "./Lines.ts"

const flags = {
  file: Argument.String("file").pipe(
    Argument.withDescription("Markdown: parts between lines of ---, images as ![alt](file); - is standard input")
  ),
  key: Args.text(
    "key",
    "The key to continue with (default: from the file's name, its content and the account)",
    "KEY"
  ),
  dryRun: Args.toggle("dry-run", "Only check and show each part with its weight and its files"),
  number: Args.toggle("number", "Number the parts: 1/5 at the end of each"),
  split: Args.toggle("split", "Split parts that do not fit, between words"),
  continue: Args.toggle("continue", "Send a part that may have been posted already, and continue"),
  abandon: Args.toggle("abandon", "Keep a thread that cannot continue as it is: send nothing more"),
  again: Args.toggle(
    "again",
    "Start another thread, even if the file was posted or started before; after an interruption, it continues that one"
  ),
  replyTo: PostFlags.replyTo,
  maxWeight: PostFlags.maxWeight,
  json: Report.json,
  wire: Connection.wire,
  ...Connection.flags
}

export const command = Command.make("thread", flags, (given) => run(given)).pipe(
  Args.help(
    "Post a file as a thread, each part in reply to the one before, and print the ids. All parts and files are checked before " +
      "anything is sent. After an interruption, the same command continues; no part is posted twice.",
    lines.thread,
    {
      "postwire thread talk.md --dry-run": "Show the parts, their weights and files",
      "postwire thread talk.md": "Post them; run it again after an interruption",
      "postwire thread notes.txt --split --number": "Split a long text into numbered parts"
    }
  )
)

type Flags = Command.Command.Config.Infer<typeof flags>

const run = Effect.fnUntraced(function*(flags: Flags) {
  const { abandon, again, dryRun, file, json, key, wire } = flags
  yield* ErrorReport.oneOf({
    "--dry-run": dryRun,
    "--continue": flags.continue,
    "--abandon": abandon,
    "--again": again
  })
  yield* ErrorReport.oneOf({ "--key": Option.isSome(key), "--again": again })
  const parts = yield* ThreadParts.read(flags)
  if (dryRun) return yield* ThreadParts.show(parts, flags)
  const steps = yield* ThreadSteps.make(parts.length)
  const thread = yield* Connection.use(
    flags,
    wire,
    ({ account, userAuth, variables }) =>
      Effect.gen(function*() {
        const [first, ...others] = parts.map(ThreadParts.postOf)
        const posts = [{ ...first, in_reply_to_post_id: Option.getOrUndefined(flags.replyTo) }, ...others]
        const chosen = yield* ThreadKey.choose({
          file,
          account: Option.getOrUndefined(Option.map(account, ({ name }) => name)),
          content: JSON.stringify([Option.getOrNull(flags.replyTo), parts.map(({ images, text }) => [text, images])]),
          parts: parts.length,
          key,
          again,
          abandon
        })
        yield* chosen.note("begun", undefined)
        return yield* publishThread(posts, {
          key: chosen.key,
          undecided: flags.continue ? "continue" : abandon ? "abandon" : undefined,
          maxWeight: flags.maxWeight,
          user_auth: userAuth,
          onProgress: steps.onProgress
        }).pipe(
          Effect.ensuring(Effect.sync(steps.end)),
          Effect.onExit((exit) => {
            const state = stateAfter(exit)
            return Effect.andThen(
              chosen.note(state, steps.posted() ?? chosen.posted),
              state === "over" ? Effect.void : steps.sayWhereItStands(state !== "broken")
            )
          })
        )
      }).pipe(
        ErrorReport.inFlags((parameter) => ThreadParts.subjectOf(parameter, parts)),
        ErrorReport.within({ resumable: "itself" }),
        Effect.provide(Connection.layerJournal(variables))
      )
  )
  yield* Report.print(json, thread, () => thread.posts.map(({ id }) => id))
  yield* steps.sayHowItEnded(thread)
})

const stateAfter = (exit: Exit.Exit<PublishedThread, ThreadError>) => {
  if (Exit.isSuccess(exit)) return "over"
  const tag = Option.getOrUndefined(Cause.findErrorOption(exit.cause))?._tag
  return tag === "ThreadUndecided" ? "stuck" : tag === "ThreadBroken" ? "broken" : "begun"
}
