/** Parameters, options, progress, results and errors of synchronizing list members. */
import type { CallOptions } from "../client/CallOptions.ts"
import type { OperationError, PaginationStuck } from "../errors/Errors.ts"
import type { StorageFailure } from "../errors/StorageErrors.ts"

/** A user: an id, or a username with or without `@`. A text of digits is an id; `@123` is a username. */
export type Wanted = string | number | bigint

/** Options of a plan. */
export interface PlanOptions extends Pick<CallOptions, "timeout" | "retries"> {
  /** Keeps members who are not wanted. Default false: they are removed. */
  readonly keep?: boolean | undefined
  /** As in `addListMember`; applies to the reads too. */
  readonly user_auth?: boolean | undefined
}

/** Options of a sync. */
export interface SyncOptions extends PlanOptions {
  /**
   * Most members that may be removed; a plan with more is refused as a whole. Default: half of them, and none if no users are
   * wanted.
   */
  readonly maxRemovals?: number | undefined
  /** Called with every change. Its errors are ignored. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** The progress of a sync. */
export interface Progress {
  /** The number of changes tried, of `of`. */
  readonly done: number
  readonly of: number
  /** The outcome of the last change. */
  readonly last: Outcome
}

/** A user: a member with both properties, a wanted user as given. */
export interface Member {
  readonly id?: string
  readonly username?: string
}

/**
 * Why a change was refused.
 *
 * - `blocked`: the user blocks the owner of the list.
 * - `unknown`: there is no such user.
 * - `suspended`, `protected`: the account is.
 * - `full`: the list has as many members as it may have.
 * - `failed`: both attempts failed.
 * - `refused`: any other reason; see `detail`.
 */
export type RefusalReason = typeof reasons[number]

/** Every reason. */
export const reasons = ["blocked", "unknown", "suspended", "protected", "full", "failed", "refused"] as const

/** A change that was refused. */
export interface Refusal {
  readonly reason: RefusalReason
  /** The text of the service. */
  readonly detail?: string
}

/** The outcome for a user: added, removed, already a member, kept although not wanted, or refused. */
export interface Outcome extends Member {
  readonly became: "added" | "removed" | "present" | "kept" | "refused"
  /** The reason of a refusal. */
  readonly refusal?: Refusal
}

/** The changes that make the members of a list the wanted users. */
export interface MembersPlan {
  readonly list: string
  /** The number of members. */
  readonly members: number
  readonly remove: ReadonlyArray<Member>
  readonly add: ReadonlyArray<Member>
  /** Members who are wanted. */
  readonly present: ReadonlyArray<Member>
  /** Members who are not wanted and stay. */
  readonly kept: ReadonlyArray<Member>
  /** Usernames that the service does not know. */
  readonly unknown: ReadonlyArray<Outcome>
  /** The number of changes that an earlier call has made. */
  readonly done: number
  /** The requests that are left, one for each change. */
  readonly requests: number
  /** Least duration in milliseconds. */
  readonly duration: number
}

/** The result of a sync. */
export interface SyncedMembers {
  readonly list: string
  readonly added: number
  readonly removed: number
  readonly present: number
  readonly kept: number
  readonly refused: number
  /** The outcome for every user. */
  readonly outcomes: ReadonlyArray<Outcome>
  /** An earlier call has made some of the changes. */
  readonly resumed: boolean
}

/** The errors of a sync. After any of them the same call continues. */
export type MembersError = OperationError | PaginationStuck | StorageFailure
