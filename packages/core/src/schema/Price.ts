/** Which row of `Prices` an operation falls under. */

/** What is charged per resource in an answer. */
export type ReadRow =
  | "post"
  | "user"
  | "dmEvent"
  | "followingOrFollower"
  | "list"
  | "space"
  | "community"
  | "note"
  | "like"
  | "mute"
  | "block"
  | "profileUpdate"

/** What is charged per request. */
export type RequestRow =
  | "postCreate"
  | "postCreateWithUrl"
  | "postCreateSummoned"
  | "dmInteractionCreate"
  | "userInteractionCreate"
  | "interactionDelete"
  | "contentManage"
  | "listCreate"
  | "listManage"
  | "bookmark"
  | "mediaMetadata"
  | "privacyUpdate"
  | "muteDelete"
  | "countsRecent"
  | "countsAll"
  | "trends"

/** Which row of the prices an operation falls under. */
export type Price =
  | "free"
  /** Each resource of the answer. `owned`: at the price of owned reads, where the owner of the app reads what is theirs. */
  | { readonly read: ReadRow; readonly owned?: true }
  /** Each request. `withUrl`: the row of one that has a link. */
  | { readonly request: RequestRow; readonly withUrl?: RequestRow }

/** What every request of an operation has in common, as far as its price goes. */
export interface Priced {
  readonly price: Price
  /** The most items of an answer to a request that says nothing of them. */
  readonly items: number
}
