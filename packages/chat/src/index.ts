/**
 * Encrypted chat for programs without Effect, on the Promise client of any platform.
 *
 * ```ts
 * await using chat = await openChat(client, { store, passcode })
 * await chat.send("2244994945", "Hello")
 * ```
 */
import * as TokenStore from "@postwire/core/promise/TokenStore"
import type { Texts } from "@postwire/core/storage/Texts"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Core from "./Chat.ts"
import type { Item } from "./conversations/Message.ts"
import type * as Registration from "./keys/Registration.ts"
import * as Calls from "./service/Calls.ts"

export type { Conversation, Conversations, ReadOptions } from "./Chat.ts"
export type * from "./conversations/Message.ts"
export * from "./errors/ChatErrors.ts"
export type { Group } from "./sessions/Groups.ts"
export type { Contents, File, Sent } from "./sessions/Sending.ts"

/** Options of opening a chat. Without a passcode and a key blob, it has the private keys that the store has. */
export interface Options extends Pick<Core.Options, "userAuth"> {
  /** The store of keys: `FileTokenStore.make(folder)` of `@postwire/node`, or one of the program's own. Its texts are secrets. */
  readonly store: TokenStore.TokenStore | Texts
  /** The passcode of the backup of the private keys. 20 wrong ones delete it. */
  readonly passcode?: string | undefined
  /** The private keys, as `registerChat` returned them. */
  readonly keyBlob?: string | undefined
}

/** An opened chat. */
export type Chat =
  & AsyncDisposable
  & {
    readonly [K in Exclude<keyof Core.Session, "userId" | "conversations" | "listen">]: (
      ...args: Parameters<Core.Session[K]>
    ) => Promise<Effect.Success<ReturnType<Core.Session[K]>>>
  }
  & {
    readonly userId: string
    readonly conversations: () => Promise<Core.Conversations>
    /** Live messages of all conversations. The client needs the app's bearer token, too. */
    readonly listen: () => AsyncIterable<Item>
    /** Removes the private keys from memory. */
    readonly close: () => Promise<void>
  }

/** Opens the chat of the user whose token the client has. */
export const openChat = async (client: Calls.Methods, options: Options): Promise<Chat> => {
  const scope = Scope.makeUnsafe()
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const opening = Effect.provideContext(Core.open(optionsOf(options)), Calls.ofMethods(client)).pipe(
    Scope.provide(scope),
    Effect.onError(() => Scope.close(scope, Exit.void))
  )
  const { conversations, listen, userId, ...methods } = await Effect.runPromise(opening)
  const own = {
    userId,
    conversations: () => Effect.runPromise(conversations),
    listen: () => Stream.toAsyncIterable(listen),
    close,
    [Symbol.asyncDispose]: close
  }
  // oxlint-disable-next-line postwire/no-blind-assertion -- The mapped type is the only source of the types.
  return Object.assign(own, Record.map(methods, promised)) as unknown as Chat
}

const promised =
  (method: (...args: ReadonlyArray<never>) => Effect.Effect<unknown, Error>) => (...args: ReadonlyArray<never>) =>
    Effect.runPromise(method(...args))

/** Registered keys. */
export interface Registered extends Omit<Registration.Registered, "keyBlob"> {
  /** The private keys: a secret. Undefined if they are backed up with a passcode. */
  readonly keyBlob: string | undefined
}

/**
 * Registers the keys of a user who has none, once. With a passcode they are backed up at the service; without, the key blob is their
 * only copy beside the store. Repeat it after an interruption: it completes with the same keys.
 */
export const registerChat = async (client: Calls.Methods, options: Omit<Options, "keyBlob">): Promise<Registered> => {
  const registering = Effect.provideContext(Core.register(optionsOf(options)), Calls.ofMethods(client))
  const { keyBlob, ...registered } = await Effect.runPromise(registering)
  return { ...registered, keyBlob: keyBlob && Redacted.value(keyBlob) }
}

const optionsOf = ({ keyBlob, passcode, store, userAuth }: Options): Core.Options => ({
  store: "describe" in store ? store : TokenStore.toEffect(store),
  passcode: passcode === undefined ? undefined : Redacted.make(passcode, { label: "passcode" }),
  keyBlob: keyBlob === undefined ? undefined : Redacted.make(keyBlob, { label: "chat keys" }),
  userAuth
})
