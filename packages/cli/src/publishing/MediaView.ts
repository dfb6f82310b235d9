/** Uploaded media as commands tell of it. */
import type { UploadedMedia } from "@postwire/core/media/Upload"
import * as Text from "../terminal/Text.ts"

/** Media in words: what it is, and until when it is good for a post. */
export const told = ({ category, expiresAt, size, type }: UploadedMedia, now: number): string => {
  const until = expiresAt === undefined ? "" : `; use it within ${Text.duration((expiresAt.getTime() - now) / 1000)}`
  return `${type}, ${Text.size(size)}, as ${category}${until}`
}
