/** Parts of messages that several errors have. */

/** The detail that a service or the system gave, in parentheses. */
export const saidOf = ({ detail }: { readonly detail?: string | undefined }): string =>
  detail === undefined ? "" : ` (${detail.replace(/\.$/, "")})`

/** The fault of a token store or a journal. */
export type StorageFault =
  /** Another process has held its lock for too long. */
  | "locked"
  /** It is not there, or cannot be reached. */
  | "unavailable"
  /** It cannot be written, or not be read, by this user. */
  | "forbidden"
  /** Other users of the machine may read or change it. */
  | "exposed"
  /** There is no room left. */
  | "full"
  /** Its contents cannot be read. */
  | "damaged"
  /** Its contents are of a later version of Postwire. */
  | "newer"

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

const commonAdvice = {
  unavailable: "Check its place and that it can be reached.",
  forbidden: "Give this user the right to read and write it.",
  full: "Make room, then try again: nothing was lost.",
  newer: "Update Postwire."
}

/** Advice for the faults that a kind of storage has its own for. */
export type Advice = Readonly<Record<Exclude<StorageFault, keyof typeof commonAdvice>, string>>

/** The advice for a fault. */
export const adviceOf = (fault: StorageFault, advice: Advice): string => ({ ...commonAdvice, ...advice })[fault]

interface Failed {
  readonly fault: StorageFault
  readonly action: keyof typeof actions
  readonly detail?: string | undefined
  readonly advice: string
}

/** The message of an error of storage. */
export const messageOf = (what: string, failed: Failed): string =>
  `${what} cannot be ${actions[failed.action]}: it is ${faults[failed.fault]}${saidOf(failed)}. ${failed.advice}`
