/** What changing the members of a list takes, tells, gives and fails with. */
import type { CallOptions } from "../client/CallOptions.ts"
import type { OperationError, PaginationStuck } from "../errors/Errors.ts"
import type { JournalFailure } from "../errors/UploadErrors.ts"

/** A user: an id, or a username with or without `@`. A text of digits is an id; `@123` is a username. */
export type Wanted = string | number | bigint

/** What is planned of a list, or done to it, may be told. */
export interface PlanOptions extends Pick<CallOptions, "timeout" | "retries"> {
  /** Members who are not wished for stay. Default false: they are removed. */
  readonly keep?: boolean | undefined
  /** As `addListMember` has it; it holds for the reads too. */
  readonly user_auth?: boolean | undefined
}

/** What changing the members of a list may be told. */
export interface SyncOptions extends PlanOptions {
  /**
   * How many members may be removed; more are refused before any is. Default: half of them. A wish for nobody is refused unless
   * this says how many that may cost.
   */
  readonly maxRemovals?: number | undefined
  /** Called with every change. What it throws is ignored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** How it goes on. */
export interface Progress {
  /** How many changes were tried, of how many. */
  readonly done: number
  readonly of: number
  /** What became of the last one. */
  readonly last: Outcome
}

/** A user as far as known: whoever is on the list with both, whoever was wished for as wished for. */
export interface Member {
  readonly id?: string
  readonly username?: string
}

/**
 * Why a change was refused.
 *
 * - `blocked`: the user blocks the owner of the list.
 * - `unknown`: there is no such user.
 * - `suspended`, `protected`: the user is.
 * - `full`: the list has as many members as it may have.
 * - `failed`: the service failed twice.
 * - `refused`: the service says something else; `detail` has it.
 */
export type RefusalReason = typeof reasons[number]

/** Every reason. */
export const reasons = ["blocked", "unknown", "suspended", "protected", "full", "failed", "refused"] as const

/** A change that was refused. */
export interface Refusal {
  readonly reason: RefusalReason
  /** In the words of the service. */
  readonly detail?: string
}

/** What became of a user: added, removed, on the list already, kept although not wished for, or not changed. */
export interface Outcome extends Member {
  readonly became: "added" | "removed" | "there" | "kept" | "refused"
  /** Why not. */
  readonly refusal?: Refusal
}

/** What it takes to make the members of a list those that are wished for. */
export interface MembersPlan {
  readonly list: string
  /** How many members it has. */
  readonly members: number
  readonly remove: ReadonlyArray<Member>
  readonly add: ReadonlyArray<Member>
  /** Members who are wished for. */
  readonly there: ReadonlyArray<Member>
  /** Members who are not, and stay. */
  readonly kept: ReadonlyArray<Member>
  /** Usernames that the service does not know. */
  readonly unknown: ReadonlyArray<Outcome>
  /** How many of the changes an earlier call has made. */
  readonly done: number
  /** Requests that are left: one for each change. */
  readonly requests: number
  /** At least, in milliseconds. */
  readonly duration: number
}

/** What has become of a list. */
export interface SyncedMembers {
  readonly list: string
  readonly added: number
  readonly removed: number
  readonly there: number
  readonly kept: number
  readonly refused: number
  /** Of every user. */
  readonly outcomes: ReadonlyArray<Outcome>
  /** Whether some of it was done by an earlier call. */
  readonly resumed: boolean
}

/** What it can fail with. Whatever it is, the same call goes on. */
export type MembersError = OperationError | PaginationStuck | JournalFailure
