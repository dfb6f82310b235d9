/**
 * The registration of a user's keys, once. Private keys are in the store before the service gets the public ones, so that an
 * interrupted registration is completed by the next, with the same keys.
 */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError, StorageFailure } from "@postwire/core/errors/Errors"
import { addPublicKey } from "@postwire/core/operations/PublicKeys"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { type ChatError, keysRefused } from "../errors/ChatErrors.ts"
import { confirmed } from "../service/Calls.ts"
import type { State } from "./ChatStore.ts"
import type { Parts } from "./Parts.ts"
import * as PublicKeys from "./PublicKeys.ts"

/** Registered keys. */
export interface Registered {
  readonly userId: string
  /** The version of the public keys. */
  readonly version: string
  /** The private keys. Undefined if they are backed up with a passcode. */
  readonly keyBlob: Redacted.Redacted | undefined
}

/** Registers keys, or completes a registration. With a passcode, the private keys move from the store to the backup. */
export const register = (
  parts: Parts,
  passcode: Redacted.Redacted | undefined
): Effect.Effect<Registered, AnyError | StorageFailure | ChatError, Client> => {
  const { library, store, userId } = parts
  return store.locked(Effect.gen(function*() {
    const { privateKey, registration, ...rest } = yield* keysOf(parts, passcode)
    if ((yield* ownRecord(parts)) === undefined && registration !== undefined) {
      yield* confirmed(addPublicKey(registration), Effect.map(ownRecord(parts), (own) => own !== undefined))
    }
    const own = yield* ownRecord(parts)
    if (own === undefined) return yield* keysRefused(userId, "unregistered")
    if (passcode !== undefined && privateKey !== undefined) {
      yield* library.backUp(passcode, own.backup)
      yield* store.write(rest)
    }
    return { userId, version: own.publicKeyVersion, keyBlob: passcode === undefined ? privateKey : undefined }
  }))
}

/** The keys in the store, or those that are backed up already, loaded; or new ones, stored, if the service has none. */
const keysOf = Effect.fnUntraced(function*({ library, store, userId }: Parts, passcode: Redacted.Redacted | undefined) {
  const state = yield* store.read
  if (state.privateKey !== undefined) {
    yield* library.load(state.privateKey)
    return state
  }
  if (yield* PublicKeys.exist(userId)) {
    const [latest] = yield* PublicKeys.fetched(library, userId)
    if (passcode === undefined || latest === undefined) return yield* keysRefused(userId, "other keys")
    yield* library.recover(passcode, latest.backup)
    return state
  }
  const { generateVersion, publicKey, version = "1" } = library.generateKeypairs()
  const made: State = {
    ...state,
    privateKey: yield* library.keyBlob,
    registration: {
      version,
      generate_version: generateVersion,
      public_key: publicKey.publicKey,
      signing_public_key: publicKey.signingPublicKey,
      identity_public_key_signature: publicKey.identityPublicKeySignature,
      signing_public_key_signature: publicKey.signingPublicKeySignature,
      public_key_fingerprint: publicKey.publicKeyFingerprint,
      registration_method: publicKey.registrationMethod
    }
  }
  yield* store.write(made)
  return made
})

/** The record of the loaded keys at the service, if it has one; refused if it has others only. */
const ownRecord = Effect.fnUntraced(function*({ library, userId }: Parts) {
  const records = yield* PublicKeys.fetched(library, userId)
  const loaded = yield* PublicKeys.ownFingerprint(library)
  const own = records.find(({ fingerprint }) => fingerprint === loaded)
  return own === undefined && records.length > 0 ? yield* keysRefused(userId, "other keys") : own
})

/** Loads the keys of a user who has registered them: from the passcode's backup, a key blob, or the store. */
export const unlock = Effect.fnUntraced(function*(
  parts: Parts,
  given: { readonly passcode?: Redacted.Redacted | undefined; readonly keyBlob?: Redacted.Redacted | undefined }
) {
  const { library, store, userId } = parts
  const keyBlob = given.keyBlob ?? (given.passcode === undefined ? (yield* store.read).privateKey : undefined)
  const [latest] = yield* PublicKeys.fetched(library, userId)
  if (latest === undefined) return yield* keysRefused(userId, "unregistered")
  if (keyBlob !== undefined) yield* library.load(keyBlob)
  else if (given.passcode !== undefined) yield* library.recover(given.passcode, latest.backup)
  else return yield* keysRefused(userId, "no private keys")
  const { publicKeyVersion } = (yield* ownRecord(parts)) ?? latest
  library.setIdentity(userId, publicKeyVersion)
})
