/** Errors of publishing a thread, re-exported by `Errors`. They are separate from the errors that every call needs. */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"
import { saidOf } from "./internal/messages.ts"

/** Why it is unknown whether a part was posted. */
export type UndecidedReason =
  /** The author's posts could not be read. */
  | "unreadable"
  /** They could be read, but the previous part is not among them yet. */
  | "lagging"
  /** There are too many of them to search. */
  | "crowded"
  /** The author's posts do not include this kind for everyone: promoted ones, those of a community, or for subscribers. */
  | "unlisted"
  /** The service accepted it, or refuses it as a duplicate, but it is not among them. */
  | "hidden"

const undecidedReasons: Readonly<Record<UndecidedReason, string>> = {
  unreadable: "the author's posts cannot be read",
  lagging: "the author's posts do not show the previous part either",
  crowded: "the author has posted too much since then to search",
  unlisted: "the author's posts may not include it",
  hidden: "the service reports it, but the author's posts do not show it"
}

/**
 * A part of a thread may have been posted: its response did not arrive, and the author's posts do not show it. Nothing after it
 * was sent. Call again to search again; pass `undecided` to settle it.
 */
export class ThreadUndecided extends Data.TaggedError("ThreadUndecided")<{
  readonly key: string
  /** Which part, from 1. */
  readonly part: number
  /** How many parts the thread has. */
  readonly parts: number
  readonly reason: UndecidedReason
  /** When it was sent. */
  readonly sentAt: Date
  /** The user whose posts were searched. */
  readonly authorId: string
  /** The post that the part replies to, if any. */
  readonly inReplyTo?: string | undefined
  /** How its text begins. */
  readonly text: string
  /** The number of searches. */
  readonly looks: number
  /** Why the last search failed. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    const reply = this.inReplyTo === undefined ? "" : `, in reply to ${this.inReplyTo}`
    return `Part ${this.part} of ${this.parts} of thread ${
      JSON.stringify(this.key)
    } may have been posted at ${this.sentAt.toISOString()}: ${undecidedReasons[this.reason]}${saidOf(this)}. Searched ${
      this.looks === 1 ? "once" : `${this.looks} times`
    } for a post of user ${this.authorId}${reply} that begins ${JSON.stringify(this.text)}. ${this.advice}`
  }
  get advice(): string {
    return `If it is not there, publish the thread again with undecided: "continue", which sends it; "abandon" ends the thread.`
  }
}

/** A part was deleted before the thread was complete, so that the next one has nothing to reply to. The other parts remain. */
export class ThreadBroken extends Data.TaggedError("ThreadBroken")<{
  readonly key: string
  /** Which part is gone, from 1. */
  readonly part: number
  readonly parts: number
  /** The id that it had. */
  readonly id: string
}> {
  override get message(): string {
    return `Part ${this.part} of ${this.parts} of thread ${
      JSON.stringify(this.key)
    } is gone: post ${this.id} was deleted, or is not visible to its author. Nothing can reply to it. ${this.advice}`
  }
  get advice(): string {
    return `Publish the thread again under another key, or end it with undecided: "abandon".`
  }
}

brand([ThreadUndecided, ThreadBroken])
