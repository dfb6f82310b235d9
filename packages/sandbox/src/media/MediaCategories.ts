/** Media categories: storage, limits and purpose. */
import type { MediaType } from "@postwire/core/media/MediaFile"
import { isCategory, type Limits, limits, type MediaCategory, type Purpose } from "@postwire/core/media/MediaRules"
import type * as Attachments from "../store/Attachments.ts"

export interface Category {
  readonly name: MediaCategory
  readonly limits: Limits
  /** The kind and purpose of media in posts and messages; undefined for subtitles. */
  readonly shown?: {
    readonly as: Attachments.MediaType
    /** The prefix of media keys. */
    readonly number: number
    readonly purpose: Purpose
  }
}

const image = (purpose: Purpose) => ({ limits: limits.image, shown: { as: "photo", number: 3, purpose } } as const)

const gif = (purpose: Purpose) => ({ limits: limits.gif, shown: { as: "animated_gif", number: 16, purpose } } as const)

const video = (purpose: Purpose, number = 7) =>
  ({ limits: limits.video, shown: { as: "video", number, purpose } }) as const

const categories: { readonly [Name in MediaCategory]: Omit<Category, "name"> } = {
  tweet_image: image("post"),
  tweet_gif: gif("post"),
  tweet_video: video("post"),
  amplify_video: video("post", 13),
  dm_image: image("directMessage"),
  dm_gif: gif("directMessage"),
  dm_video: video("directMessage"),
  subtitles: { limits: limits.subtitles }
}

export const named = (name: string): Category | undefined =>
  isCategory(name) ? { name, ...categories[name] } : undefined

/** The canonical name of a type. */
export const typeOf = (name: string): string => name === "image/pjpeg" ? "image/jpeg" : name

/** The key of media; undefined for subtitles. */
export const keyOf = ({ shown }: Category, id: string): string | undefined => shown && `${shown.number}_${id}`

/** True if bytes of one type may be declared as the other: both are the same container format. */
export const isAlike = (announced: string, found: MediaType): boolean =>
  announced === found || (boxes.includes(announced) && boxes.includes(found))

const boxes: ReadonlyArray<string> = ["video/mp4", "video/quicktime"]
