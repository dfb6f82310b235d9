/** `postwire thread`: posts a file as a thread, each part once. */
import { type PublishedThread, publishThread, type ThreadError } from "@postwire/core/publishing/Thread"
import * as Cause from "effect/Cause"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Connection from "../connection/Connection.ts"
import * as PostFlags from "../publishing/PostFlags.ts"
import * as ThreadKey from "../publishing/ThreadKey.ts"
import * as ThreadParts from "../publishing/ThreadParts.ts"
import * as ThreadSteps from "../publishing/ThreadSteps.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"

const flags = {
  file: Argument.String("file").pipe(
    Argument.withDescription("Markdown: parts between lines of ---, images as ![alt](file); - is standard input")
  ),
  key: Flag.String("key").pipe(
    Flag.withMetavar("KEY"),
    Flag.withDescription(
      "The key to continue with (default: from the file's name, its content and the account)"
    ),
    Flag.optional
  ),
  dryRun: Flag.Boolean("dry-run").pipe(
    Flag.withDescription("Only check and show each part with its weight and its files"),
    Flag.withDefault(false)
  ),
  number: Flag.Boolean("number").pipe(
    Flag.withDescription("Number the parts: 1/5 at the end of each"),
    Flag.withDefault(false)
  ),
  split: Flag.Boolean("split").pipe(
    Flag.withDescription("Split parts that do not fit, between words"),
    Flag.withDefault(false)
  ),
  continue: Flag.Boolean("continue").pipe(
    Flag.withDescription("Send a part that may have been posted already, and continue"),
    Flag.withDefault(false)
  ),
  abandon: Flag.Boolean("abandon").pipe(
    Flag.withDescription("Keep a thread that cannot continue as it is: send nothing more"),
    Flag.withDefault(false)
  ),
  again: Flag.Boolean("again").pipe(
    Flag.withDescription(
      "Start another thread, even if the file was posted or started before; after an interruption, it continues that one"
    ),
    Flag.withDefault(false)
  ),
  replyTo: PostFlags.replyTo,
  maxWeight: PostFlags.maxWeight,
  json: Report.json,
  wire: Connection.wire,
  ...Connection.flags
}

/** `postwire thread`. */
export const command = Command.make("thread", flags, (given) => run(given)).pipe(
  Command.withDescription(
    "Post a file as a thread, each part in reply to the one before, and print the ids. All parts and files are checked before " +
      "anything is sent. After an interruption, the same command continues; no part is posted twice."
  ),
  Command.withShortDescription("Post a file as a thread"),
  Command.withExamples([
    { command: "postwire thread talk.md --dry-run", description: "Show the parts, their weights and files" },
    { command: "postwire thread talk.md", description: "Post them; run it again after an interruption" },
    { command: "postwire thread notes.txt --split --number", description: "Split a long text into numbered parts" }
  ])
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
