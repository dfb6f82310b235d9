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

/** A message whose signature verified. */
export interface Message {
  readonly kind: "message"
  /** Made and signed by the sender. */
  readonly id: string
  /** Assigned by the service. */
  readonly sequenceId: string
  readonly conversation: string
  readonly senderId: string
  readonly createdAt: Date | undefined
  readonly text: string
  /** True if the sender has edited it: `text` is the latest. */
  readonly edited: boolean
  /** The message that this one answers. The quoted text is absent if it does not match what was signed. */
  readonly replyTo: { readonly sequenceId: string; readonly text: string | undefined } | undefined
  readonly media: ReadonlyArray<ChatMedia>
  /** The version of the conversation's key that it is encrypted with. */
  readonly keyVersion: string
  /** The signed event, for replies. */
  readonly event: string
  /** The signed change that brought its key, for replies with a later key. */
  readonly keyChange: string | undefined
}

/** An edit of a message that is not among those that were read, or a live one. It counts only if both have the same sender. */
export interface Edit extends Pick<Message, "id" | "conversation" | "senderId" | "createdAt" | "text"> {
  readonly kind: "edit"
  /** The edited message. */
  readonly sequenceId: string
}

/** A place where there is a message that cannot be shown. What it says of itself is not verified. */
export interface Tombstone {
  readonly kind: "tombstone"
  /** Undefined for a live one that does not show it. */
  readonly sequenceId: string | undefined
  readonly conversation: string
  readonly senderId: string | undefined
  readonly createdAt: Date | undefined
  /**
   * `unverified`: its signature does not verify, and never will. `changed keys`: its sender has keys that are not accepted. `no key`:
   * this user has no key for it. `deleted`: its sender has deleted it, or this user has. `unknown`: of a type that this version does
   * not know. `unavailable`: a live one, for which a lookup failed.
   */
  readonly reason: "unverified" | "changed keys" | "no key" | "deleted" | "unknown" | "unavailable"
  /** The error of the lookup of one that is unavailable. */
  readonly error?: Error | undefined
}

/** A direct message of the same two users, from before their chat was encrypted. It has no signature, so the service alone vouches for it. */
export interface DirectMessage extends Pick<Message, "conversation" | "senderId" | "createdAt" | "text"> {
  readonly kind: "direct message"
  /** The id of its event. */
  readonly sequenceId: string
}

/** An item of a conversation. */
export type Item = Message | Edit | Tombstone

/** An item, or a direct message. */
export type TimelineItem = Item | DirectMessage
