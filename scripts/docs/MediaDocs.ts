/** The limits of media for the guide, from the table with which files are checked. */
import { limits, typesOf } from "../../packages/core/src/media/MediaRules.ts"
import * as Members from "./Members.ts"

const MiB = 1_048_576

const { gif, image, perPost, video } = limits

const size = (sides: readonly [number, number] | undefined) => (sides ?? []).join("x")

/** A row for each rule that any kind of media has. */
export const table = (): string =>
  Members.table([`as of ${limits.asOf}`, "image", "animated GIF", "video"], [
    ["types", ...[image, gif, video].map(({ types }) => typesOf(types))],
    ["size", ...[image, gif, video].map(({ bytes = 0 }) => `${bytes / MiB} MiB`)],
    [
      "pixels",
      "",
      size(gif.largest),
      `${video.smallest}x${video.smallest} to ${size(video.largest)}, either way round`
    ],
    ["frames", "", `${gif.frames}, with ${gif.pixels?.toLocaleString("en")} pixels in all`, ""],
    ["duration", "", "", `${(video.shortestMillis ?? 0) / 1000} to ${(video.longestMillis ?? 0) / 1000} s`],
    ["aspect ratio", "", "", `1:${video.aspect} to ${video.aspect}:1`],
    ["in a post", ...[perPost.image, perPost.gif, perPost.video].map(String)]
  ])
