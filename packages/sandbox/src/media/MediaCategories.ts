/** What a category of media means: how the service keeps it, what it may hold, and what it is for. */
import type { MediaType } from "@postwire/core/media/MediaFile"
import { isCategory, type Limits, limits, type MediaCategory, type Purpose } from "@postwire/core/media/MediaRules"
import type * as Attachments from "../store/Attachments.ts"

/** A category. */
export interface Category {
  readonly name: MediaCategory
  readonly limits: Limits
  /** What posts and messages show; nothing of subtitles. */
  readonly shown?: {
    readonly as: Attachments.MediaType
    /** What media keys begin with. */
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

/** The category of a name. */
export const named = (name: string): Category | undefined =>
  isCategory(name) ? { name, ...categories[name] } : undefined

/** A type as bytes tell it: one that has two names has one here. */
export const typeOf = (name: string): string => name === "image/pjpeg" ? "image/jpeg" : name

/** The key of media; none where nothing shows them. */
export const keyOf = ({ shown }: Category, id: string): string | undefined => shown && `${shown.number}_${id}`

/** Whether bytes that are of the one type may have been announced as of the other: both are boxes of the same kind. */
export const isAlike = (announced: string, found: MediaType): boolean =>
  announced === found || (boxes.includes(announced) && boxes.includes(found))

const boxes: ReadonlyArray<string> = ["video/mp4", "video/quicktime"]
