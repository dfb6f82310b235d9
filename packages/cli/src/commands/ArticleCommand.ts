/** `postwire article`: creates the draft of an article from Markdown once, and publishes it. */
import { createArticle } from "@postwire/core/publishing/Article"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Connection from "../connection/Connection.ts"
import * as ArticleFile from "../publishing/ArticleFile.ts"
import * as UploadProgress from "../publishing/UploadProgress.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import { lines } from "./Lines.ts"

const flags = {
  file: Argument.String("file").pipe(
    Argument.withDescription("Markdown, with pictures as ![alt](file); - is standard input")
  ),
  title: Args.text("title", "The title (default: the heading at the beginning)", "TEXT"),
  cover: Args.text("cover", "A picture above the title", "FILE"),
  publish: Args.toggle("publish", "Publish it, now or in a later run"),
  dryRun: Args.toggle("dry-run", "Only check it and show what the service will show differently"),
  key: Args.text("key", "The key to continue with, or a new one for another article (default: from the file)", "KEY"),
  continue: Args.toggle("continue", "Send again what may have happened: the draft, or its publication"),
  draft: Args.text("draft", "Continue with this draft, which may have been created", "ID"),
  json: Report.json,
  wire: Connection.wire,
  ...Connection.flags
}

export const command = Command.make("article", flags, (given) => run(given)).pipe(
  Args.help(
    "Upload the pictures of a file of Markdown and create the draft of an article. Nothing reads a draft, so the journal remembers " +
      "it: the same command continues, and creates no second draft. What the service cannot show is listed.",
    lines.article,
    {
      "postwire article talk.md --dry-run": "Check the file, its pictures, and what the service will show differently",
      "postwire article talk.md": "Create the draft, and print its id",
      "postwire article talk.md --publish": "Publish it, and print the id of its post"
    }
  )
)

type Flags = Command.Command.Config.Infer<typeof flags>

const run = Effect.fnUntraced(function*(flags: Flags) {
  const { draft, dryRun, file, json, publish, wire } = flags
  yield* ErrorReport.oneOf({ "--dry-run": dryRun, "--publish": publish })
  yield* ErrorReport.oneOf({ "--continue": flags.continue, "--draft": Option.isSome(draft) })
  const read = yield* ArticleFile.read(flags)
  yield* ArticleFile.sayDifferences(read, file)
  const inFlags = ErrorReport.inFlags((parameter) => ArticleFile.subjectOf(parameter, file, read))
  if (dryRun) return yield* inFlags(ArticleFile.show(read, json))
  const bar = yield* UploadProgress.make
  const created = yield* Connection.use(
    flags,
    wire,
    ({ account, userAuth, variables }) =>
      createArticle(read.article, {
        key: Option.getOrElse(flags.key, () =>
          ArticleFile.keyOf(file, Option.getOrUndefined(account)?.name, read.article)),
        publish,
        undecided: flags.continue ? "continue" : undefined,
        article_id: Option.getOrUndefined(draft),
        user_auth: userAuth,
        onProgress: (step) =>
          bar.update(step, String(step.file))
      }).pipe(
        Effect.ensuring(Effect.sync(bar.end)),
        inFlags,
        ErrorReport.within({ resumable: "itself" }),
        Effect.provide(Connection.layerJournal(variables))
      )
  )
  const { article_id, post_id, resumed } = created
  yield* Report.print(json, created, () => [post_id ?? article_id])
  yield* post_id === undefined
    ? Report.say(
      `The draft ${resumed ? "was created before" : "is created"}: ${article_id}.`,
      "The same command with --publish publishes it."
    )
    : Report.say(`The article is published as post ${post_id}.`)
})
