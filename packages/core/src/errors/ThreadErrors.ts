/** What publishing a thread can fail with besides; programs find it in `Errors`. Apart from those, which every call brings along. */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"

/** Why it cannot be told whether a part was posted. */
export type UndecidedReason =
  /** The posts of the author could not be read. */
  | "unreadable"
  /** They could, but the part before is not among them yet. */
  | "lagging"
  /** There are too many of them to go through. */
  | "crowded"
  /** They do not show posts of this kind to everybody: promoted ones, those of a community, or for subscribers. */
  | "unlisted"
  /** The service accepted it, or refuses it as a duplicate, but it is not among them. */
  | "hidden"

const undecidedReasons: Readonly<Record<UndecidedReason, string>> = {
  unreadable: "the posts of the author cannot be read",
  lagging: "the posts of the author do not show the part before either",
  crowded: "the author has posted too much since then to go through",
  unlisted: "the posts of the author need not show it",
  hidden: "the service says so, but the posts of the author do not show it"
}

/**
 * A part of a thread may have been posted: its answer did not come, and the posts of the author do not tell. Nothing after it
 * was sent. The same call looks again; with `undecided` it decides.
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
  /** The user whose posts were looked at. */
  readonly authorId: string
  /** The post that the part replies to, where it replies to one. */
  readonly inReplyTo?: string | undefined
  /** How its text begins. */
  readonly text: string
  /** How often it was looked for. */
  readonly looks: number
  /** What stood in the way of looking. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    const reply = this.inReplyTo === undefined ? "" : `, in reply to ${this.inReplyTo}`
    const said = this.detail === undefined ? "" : ` (${this.detail.replace(/\.$/, "")})`
    return `Part ${this.part} of ${this.parts} of thread ${
      JSON.stringify(this.key)
    } may have been posted at ${this.sentAt.toISOString()}: ${undecidedReasons[this.reason]}${said}. Looked ${
      this.looks === 1 ? "once" : `${this.looks} times`
    } for a post of user ${this.authorId}${reply} that begins ${
      JSON.stringify(this.text)
    }. If it is not there, publish the thread again with undecided: "continue", which sends it; "abandon" ends the thread.`
  }
}

/** A part of a thread was deleted before the thread was finished: the next one has nothing to reply to. What else was posted stays. */
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
    } is gone: post ${this.id} was deleted, or is not visible to its author. Nothing can reply to it. ` +
      `Publish the thread anew under another key, or end it with undecided: "abandon".`
  }
}

brand([ThreadUndecided, ThreadBroken])
