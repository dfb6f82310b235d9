/** `postwire demo`: exports every match of a search from a local service. */
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import * as Seed from "@postwire/sandbox/Seed"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import * as Args from "../terminal/Args.ts"
import * as Progress from "../terminal/Progress.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

/** The code of the export, for display; a test compares it with the lines below. */
export const shown = [
  "const pages = searchRecentPosts.pages({ query, max_results: 100, post_fields })",
  "const lines = pages.pipe(Stream.tap(report), Stream.map(toLines))",
  "yield* Stream.run(Stream.encodeText(lines), fs.sink(file))"
]

const post_fields = ["created_at", "author_id", "lang", "public_metrics"] as const

/** The window of recent search, in milliseconds. */
const window = 7 * 86_400_000

interface Summary {
  readonly posts: number
  readonly pages: number
  readonly seconds: number
  readonly newest: string | undefined
  readonly oldest: string | undefined
}

/** Exports every match of a recent search, one post per line. */
const exportSearch = Effect.fnUntraced(function*(query: string, file: string) {
  const fs = yield* FileSystem.FileSystem
  const progress = yield* Progress.make({ elsewhere: "often" })
  const start = yield* Clock.currentTimeMillis
  const begun = yield* Monotonic.millis
  let summary: Summary = { posts: 0, pages: 0, seconds: 0, newest: undefined, oldest: undefined }

  const report = (page: Page) => {
    const { data = [], rateLimit } = page
    const oldest = data.at(-1)?.created_at ?? summary.oldest
    summary = {
      ...summary,
      posts: summary.posts + data.length,
      pages: summary.pages + 1,
      newest: summary.newest ?? data[0]?.created_at,
      oldest
    }
    // Results come newest first, so the time of the last one shows the progress.
    const done = page.meta.next_token === undefined
      ? 1
      : oldest === undefined
      ? 0
      : (start - Date.parse(oldest)) / window
    return progress.update({
      done,
      posts: summary.posts,
      pages: summary.pages,
      requests: rateLimit === undefined ? summary.pages : rateLimit.limit - rateLimit.remaining,
      remaining: rateLimit?.remaining
    })
  }

  const pages = searchRecentPosts.pages({ query, max_results: 100, post_fields })
  const lines = pages.pipe(Stream.tap(report), Stream.map(toLines))
  yield* Stream.run(Stream.encodeText(lines), fs.sink(file))

  yield* progress.end
  return { ...summary, seconds: ((yield* Monotonic.millis) - begun) / 1000 }
})

const toLines = ({ data = [] }: { readonly data: ReadonlyArray<unknown> | undefined }): string =>
  data.map((post) => `${JSON.stringify(post)}\n`).join("")

type Page = Stream.Success<ReturnType<typeof searchRecentPosts.pages<{ readonly post_fields: typeof post_fields }>>>

/** Starts the service, runs the export and shows the result. */
const run = Effect.fnUntraced(
  function*(options: { readonly query: string; readonly posts: number; readonly out: string }) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const database = path.join(options.out, "sandbox.sqlite")
    const file = path.join(options.out, `${options.query.replace(/[^\p{L}\p{N}]+/gu, "-")}.jsonl`)
    yield* fs.makeDirectory(options.out, { recursive: true })
    // Every run starts with the same data.
    yield* Effect.forEach(["", "-shm", "-wal"], (suffix) => fs.remove(database + suffix, { force: true }))

    yield* Report.lines("Starting a local service (real HTTP, real authentication, SQLite) ...")
    yield* Effect.gen(function*() {
      const { baseUrl, seeded } = yield* Sandbox.Sandbox
      yield* Report.lines(
        `  ${baseUrl} holds ${Text.quantity(seeded.posts, "posts")} by ${
          Text.quantity(seeded.users, "users")
        } (${database})`
      )
      yield* Report.lines(`Exporting every post of the last seven days that matches "${options.query}" ...`)
      const client = Client.layer({ baseUrl }).pipe(
        Layer.provide([
          Credentials.layer({ bearerToken: seeded.appBearerToken }),
          UndiciHttpClient.layer()
        ])
      )
      const summary = yield* exportSearch(options.query, file).pipe(Effect.provide(client))
      const { size } = yield* fs.stat(file)
      yield* Report.lines(
        "",
        `${file}: ${Text.quantity(summary.posts, "posts")}, one a line, ${Text.size(Number(size))}`,
        `  from ${summary.oldest ?? "-"} to ${summary.newest ?? "-"}, newest first`,
        `  ${Text.quantity(summary.pages, "pages")} in ${summary.seconds.toFixed(1)} s`,
        `  with id, text, ${post_fields.join(", ")}`,
        "",
        "These three lines did it (report draws the bar, toLines is JSON.stringify):",
        "",
        ...shown.map((line) => ` ${line}`),
        ""
      )
    }).pipe(Effect.provide(Sandbox.layerServer({ file: database, posts: options.posts })))
  }
)

export const command = Command.make(
  "demo",
  {
    query: Flag.String("query").pipe(Args.withDefault("What to search for", "effect")),
    posts: Flag.Int("posts").pipe(
      Flag.filter(Seed.isSize, () => Seed.size),
      Args.withDefault("Posts in the local service", 25_500)
    ),
    out: Flag.String("out").pipe(Args.withDefault("Folder for the results", "out"))
  },
  run
).pipe(Args.help("Run the main job: a real export, from a local service.", lines.demo))
