/** Journal records: JSON of the first version. An unreadable record is an error, not a missing one. */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { StorageFailure } from "../errors/StorageErrors.ts"
import type { Entries } from "./Journal.ts"
import { faultOf } from "./Version.ts"

/** Reads and writes records of one kind. */
export interface JournalRecord<in out A> {
  /** The record of a name, or `undefined`. */
  readonly read: (journal: Entries, name: string) => Effect.Effect<A | undefined, StorageFailure>
  /** Stores the record of a name. It is durable when this ends. */
  readonly write: (journal: Entries, name: string, record: A) => Effect.Effect<void, StorageFailure>
}

/** Records of a schema. */
export const make = <A extends { readonly version: 1 }>(schema: Schema.Codec<A, unknown>): JournalRecord<A> => {
  const text = Schema.fromJsonString(Schema.toCodecJson(schema))
  const decode = Schema.decodeUnknownEffect(text)
  const encode = Schema.encodeSync(text)
  return {
    read: (journal, name) =>
      Effect.flatMap(journal.read(name), (held) =>
        held === undefined
          ? Effect.undefined
          : Effect.mapError(
            decode(held),
            () =>
              new StorageFailure({
                kind: "journal",
                place: journal.describe(name),
                fault: faultOf(held, 1),
                action: "read"
              })
          )),
    write: (journal, name, record) => Effect.suspend(() => journal.write(name, encode(record)))
  }
}

/** A digest of a text: 32 digits of its SHA-256. */
export const digestOf = (text: string): string => bytesToHex(sha256(utf8ToBytes(text))).slice(0, 32)
