/** The items of a conversation. */

/** A file of a message. */
export interface ChatMedia {
  readonly mediaHashKey: string
  readonly filename: string | undefined
  readonly width: number | undefined
  readonly height: number | undefined
  /** The size of the file in bytes. */
  readonly size: number | undefined
}

/** A message whose signature verified, or an old direct message, which has no signature. */
export interface Message {
  readonly kind: "message"
  /** Made and signed by the sender; the id of the event for a direct message. */
  readonly id: string
  /** Assigned by the service. */
  readonly sequenceId: string
  readonly conversation: string
  readonly senderId: string
  readonly createdAt: Date
  readonly text: string
  /** True if the sender has edited it: `text` is the latest. */
  readonly edited: boolean
  /** The message that this one answers. The quoted text is absent if it does not match what was signed. */
  readonly replyTo: { readonly sequenceId: string; readonly text: string | undefined } | undefined
  readonly media: ReadonlyArray<ChatMedia>
  /** `dm` for an old direct message, which is not encrypted. */
  readonly source: "chat" | "dm"
  /** The version of the conversation's key that it is encrypted with. */
  readonly keyVersion: string | undefined
  /** The signed event, for replies. */
  readonly event: string | undefined
}

/** An edit of a message that is not among those that were read, or a live one. */
export interface Edit {
  readonly kind: "edit"
  readonly id: string
  /** The edited message. */
  readonly sequenceId: string
  readonly conversation: string
  readonly senderId: string
  readonly createdAt: Date
  readonly text: string
}

/** A place where there is a message that cannot be shown. What it says of itself is not verified. */
export interface Tombstone {
  readonly kind: "tombstone"
  readonly sequenceId: string
  readonly conversation: string
  readonly createdAt: Date | undefined
  /**
   * `unverified`: its signature does not verify, and never will. `no key`: this user has no key for it. `deleted`: its sender has
   * deleted it. `unknown`: of a type that this version does not know.
   */
  readonly reason: "unverified" | "no key" | "deleted" | "unknown"
}

/** An item of a conversation. */
export type Item = Message | Edit | Tombstone
