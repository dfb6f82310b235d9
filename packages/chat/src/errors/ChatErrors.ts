/** The errors of encrypted chat, beside those of the calls themselves. None of them holds a key, a passcode or a message. */
import * as Data from "effect/Data"

/** A library that encrypts and decrypts, a peer of this package, cannot be loaded. Nothing was sent. */
export class ChatLibraryMissing extends Data.TaggedError("ChatLibraryMissing")<{
  /** The name of the package. */
  readonly library: string
  /** The code or the name of the failure to load it. */
  readonly detail: string
}> {
  override get message(): string {
    return `The package ${this.library}, which chats need, cannot be loaded (${this.detail}). ${this.advice}`
  }
  get advice(): string {
    return "Install it: npm install @xdevplatform/chat-xdk juicebox-sdk"
  }
}

const faults = {
  /** No passcode and no key blob was given, and the store has no private keys. */
  "no private keys": ["the private ones are not here", "Pass the passcode of their backup, or the key blob."],
  unregistered: ["the service has none", "Register keys, once: postwire chat setup."],
  "other keys": [
    "the service has others of this user",
    "Open with the passcode or the key blob of those: new keys could not read earlier messages."
  ],
  "unreadable keys": ["the key blob is not one that the chat library exports", "Pass all of it, as base64 text."],
  "wrong passcode": ["the passcode is wrong", "Check it: 20 wrong ones delete the backup of the keys."],
  "no backup": ["there is no backup, or too many wrong passcodes have deleted it", "Open with a key blob."],
  "weak passcode": [
    "the passcode is too simple",
    "Choose at least 4 characters, neither all the same nor a run of digits."
  ],
  "backup unavailable": ["their backup does not respond", "Try again later."],
  /** A member has no public keys, or their binding does not verify. */
  "no public keys": ["a member has no keys that verify", "The member has to set up chat first."],
  /** The service shows an identity key or a signing key that it did not show when the user's keys were first seen. */
  "changed keys": [
    "they have changed, and may be those of another person",
    "Check with the user, then accept them: postwire chat accept, or acceptKeys."
  ],
  /** The service lists a member of a group who was not there when this user first wrote to it. */
  "new members": [
    "it has a member whom you have not accepted, and who would read along",
    "Check with another member, then accept the members: postwire chat accept, or acceptMembers."
  ],
  "no conversation key": ["this user has no key for it", "A message can be read with the key that it was sent with."],
  "unreadable file": ["the file does not match the key of its message", "Read the message again, then its file."],
  "refused by library": [
    "the chat library refuses to encrypt or sign this",
    "Check the text, and that the chat is open."
  ]
} as const

/** Why keys or a conversation cannot be used. */
export type ChatFault = keyof typeof faults

/** The keys of a user or a conversation cannot be used. Nothing was sent or replaced. */
export class ChatRefused extends Data.TaggedError("ChatRefused")<{
  /** The keys of a user, or a conversation, that cannot be used. */
  readonly subject: string
  readonly fault: ChatFault
  /** The number of wrong passcodes after which the backup deletes the keys. */
  readonly guessesLeft?: number | undefined
}> {
  override get message(): string {
    const left = this.guessesLeft === undefined ? "" : ` (${this.guessesLeft} guesses left)`
    return `Chat cannot use ${this.subject}: ${faults[this.fault][0]}${left}. ${this.advice}`
  }
  get advice(): string {
    return faults[this.fault][1]
  }
}

/** A refusal of the keys of a user. */
export const keysRefused = (userId: string, fault: ChatFault, guessesLeft?: number): ChatRefused =>
  new ChatRefused({ subject: `the keys of user ${userId}`, fault, guessesLeft })

/** A refusal of a conversation. */
export const refused = (conversation: string, fault: ChatFault): ChatRefused =>
  new ChatRefused({ subject: `the conversation ${conversation}`, fault })

/** The errors of encrypted chat, beside those of the calls themselves. */
export type ChatError = ChatLibraryMissing | ChatRefused
