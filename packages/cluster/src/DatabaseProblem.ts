/**
 * Problems of a database or a disk, in actionable words: from the codes of PostgreSQL, SQLite and the system, anywhere among the
 * causes of an error.
 */
import type { StorageFault } from "@postwire/core/errors/Errors"
import * as Predicate from "effect/Predicate"
import { isSqlError } from "effect/sql/SqlError"

/** A problem and its remedy. */
export interface DatabaseProblem {
  readonly reason: string
  readonly advice: string
  /** The fault of a token store with this problem. Default: it is unavailable. */
  readonly fault?: StorageFault
}

/** The problem behind an error; `undefined` if its codes are unknown. */
export const of = (error: unknown, isDatabase = false): DatabaseProblem | undefined => {
  if (!Predicate.isObject(error)) return undefined
  const { cause, code, errcode }: Coded = error
  const inDatabase = isDatabase || isSqlError(error)
  const own = typeof errcode === "number"
    ? sqlite[errcode & 0xff]
    : typeof code === "number"
    ? sqlite[code & 0xff]
    : typeof code === "string"
    ? postgres[code] ?? postgres[code.slice(0, 2)] ?? system[code] ?? (inDatabase ? network[code] : undefined)
    : undefined
  return own ?? of(cause, inDatabase)
}

interface Coded {
  readonly cause?: unknown
  /** An SQLSTATE, a code of the system, or SQLite's own number. */
  readonly code?: unknown
  /** SQLite's own number, from Node. */
  readonly errcode?: unknown
}

const full: DatabaseProblem = {
  reason: "The disk is full",
  advice: "Make room there; nothing that was kept is lost.",
  fault: "full"
}
const readOnly: DatabaseProblem = { reason: "The disk is read-only", advice: "Name a place that can be written to." }
const broken: DatabaseProblem = {
  reason: "The disk cannot be read or written",
  advice: "Look at the disk and at the log of the system."
}
const locked: DatabaseProblem = {
  reason: "Another process holds the database",
  advice: "Wait for it to end, or end it."
}
const damaged: DatabaseProblem = {
  reason: "The database is damaged",
  advice: "Put a copy of it in its place, or name another one."
}
const refused: DatabaseProblem = {
  reason: "The database does not accept the user or the password",
  advice: "Correct them in the address of the database.",
  fault: "forbidden"
}
const unreachable: DatabaseProblem = {
  reason: "The database does not answer",
  advice: "See that it runs, and that its address is right."
}
const starting: DatabaseProblem = {
  reason: "The database is starting or ending",
  advice: "Wait a moment, then look at its log."
}

/** By SQLSTATE, or by the class of one. */
const postgres: Readonly<Record<string, DatabaseProblem>> = {
  "08": unreachable,
  "28": refused,
  "25006": {
    reason: "The database only reads, as a standby does",
    advice: "Give the address of the primary.",
    fault: "forbidden"
  },
  "3D000": { reason: "There is no such database", advice: "Make it with createdb, or correct the address." },
  "42501": {
    reason: "The user may not do this in the database",
    advice: "GRANT CREATE ON SCHEMA public, or give it a database of its own.",
    fault: "forbidden"
  },
  "42P01": { reason: "Tables of the database are missing", advice: "Put them back, or use another database." },
  "53100": { ...full, reason: "The disk of the database is full" },
  "53200": { reason: "The database has no memory left", advice: "Give it more, or end some of its clients." },
  "53300": {
    reason: "The database takes no more connections",
    advice: "Raise max_connections, or end some of its clients; every worker takes up to ten."
  },
  "57P01": starting,
  "57P02": starting,
  "57P03": starting,
  "58030": { ...broken, reason: "The database cannot read or write its disk" },
  XX001: damaged,
  XX002: damaged
}

/** By SQLite's primary code. */
const sqlite: Readonly<Record<number, DatabaseProblem>> = {
  5: locked,
  6: locked,
  8: { ...readOnly, reason: "The database is read-only" },
  10: broken,
  11: damaged,
  13: full,
  14: {
    reason: "The database cannot be opened",
    advice: "Name a file in a folder that exists and that you may write to."
  },
  26: { reason: "The file is no database", advice: "Name another file." }
}

/** By the code of the system. */
const system: Readonly<Record<string, DatabaseProblem>> = {
  EACCES: { reason: "There is no right to do this", advice: "Name a place that you may write to." },
  EDQUOT: { ...full, reason: "The quota of the disk is used up" },
  EFBIG: { ...full, reason: "The file is as large as the system allows" },
  EIO: broken,
  EMFILE: { reason: "Too many files are open", advice: "Raise the limit with ulimit -n." },
  ENFILE: { reason: "Too many files are open", advice: "Raise the limit of the system, or end other programs." },
  ENOSPC: full,
  EPERM: { reason: "There is no right to do this", advice: "Name a place that you may write to." },
  EROFS: readOnly
}

/** By the code of the system, for a database that could not be reached. */
const network: Readonly<Record<string, DatabaseProblem>> = {
  EAI_AGAIN: unreachable,
  ECONNREFUSED: unreachable,
  ECONNRESET: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ENOTFOUND: unreachable,
  ETIMEDOUT: unreachable
}
