/** The display of uploaded media. */
import type { UploadedMedia } from "@postwire/core/media/Upload"
import * as Text from "../terminal/Text.ts"

/** The media's type, size, purpose and expiry. */
export const describe = ({ category, expiresAt, size, type }: UploadedMedia, now: number): string => {
  const until = expiresAt === undefined ? "" : `; use it within ${Text.duration((expiresAt.getTime() - now) / 1000)}`
  return `${type}, ${Text.size(size)}, as ${category}${until}`
}
