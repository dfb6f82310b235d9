/**
 * The keys of a user, in a store of secrets: a text that processes share, under a lock. It holds the keys of conversations; private
 * keys only while they are being registered, or if there is no passcode that they are backed up with.
 */
import { StorageFailure } from "@postwire/core/errors/Errors"
import type { Texts } from "@postwire/core/storage/Texts"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Scope } from "effect/Scope"

/** A key of a conversation. */
export const ConversationKey = Schema.Struct({
  version: Schema.String,
  /** The key's bytes, as base64 text. */
  key: Schema.RedactedFromValue(Schema.String),
  /** The user who signed its change. Absent if the signature does not verify: such a key decrypts, and never encrypts. */
  signer: Schema.optionalKey(Schema.String)
})
/** A key of a conversation. */
export interface ConversationKey extends Schema.Schema.Type<typeof ConversationKey> {}

/** The public keys of a registration. */
const Registration = Schema.Struct({
  version: Schema.String,
  generate_version: Schema.Boolean,
  public_key: Schema.String,
  signing_public_key: Schema.String,
  identity_public_key_signature: Schema.String,
  signing_public_key_signature: Schema.optional(Schema.String),
  public_key_fingerprint: Schema.optional(Schema.String),
  registration_method: Schema.String
})
const State = Schema.Struct({
  format: Schema.Literal(1),
  /** The key blob. */
  privateKey: Schema.optionalKey(Schema.RedactedFromValue(Schema.String)),
  /** The registration of that key. */
  registration: Schema.optionalKey(Registration),
  conversations: Schema.Record(Schema.String, Schema.Array(ConversationKey)),
  /** The fingerprints of users' keys, as they were first seen or later accepted. Others, of an earlier version, match no keys. */
  identities: Schema.optionalKey(Schema.Record(Schema.String, Schema.Array(Schema.String))),
  /** The members of groups, as they were when this user first wrote to them, or later accepted. */
  members: Schema.optionalKey(Schema.Record(Schema.String, Schema.Array(Schema.String)))
})
/** The keys of a user. */
export interface State extends Schema.Schema.Type<typeof State> {}

/** The keys of one user in a store. */
export interface ChatStore extends ReturnType<typeof make> {}

const Text = Schema.fromJsonString(State)

const empty: State = { format: 1, conversations: {} }

/** The keys of a user in a store. */
export const make = (texts: Texts, userId: string) => {
  const name = `chat-${userId}`
  const damaged = (action: "read" | "write") =>
    new StorageFailure({ kind: "token store", place: texts.describe(name), fault: "damaged", action })
  const read = Effect.flatMap(texts.read(name), (text) =>
    text === undefined
      ? Effect.succeed(empty)
      : Effect.mapError(Schema.decodeEffect(Text)(text), () => damaged("read")))
  const write = (state: State) =>
    Effect.flatMap(
      Effect.mapError(Schema.encodeEffect(Text)(state), () => damaged("write")),
      (text) => texts.write(name, text)
    )
  const locked = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | StorageFailure, Exclude<R, Scope>> =>
    Effect.scoped(Effect.andThen(texts.lock(name), effect))
  return {
    read,
    write,
    /** Holds the lock while the effect runs. */
    locked,
    /** Adds keys of a conversation, and returns all of it. A signed key replaces one that is not. */
    addKeys: (id: string, keys: ReadonlyArray<ConversationKey>) =>
      locked(Effect.flatMap(read, (state) => {
        const known = state.conversations[id] ?? []
        const better = keys.filter((key) =>
          !known.some((old) => old.version === key.version && (old.signer ?? key.signer) === old.signer)
        )
        if (better.length === 0) return Effect.succeed(known)
        const kept = known.filter(({ version }) => !better.some((key) => key.version === version))
        const all = [...kept, ...better]
        return Effect.as(write({ ...state, conversations: { ...state.conversations, [id]: all } }), all)
      })),
    /** The accepted fingerprints of a user, or members of a group: those that were seen first, or these, which replace them. */
    accepted: (kind: "identities" | "members", id: string, served: ReadonlyArray<string>, replace: boolean) =>
      locked(Effect.flatMap(read, (state) => {
        const known = state[kind]?.[id]
        if (served.length === 0 || (known !== undefined && !replace)) return Effect.succeed(known ?? [])
        return Effect.as(write({ ...state, [kind]: { ...state[kind], [id]: served } }), served)
      }))
  }
}

/** The bytes of a key. */
export const bytesOf = ({ key }: ConversationKey): Uint8Array =>
  Uint8Array.from(globalThis.atob(Redacted.value(key)), (char) => char.charCodeAt(0))

/** A key of a conversation from its bytes. */
export const keyOf = (version: string, bytes: Uint8Array, signer: string | undefined): ConversationKey => ({
  version,
  key: Redacted.make(globalThis.btoa(String.fromCharCode(...bytes)), { label: "conversation key" }),
  ...signer !== undefined && { signer }
})
