/** `prepare_post`: checks a post, and shows exactly what `publish` would send, and its price. */
import { uploadMedia } from "@postwire/core/operations/Media"
import { createPost } from "@postwire/core/operations/Posts"
import * as Publish from "@postwire/core/publishing/Publish"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Prices from "@postwire/core/spend/Prices"
import * as PostText from "@postwire/core/text/PostText"
import * as Effect from "effect/Effect"
import { dollars } from "../money/Dollars.ts"
import { Refused } from "../money/Refused.ts"
import { Session } from "../session/Session.ts"
import * as Tool from "../session/Tool.ts"
import * as Fence from "../text/Fence.ts"
import type * as Book from "./Book.ts"
import * as Files from "./Files.ts"
import * as Host from "./Host.ts"

export const tool = Tool.make({
  name: "prepare_post",
  title: "Prepare a post",
  description:
    "Checks a post, reply or quote, shows exactly what would be posted and its price, and returns a handle for publish.",
  toolset: "writes",
  effect: "read",
  openWorld: false,
  operations: [createPost.definition, uploadMedia.definition],
  inputs: {
    text: Parameters.text(),
    reply_to: Parameters.id,
    quote: Parameters.id,
    media: Parameters.textArray({ minimum: 1, maximum: 4 }),
    alt: Parameters.textArray({ minimum: 1, maximum: 4 }),
    poll: Parameters.textArray({ minimum: 2, maximum: 4, each: 25 }),
    poll_minutes: Parameters.integer({ minimum: 5, maximum: 10_080 })
  },
  hints: {
    media: "Paths of files here",
    alt: "One for each of media",
    poll: "Its options",
    poll_minutes: "Default: 1440"
  },
  run: ({ alt = [], media = [], poll, poll_minutes = 1_440, quote, reply_to, text }) =>
    Effect.gen(function*() {
      if (alt.length > 0 && alt.length !== media.length) {
        return yield* new Refused({
          reason: `alt: there are ${alt.length} texts for ${media.length} files.`,
          advice: "Pass one for each of media, in their order."
        })
      }
      const { settings } = yield* Session
      const opened = yield* Effect.forEach(media, Files.open)
      const post: Book.Post = {
        _tag: "post",
        ...text !== undefined && { text },
        ...reply_to !== undefined && { in_reply_to_post_id: String(reply_to) },
        ...quote !== undefined && { quote_post_id: String(quote) },
        ...poll !== undefined && { poll: { options: poll, duration_minutes: poll_minutes } },
        media: opened.map(({ digest }, i) => ({
          path: media[i] ?? "",
          digest,
          ...alt[i] !== undefined && { alt: alt[i] }
        }))
      }
      const sources = opened.map(({ source }) => source)
      const { files, parameters } = yield* Publish.check(contentsOf(post, sources), { user_auth: settings.userAuth })
      const micros = Prices.most(createPost.definition, { text: "", ...parameters }, settings.prices)
      const lines = previewOf(post, files, micros, settings.account)
      return yield* Host.prepare({ of: "publish", micros, lines, action: post })
    })
})

/** A prepared post with its files, for the core. */
export const contentsOf = (
  { _tag, media, ...rest }: Book.Post,
  files: ReadonlyArray<Publish.Media["file"]>
): Publish.Post => ({
  ...rest,
  media: media.flatMap(({ alt }, i) => {
    const file = files[i]
    return file === undefined ? [] : [{ file, alt }]
  })
})

/** Everything that is posted, and where. */
const previewOf = (
  { in_reply_to_post_id: replyTo, media, poll, quote_post_id: quote, text }: Book.Post,
  files: Publish.CheckedPost["files"],
  micros: number,
  account: string | undefined
): ReadonlyArray<string> => [
  `${replyTo === undefined ? "A post" : `A reply to the post ${replyTo}`}${
    quote === undefined ? "" : ` that quotes the post ${quote}`
  }${account === undefined ? "" : `, as ${account}`}, for up to ${dollars(micros)}${
    text !== undefined && Prices.hasLink(text) ? " because it has a link" : ""
  }:`,
  ...text === undefined ? [] : [`text: ${Fence.exact(text)} (${PostText.length(text)} of ${PostText.maximumWeight})`],
  ...media.map(({ alt, digest, path }, i) =>
    `file: ${Fence.exact(path)} (${files[i]?.type}, ${files[i]?.size} bytes, SHA-256 ${digest.slice(0, 16)})${
      alt === undefined ? "" : `, alt: ${Fence.exact(alt)}`
    }`
  ),
  ...poll === undefined ? [] : [`poll for ${poll.duration_minutes} minutes: ${poll.options.map(Fence.exact).join(" ")}`]
]
