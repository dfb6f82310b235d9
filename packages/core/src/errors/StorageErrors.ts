/** The error of token stores and journals, re-exported by `Errors`. */
import * as Data from "effect/Data"
import { brand } from "../internal/errorBrand.ts"
import { saidOf } from "./internal/messages.ts"

/** The fault of a token store or a journal. */
export type StorageFault =
  /** Another process has held its lock for too long, or this one has lost it. */
  | "locked"
  /** It does not exist, or cannot be reached. */
  | "unavailable"
  /** This user may not read or write it. */
  | "forbidden"
  /** Other users of the machine may read the token store, or change the journal. */
  | "exposed"
  /** There is no room left. */
  | "full"
  /** Its contents cannot be read. */
  | "damaged"
  /** Its contents are of a later version of Postwire. */
  | "newer"

/** A token store, or the journal of uploads and threads, could not be read, written or locked. Its contents are unchanged. */
export class StorageFailure extends Data.TaggedError("StorageFailure")<{
  readonly kind: "token store" | "journal"
  /** The location: a file, or an address without its password. */
  readonly place: string
  readonly fault: StorageFault
  /** The action that failed. */
  readonly action: "read" | "write" | "lock"
  /** The detail that the system gave. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    const { action, fault, kind, place } = this
    return `The ${kind} ${place} cannot be ${actions[action]}: it is ${faults[fault]}${saidOf(this)}. ${this.advice}`
  }
  get advice(): string {
    return (this.kind === "journal" ? journalAdvice[this.fault] : undefined) ?? advices[this.fault]
  }
}

const actions = { read: "read", write: "written", lock: "locked" } as const

const faults: Readonly<Record<StorageFault, string>> = {
  locked: "locked",
  unavailable: "unavailable",
  forbidden: "not ours to use",
  exposed: "open to other users",
  full: "full",
  damaged: "damaged",
  newer: "of a later version"
}

const advices: Readonly<Record<StorageFault, string>> = {
  locked: "Another process keeps it locked: wait for it, or end it.",
  unavailable: "Check its place and that it can be reached.",
  forbidden: "Give this user the right to read and write it.",
  exposed: "If others may have read it, sign in again with postwire login.",
  full: "Make room, then try again: nothing was lost.",
  damaged: "Sign in again with postwire login, which replaces it.",
  newer: "Update Postwire."
}

const journalAdvice: { readonly [fault in StorageFault]?: string } = {
  exposed: "Make sure that no other user has changed it.",
  damaged: "Remove it to start over."
}

brand([StorageFailure])
