/** A journal of the program's own, whose methods return Promises: such as a table of its database or the storage of a page. */
import type { Entries } from "../storage/Journal.ts"
import * as OwnStorage from "./internal/ownStorage.ts"

/** The program's own store in which uploads and threads record their progress, by their keys. Its texts hold no secrets. */
export interface Journal extends OwnStorage.OwnStorage {}

/** True if a value has the methods of a journal. */
export const isJournal: (value: unknown) => value is Journal = OwnStorage.isOwnStorage

/** The journal for Effect. */
export const toEffect = (given: Journal): Entries =>
  OwnStorage.toEffect(given, "journal", (key) => `journal (key ${key})`)
