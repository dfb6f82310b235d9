/** The row of `Prices` that an operation is charged by. */

/** Prices per resource in a response. */
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

/** Prices per request. */
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

/** The row of `Prices` that an operation is charged by. */
export type Price =
  | "free"
  /** No row of the list fits: the price is not known. It is counted, per request, only where the program states it. */
  | "unknown"
  /** Each resource of the response. `owned`: at the price of owned reads, where the owner of the app reads their own data. */
  | { readonly read: ReadRow; readonly owned?: true }
  /** Each request. `withUrl`: the row of a request with a link. */
  | { readonly request: RequestRow; readonly withUrl?: RequestRow }
  /** Each event, at the row of its type. */
  | { readonly event: true }

/** The price of every request of an operation. */
export interface Priced {
  readonly price: Price
  /** The most items of a response to a request without `max_results`. */
  readonly items: number
}
