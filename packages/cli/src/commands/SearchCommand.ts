/** `postwire search WORDS`: full-text search in a copy. */
import * as Search from "@postwire/archive/look/Search"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Target from "../archive/Target.ts"
import * as Args from "../terminal/Args.ts"
import * as Report from "../terminal/Report.ts"
import { Terminal } from "../terminal/Terminal.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

export const command = Command.make(
  "search",
  {
    words: Argument.String("words").pipe(
      Argument.withDescription("Words that the text has; '\"a phrase\"' in this order, begin* for beginnings"),
      Argument.atLeast(1)
    ),
    ...Target.flags,
    messages: Args.toggle("messages", "Search messages, not posts"),
    from: Args.text("from", "Only texts of this user: a username with @, or an id", "USER"),
    since: Flag.Date("since").pipe(Args.optional("Only texts since this time, ISO 8601")),
    limit: Args.int("limit", 1).pipe(Args.withDefault("The most to show", 20)),
    json: Report.json
  },
  Effect.fnUntraced(function*({ from, json, limit, messages, since, words, ...flags }) {
    const { layer } = yield* Target.reader(flags)
    const found = yield* Search.find({
      words: words.join(" "),
      in: messages ? "messages" : "posts",
      from: Option.getOrUndefined(from),
      since: Option.getOrUndefined(since)?.toISOString(),
      limit
    }).pipe(Effect.provide(layer))
    const { output } = yield* Terminal
    yield* Report.print(
      json,
      found,
      () => found.length === 0 ? ["Nothing found."] : found.flatMap((item) => linesOf(item, output.columns))
    )
  })
).pipe(Args.help("Search the texts of a copy, newest first.", lines.search, {
  "postwire search effect typescript": "Posts with both words",
  "postwire search '\"structured concurrency\"' --from @ada --since 2026-01-01": "A phrase, by one user",
  "postwire search 'meet*' --messages": "Messages with a word that begins so"
}))

/** A post or a message: a line about it, and its text. */
const linesOf = ({ author_id, created_at, gone, id, likes, text, username }: Search.Found, columns: number) => [
  [
    Text.minute(created_at ?? ""),
    username === null ? author_id ?? "" : `@${username}`,
    id,
    ...likes === null ? [] : [Text.quantity(likes, "likes")],
    ...gone === null ? [] : [gone]
  ].map(Text.oneLine).join("  "),
  ...Text.wrap(Text.oneLine(text ?? ""), columns - 2).map((line) => `  ${line}`)
]
