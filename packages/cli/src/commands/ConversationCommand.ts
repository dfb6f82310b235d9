/** `postwire conversation ID`: shows a conversation as a tree, or exports it. */
import * as PostText from "@postwire/core/text/PostText"
import {
  type Conversation,
  open,
  type Options,
  type Part,
  partsIn,
  treeOf
} from "@postwire/core/workflows/Conversation"
import * as Export from "@postwire/export/Export"
import * as ConversationSource from "@postwire/export/sources/Conversation"
import * as Plan from "@postwire/export/sources/Plan"
import type { Source } from "@postwire/export/sources/Source"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Connection from "../connection/Connection.ts"
import * as Spending from "../connection/Spending.ts"
import * as ConversationTree from "../conversation/ConversationTree.ts"
import * as ExportRun from "../exporting/ExportRun.ts"
import * as ExportTarget from "../exporting/ExportTarget.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import { Terminal } from "../terminal/Terminal.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

const flags = {
  post: Argument.String("id").pipe(
    Argument.withDescription("The id or the address of any post of the conversation"),
    Argument.map((text) => /^https?:\/\/\S+\/status\/(\d+)/.exec(text)?.[1] ?? text)
  ),
  archive: Args.toggle("archive", "Search the full archive, not the last seven days"),
  authors: Flag.Boolean("authors").pipe(
    Flag.withDefault(true),
    Flag.withDescription("Also read the authors of the posts; --no-authors costs less")
  ),
  ...ExportTarget.flags,
  out: Flag.String("out").pipe(
    Flag.withDefault(""),
    Flag.withMetavar("FILE"),
    Flag.withDescription("Write the posts to a file instead; - is standard output")
  ),
  json: Args.toggle("json", "Print the tree as JSON; with --out, the summary"),
  ...Spending.flags,
  wire: Connection.wire,
  ...Connection.flags
}

export const command = Command.make("conversation", flags, (given) => run(given)).pipe(
  Args.help(
    "Show a conversation as a tree: its first post and all replies that a search returns or that others reply to. Missing posts " +
      "are listed: deleted, protected, out of the search's reach. With --out it is exported to a file, resumably.",
    lines.conversation,
    {
      "postwire conversation 1460323737035677698": "The replies of the last seven days",
      "postwire conversation 1460323737035677698 --archive --out talk.csv --resume":
        "All of it into a file; run it again until it is done"
    }
  )
)

type Flags = Command.Command.Config.Infer<typeof flags>

const run = Effect.fnUntraced(function*(flags: Flags) {
  const { archive, authors, json, out, post, wire } = flags
  const options: Options = { archive, authors, post_fields: ["note_post"] }
  const inFlags = ErrorReport.inFlags((parameter) =>
    parameter === "id" ? { name: `The post ${Text.oneLine(post)}`, isFile: false } : undefined
  )
  if (out !== "") return yield* inFlags(toFile(flags, options))
  yield* checkTarget(flags)
  const conversation = yield* Effect.gen(function*() {
    const opened = yield* open(post, options)
    yield* confirmCost(flags, ConversationSource.of(opened, options))
    return treeOf(opened.id, yield* Stream.runCollect(Stream.map(partsIn(opened, options), withFullText)))
  }).pipe(inFlags, Connection.provide(flags, wire))
  const { output } = yield* Terminal
  yield* Report.print(json, conversation, () => ConversationTree.render(conversation, output.columns))
  yield* Effect.forEach(notesOf(conversation, archive), (note) => Report.say(note), { discard: true })
})

/** The part with the whole text of a long post in `text`. */
const withFullText = (part: Part): Part => {
  if (part._tag !== "Post") return part
  const { note_post, ...post } = part.post
  return { ...part, post: { ...post, text: PostText.full({ ...post, note_post }) } }
}

const checkTarget = (flags: Flags) => {
  const given = ExportTarget.ofFiles(flags)
  return given === undefined
    ? Effect.void
    : ErrorReport.refuse(`--${given} is for files`, "Name one with --out, or omit it.")
}

/** Counts the posts, and shows the cost. If they cannot be counted, they are read without an estimate. */
const confirmCost = Effect.fnUntraced(function*(flags: Flags, source: Source) {
  const estimate = yield* Effect.option(Plan.estimate(source))
  if (Option.isNone(estimate) || estimate.value.items === 0) return estimate
  yield* Spending.confirmCost(flags, Spending.priceOf(source, estimate.value))
  return estimate
})

const toFile = Effect.fnUntraced(function*(flags: Flags, options: Options) {
  const { post, wire } = flags
  const exportFlags = { ...flags, limit: Option.none(), partitions: Option.none() }
  const sink = yield* ExportTarget.sinkOf(exportFlags)
  yield* ExportRun.write(ConversationSource.definitionOf(options), exportFlags, (stop) =>
    Effect.gen(function*() {
      const source = yield* ConversationSource.make(post, options)
      let estimate: Option.Option<Plan.Estimate> = Option.none()
      return yield* ExportRun.show(
        exportFlags,
        {
          noun: "posts",
          estimated: () => estimate,
          confirmCost: Effect.fnUntraced(function*({ pages }) {
            if (pages === 0) estimate = yield* confirmCost(flags, source)
          })
        },
        (options) => Export.run(source, { ...options, sink, stop, fullText: true })
      )
    }).pipe(Connection.provide(flags, wire)))
})

const notesOf = ({ missing, nodes, outOfReach, posts }: Conversation, archive: boolean): ReadonlyArray<string> => {
  const reasons = new Map<string, number>()
  for (const { reason } of missing) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  const unseen = nodes.reduce((sum, node) => sum + node.unseen, 0)
  const why = [...reasons].map(([reason, count]) => `${Text.count(count)} ${reason}`).join(", ")
  return [
    `${Text.quantity(posts, "posts")}${missing.length === 0 ? "" : `; ${Text.count(missing.length)} missing: ${why}`}${
      unseen === 0 ? "" : `; the service counts ${Text.count(unseen)} more`
    }.`,
    ...outOfReach === undefined || archive ? [] : [
      `Posts from ${Text.minute(outOfReach.from)} to ${
        Text.minute(outOfReach.to)
      } are shown only if newer posts reply to them; --archive searches for them.`
    ]
  ]
}
