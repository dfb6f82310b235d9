/** Public keys of users, as the service has them. Those whose binding does not verify are ignored: they may be substituted. */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import { getUserPublicKeys } from "@postwire/core/operations/PublicKeys"
import type { PublicKeyInput, SigningKeyEntry } from "@xdevplatform/chat-xdk"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { type ChatRefused, keysRefused } from "../errors/ChatErrors.ts"
import type { Library } from "../library/Library.ts"

/** The public keys of a user under one version. */
export interface Record extends SigningKeyEntry {
  /** The place of the backup of the private keys; in one's own record only. */
  readonly backup: unknown
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
      records.map((record): Record => ({
        userId,
        publicKeyVersion: record.public_key_version ?? "",
        publicKey: record.signing_public_key ?? "",
        identityPublicKey: record.public_key ?? "",
        identityPublicKeySignature: record.identity_public_key_signature ?? "",
        backup: record.juicebox_config
      })).filter((record) => isBound(library, record))
        .sort((a, b) => Number(b.publicKeyVersion) - Number(a.publicKeyVersion))
    )
  )

const isBound = (library: Library, { identityPublicKey, identityPublicKeySignature, publicKey }: Record): boolean => {
  try {
    return library.verifyKeyBinding(identityPublicKey, publicKey, identityPublicKeySignature)
  } catch {
    return false
  }
}

/** Public keys, as one chat has read them. */
export const make = (library: Library) => {
  const known = new Map<string, ReadonlyArray<Record>>()
  const of = Effect.fnUntraced(function*(userId: string) {
    const records = known.get(userId) ?? (yield* fetched(library, userId))
    if (records.length > 0) known.set(userId, records)
    return records
  })
  const forget = (userIds: Iterable<string>) => {
    for (const userId of userIds) known.delete(userId)
  }
  return {
    /** Forgets keys: a user may have new ones. */
    forget,
    /** Those that verify signatures of users. */
    signers: (userIds: Iterable<string>): Effect.Effect<Array<SigningKeyEntry>, AnyError, Client> =>
      Effect.map(Effect.forEach(new Set(userIds), of), (records) => records.flat()),
    /** The latest of each user, for whom a conversation's key is encrypted. Reads them anew. */
    recipients: (userIds: Iterable<string>): Effect.Effect<Array<PublicKeyInput>, AnyError | ChatRefused, Client> => {
      forget(userIds)
      return Effect.forEach(new Set(userIds), (userId) =>
        Effect.flatMap(of(userId), ([latest]) =>
          latest === undefined
            ? Effect.fail(keysRefused(userId, "no public keys"))
            : Effect.succeed({ userId, publicKey: latest.identityPublicKey, keyVersion: latest.publicKeyVersion })))
    }
  }
}
