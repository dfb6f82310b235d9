/**
 * The library that encrypts, decrypts and signs, loaded when a chat is opened. Its own class keeps private keys to itself, so they
 * enter and leave it through a backup of ours, which it believes to be its own.
 */
import type { ChatWithJuicebox } from "@xdevplatform/chat-xdk"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { type ChatError, type ChatFault, ChatLibraryMissing, keysRefused } from "../errors/ChatErrors.ts"
import { type Backup, loadBackup } from "./Backup.ts"

/** An opened library: locked, and its memory freed, when the scope ends. */
export interface Library extends Omit<ChatWithJuicebox, "setup" | "unlock"> {
  /** The private keys, as text that `load` accepts. */
  readonly keyBlob: Effect.Effect<Redacted.Redacted, ChatError>
  readonly load: (keyBlob: Redacted.Redacted) => Effect.Effect<void, ChatError>
  /** Recovers the private keys of the backup that a record of public keys describes. */
  readonly recover: (passcode: Redacted.Redacted, config: unknown) => Effect.Effect<void, ChatError>
  /** Stores the private keys there. */
  readonly backUp: (passcode: Redacted.Redacted, config: unknown) => Effect.Effect<void, ChatError>
  readonly dimensionsOf: (picture: Uint8Array) => { readonly width: number; readonly height: number } | undefined
}

/** The limit of the service's realms. */
const mostGuesses = 20

/** The store of private keys: memory, or the backup of the service. */
class Vault implements Backup {
  keys: Uint8Array | undefined
  backup: Backup | undefined
  /** The number of wrong passcodes after which the backup deletes the keys. */
  guesses = mostGuesses
  async register(pin: Uint8Array, secret: Uint8Array, info: Uint8Array) {
    if (this.backup !== undefined) return this.backup.register(pin, secret, info, this.guesses)
    this.keys = Uint8Array.from(secret)
  }
  async recover(pin: Uint8Array, info: Uint8Array) {
    return this.backup === undefined ? Uint8Array.from(this.keys ?? []) : this.backup.recover(pin, info)
  }
  async delete() {}
}

/** The library reads its tokens from a global, so backups of one process are used one at a time. */
const turn = Semaphore.makeUnsafe(1)

/** The passcode of the memory, which the library tests for its strength. */
const memoryPasscode = "in memory"

/** Opens the library for a user. `backupOf` makes the backup that a record of public keys describes. */
export const open = Effect.fnUntraced(function*(
  userId: string,
  backupOf: (config: unknown) => Promise<Backup> = loadBackup
): Effect.fn.Return<Library, ChatLibraryMissing, Scope.Scope> {
  const xdk = yield* Effect.tryPromise({ try: () => import("@xdevplatform/chat-xdk"), catch: missing })
  const vault = new Vault()
  let tokens: ReadonlyMap<string, string> = new Map()
  const options = {
    juiceboxConfig: "{}",
    getAuthToken: async (realm: string) => tokens.get(realm) ?? "",
    juiceboxModule: {
      // The constructors are called by the library, which keeps what they return.
      Client: function() {
        return vault
      },
      Configuration: function() {}
    }
  }
  const chat = yield* Effect.acquireRelease(
    Effect.tryPromise({ try: () => xdk.createChat(options), catch: missing }),
    (chat) => Effect.sync(() => chat.free())
  )
  const use = (fault: ChatFault, f: () => Promise<unknown>) =>
    Effect.tryPromise({ try: f, catch: (cause) => refusalOf(userId, fault, cause) })
  const withBackup = (config: unknown, f: () => Promise<unknown>) =>
    turn.withPermit(Effect.ensuring(
      use("backup unavailable", async () => {
        tokens = tokensOf(config)
        vault.guesses = guessesOf(config)
        vault.backup = await backupOf(config)
        return f()
      }),
      Effect.sync(() => void (vault.backup = undefined))
    ))
  return Object.assign(chat, {
    keyBlob: Effect.map(use("unreadable keys", () => chat.setup(memoryPasscode)), () => {
      const blob = globalThis.btoa(String.fromCharCode(...vault.keys ?? []))
      vault.keys = undefined
      return Redacted.make(blob, { label: "chat keys" })
    }),
    load: (keyBlob: Redacted.Redacted) =>
      use("unreadable keys", async () => {
        vault.keys = Uint8Array.from(globalThis.atob(Redacted.value(keyBlob).trim()), (char) => char.charCodeAt(0))
        await chat.unlock(memoryPasscode)
        vault.keys = undefined
      }),
    recover: (passcode: Redacted.Redacted, config: unknown) =>
      withBackup(config, () => chat.unlock(Redacted.value(passcode))),
    backUp: (passcode: Redacted.Redacted, config: unknown) =>
      withBackup(config, () => chat.setup(Redacted.value(passcode))),
    dimensionsOf: (picture: Uint8Array) => xdk.detectImageDimensions(picture) ?? undefined
  })
})

const missing = (cause: unknown): ChatLibraryMissing =>
  new ChatLibraryMissing({
    library: "@xdevplatform/chat-xdk",
    // Messages may quote paths.
    detail: Predicate.hasProperty(cause, "code") ? String(cause.code) : cause instanceof Error ? cause.name : "unknown"
  })

/** The refusal that the library's message means. The message itself is not passed on. */
const refusalOf = (userId: string, fault: ChatFault, cause: unknown): ChatError => {
  if (cause instanceof ChatLibraryMissing) return cause
  const text = cause instanceof Error ? cause.message : String(cause)
  if (text.startsWith("PIN must")) return keysRefused(userId, "weak passcode")
  if (text.includes("NotRegistered")) return keysRefused(userId, "no backup")
  const [, left] = /guesses_remaining=(\d+)/.exec(text) ?? []
  return text.includes("InvalidPin")
    ? keysRefused(userId, "wrong passcode", left === undefined ? undefined : Number(left))
    : keysRefused(userId, fault)
}

/** The tokens of a backup's realms, which expire soon. */
const tokensOf = (config: unknown): ReadonlyMap<string, string> => {
  const entries: ReadonlyArray<{ readonly key: string; readonly value?: { readonly token?: string } }> =
    Predicate.hasProperty(config, "token_map") && Array.isArray(config.token_map) ? config.token_map : []
  return new Map(entries.map(({ key, value }) => [key, value?.token ?? ""]))
}

const guessesOf = (config: unknown): number =>
  Predicate.hasProperty(config, "max_guess_count") ? Number(config.max_guess_count) : mostGuesses
