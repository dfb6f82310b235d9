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

/** The store of private keys: memory, or the backup of the service. */
class Vault implements Backup {
  keys: Uint8Array | undefined
  backup: Backup | undefined
  async register(pin: Uint8Array, secret: Uint8Array, info: Uint8Array, guesses: number) {
    if (this.backup !== undefined) return this.backup.register(pin, secret, info, guesses)
    this.keys = Uint8Array.from(secret)
  }
  async recover(pin: Uint8Array, info: Uint8Array) {
    return this.backup === undefined ? Uint8Array.from(this.keys ?? []) : this.backup.recover(pin, info)
  }
  async delete() {}
}

/** The library reads its tokens from a global, so backups of one process are used one at a time. */
const turn = Semaphore.makeUnsafe(1)

/** The time limit of a use of the backup, whose realms are requested by a library that has none. */
const backupTimeout = "30 seconds"

/** The passcode of the memory, which the library tests for its strength. */
const memoryPasscode = "in memory"

/** Opens the library for a user. `backupOf` makes the backup in realms. */
export const open = Effect.fnUntraced(function*(
  userId: string,
  backupOf: (config: unknown) => Promise<Backup> = loadBackup
): Effect.fn.Return<Library, ChatLibraryMissing, Scope.Scope> {
  const xdk = yield* Effect.tryPromise({ try: () => import("@xdevplatform/chat-xdk"), catch: missing })
  const vault = new Vault()
  let tokens: ReadonlyMap<string, string> = new Map()
  let realms: unknown
  const options = {
    juiceboxConfig: "{}",
    getAuthToken: async (realm: string) => tokens.get(realm) ?? "",
    juiceboxModule: {
      // The constructors are called by the library, which keeps what they return.
      Client: function() {
        return vault
      },
      Configuration: function(configuration: unknown) {
        realms = configuration
      }
    }
  }
  const chat = yield* Effect.acquireRelease(
    Effect.tryPromise({ try: () => xdk.createChat(options), catch: missing }),
    (chat) => Effect.sync(() => chat.free())
  )
  const use = <A>(fault: ChatFault, f: (signal: AbortSignal) => Promise<A>) =>
    Effect.ensuring(
      Effect.tryPromise({ try: f, catch: (cause) => refusalOf(userId, fault, cause) }),
      Effect.sync(() => {
        vault.keys = undefined
        vault.backup = undefined
      })
    )
  const withBackup = (config: unknown, f: () => Promise<unknown>) =>
    turn.withPermit(Effect.timeoutOrElse(
      use("backup unavailable", async (signal) => {
        tokens = tokensOf(config)
        chat.updateConfig(JSON.stringify(config ?? {}))
        const backup = await backupOf(realms)
        signal.throwIfAborted()
        vault.backup = backup
        return f()
      }),
      { duration: backupTimeout, orElse: () => Effect.fail(keysRefused(userId, "backup unavailable")) }
    ))
  return Object.assign(chat, {
    keyBlob: use("unreadable keys", async () => {
      await chat.setup(memoryPasscode)
      return Redacted.make(globalThis.btoa(String.fromCharCode(...vault.keys ?? [])), { label: "chat keys" })
    }),
    load: (keyBlob: Redacted.Redacted) =>
      use("unreadable keys", async () => {
        vault.keys = Uint8Array.from(globalThis.atob(Redacted.value(keyBlob).trim()), (char) => char.charCodeAt(0))
        await chat.unlock(memoryPasscode)
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
