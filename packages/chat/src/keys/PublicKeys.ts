/** Public keys of users, as the service has them. Those whose binding does not verify are ignored: they may be substituted. */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import { getUserPublicKeys } from "@postwire/core/operations/PublicKeys"
import type { SigningKeyEntry } from "@xdevplatform/chat-xdk"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Predicate from "effect/Predicate"
import { keysRefused } from "../errors/ChatErrors.ts"
import type { Library } from "../library/Library.ts"
import type { Parts } from "./Parts.ts"

/** The public keys of a user under one version. */
export interface Record extends SigningKeyEntry {
  /** The place of the backup of the private keys; in one's own record only. */
  readonly backup: unknown
  readonly fingerprint: string
}

/** Reads public keys and remembers them. */
export interface PublicKeys extends ReturnType<typeof make> {}

const rowsOf = (userId: string) =>
  getUserPublicKeys({
    id: userId,
    public_key_fields: ["identity_public_key_signature", "juicebox_config", "public_key", "signing_public_key"]
  }).pipe(
    Effect.map(({ data = [] }) => data),
    Effect.catchIf(Predicate.isTagged("NotFound"), () => Effect.succeed([]))
  )

/** Tests whether the service has keys of a user, verified or not. */
export const exist = (userId: string): Effect.Effect<boolean, AnyError, Client> =>
  Effect.map(rowsOf(userId), (rows) => rows.length > 0)

/** The records of a user at the service, the latest first. */
export const fetched = (
  library: Library,
  userId: string
): Effect.Effect<ReadonlyArray<Record>, AnyError, Client> =>
  rowsOf(userId).pipe(
    Effect.map((records) =>
      records.map((record) => ({
        userId,
        publicKeyVersion: record.public_key_version ?? "",
        publicKey: record.signing_public_key ?? "",
        identityPublicKey: record.public_key ?? "",
        identityPublicKeySignature: record.identity_public_key_signature ?? "",
        backup: record.juicebox_config
      })).filter((record) => isBound(library, record))
        .sort((a, b) => Number(b.publicKeyVersion) - Number(a.publicKeyVersion))
    ),
    Effect.flatMap(Effect.forEach((record) =>
      Effect.map(
        fingerprintOf(record.identityPublicKey, record.publicKey),
        (fingerprint): Record => ({ ...record, fingerprint })
      )
    ))
  )

/** The fingerprint of the loaded keys. */
export const ownFingerprint = (library: Library): Effect.Effect<string> =>
  Effect.suspend(() => {
    const { identity, signing } = library.getPublicKeys()
    return fingerprintOf(identity, signing)
  })

/**
 * The fingerprint of an identity key and a signing key together: the start of their SHA-256, in groups. The signature of a record
 * shows only that the signing key knows of the identity key, so that each alone may be another person's.
 */
const fingerprintOf = (identity: string, signing: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() =>
      globalThis.crypto.subtle.digest("SHA-256", Uint8Array.of(...pointOf(identity), ...pointOf(signing)))
    ),
    (hash) => Hex.encode(new Uint8Array(hash, 0, 16)).replaceAll(/(.{4})(?=.)/g, "$1 ")
  )

/** The point of a key, which the service precedes with 26 bytes that name the curve. */
const pointOf = (key: string): Uint8Array => {
  const bytes = Uint8Array.from(globalThis.atob(key), (char) => char.charCodeAt(0))
  return bytes.length === 91 ? bytes.subarray(26) : bytes
}

const isBound = (
  library: Library,
  { identityPublicKey, identityPublicKeySignature, publicKey }: Omit<Record, "fingerprint">
): boolean => {
  try {
    // Texts that only the library can decode have no fingerprint.
    for (const key of [identityPublicKey, publicKey]) pointOf(key)
    return library.verifyKeyBinding(identityPublicKey, publicKey, identityPublicKeySignature)
  } catch {
    return false
  }
}

/**
 * Public keys, as one chat has read them. They are trusted on first use: the store keeps the fingerprints of those that a user had
 * when they were first seen, and others count as changed until they are accepted. One's own are those that are or were loaded.
 */
export const make = ({ library, store, userId: self }: Parts) => {
  const known = new Map<string, { readonly accepted: ReadonlyArray<Record>; readonly isChanged: boolean }>()
  const load = Effect.fnUntraced(function*(userId: string, accept: boolean) {
    const records = yield* fetched(library, userId)
    const own = userId === self ? [yield* ownFingerprint(library)] : []
    const trusted = userId === self ? own : records.map(({ fingerprint }) => fingerprint)
    const pinned = [...own, ...yield* store.accepted("identities", userId, trusted, accept)]
    const accepted = records.filter(({ fingerprint }) => pinned.includes(fingerprint))
    const user = { accepted, isChanged: accepted[0] !== records[0] }
    if (records.length > 0) known.set(userId, user)
    return user
  })
  const of = (userId: string) => {
    const user = known.get(userId)
    return user === undefined ? load(userId, false) : Effect.succeed(user)
  }
  const latestOf = (userId: string) =>
    Effect.flatMap(of(userId), ({ accepted: [latest], isChanged }) =>
      isChanged
        ? Effect.fail(keysRefused(userId, "changed keys"))
        : Effect.succeed(latest))
  return {
    /** Forgets keys: a user may have new ones. */
    forget: (userIds: Iterable<string>): void => {
      for (const userId of userIds) known.delete(userId)
    },
    /** Accepts the keys that a user has now. Returns their fingerprints. */
    accept: (userId: string) =>
      Effect.map(load(userId, true), ({ accepted }) => [...new Set(accepted.map(({ fingerprint }) => fingerprint))]),
    /** Tests whether keys of a user that were read have changed. */
    isChanged: (userId: string): boolean => known.get(userId)?.isChanged === true,
    /** Fails if the latest key of a user has changed. */
    check: (userIds: Iterable<string>) => Effect.forEach(userIds, latestOf, { discard: true }),
    /** Those that verify signatures of users. */
    signers: (userIds: Iterable<string>) =>
      Effect.map(
        Effect.forEach(new Set(userIds), of),
        (users) => users.flatMap(({ accepted }): ReadonlyArray<SigningKeyEntry> => accepted)
      ),
    /** The latest of each user, for whom a conversation's key is encrypted. Reads them anew. */
    recipients: (userIds: Iterable<string>) =>
      Effect.forEach(new Set(userIds), (userId) => {
        known.delete(userId)
        return Effect.flatMap(latestOf(userId), (latest) =>
          latest === undefined
            ? Effect.fail(keysRefused(userId, "no public keys"))
            : Effect.succeed({ userId, publicKey: latest.identityPublicKey, keyVersion: latest.publicKeyVersion }))
      })
  }
}
