/** `postwire chat`: encrypted chats: set-up, list, read, send, listen. */
import * as Chat from "@postwire/chat/Chat"
import type { TimelineItem } from "@postwire/chat/conversations/Message"
import * as FileTokenStore from "@postwire/node/FileTokenStore"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { dirname, join, resolve } from "node:path"
import * as Accounts from "../connection/Accounts.ts"
import * as Connection from "../connection/Connection.ts"
import * as Variables from "../connection/Variables.ts"
import * as Args from "../terminal/Args.ts"
import * as Prompt from "../terminal/Prompt.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

/** Secrets come from a variable or a prompt: every user of the machine can read a command line. */
const passcodeVariable = "POSTWIRE_CHAT_PASSCODE"
const keysVariable = "POSTWIRE_CHAT_KEYS"

const flags = { wire: Connection.wire, ...Connection.flags }

type Flags = Command.Command.Config.Infer<typeof flags>

const conversationArgument = Argument.String("conversation").pipe(
  Argument.withDescription("The id of the other user, or that of a conversation or a group")
)

/** The keys of chats: a folder beside that of accounts, which only this user can read. */
const storeOf = ({ tokenStore }: Flags, variables: Variables.Variables) => {
  const place = Accounts.placeOf(tokenStore, variables)
  const folder = place === undefined || place.includes("://")
    ? FileTokenStore.ownFolder
    : Effect.succeed(resolve(place))
  return Effect.map(folder, (folder) => FileTokenStore.make(join(dirname(folder), "chat")))
}

/** Runs a command with the options of its chat. */
const withOptions = <A, E, R>(flags: Flags, command: (options: Chat.Options) => Effect.Effect<A, E, R>) =>
  Connection.use(flags, flags.wire, ({ userAuth, variables }) =>
    Effect.gen(function*() {
      const secret = (name: string) => {
        const value = Variables.valueOf(variables, name)
        return value === undefined ? undefined : Redacted.make(value, { label: name })
      }
      return yield* command({
        store: yield* storeOf(flags, variables),
        userAuth,
        passcode: secret(passcodeVariable),
        keyBlob: secret(keysVariable)
      })
    }))

/** Runs a command with an opened chat. Prompts for the passcode if the private keys are neither here nor in a variable. */
const withChat = <A, E, R>(flags: Flags, command: (chat: Chat.Session) => Effect.Effect<A, E, R>) =>
  withOptions(flags, (options) =>
    Chat.open(options).pipe(
      Effect.catchIf(
        (error) => error._tag === "ChatRefused" && error.fault === "no private keys",
        (refused) =>
          Effect.flatMap(Prompt.isPossible, (isPossible) =>
            isPossible
              ? Effect.flatMap(Prompt.secret("the passcode", "Passcode of your chats:"), (passcode) =>
                Chat.open({ ...options, passcode }))
              : Effect.fail(refused))
      ),
      Effect.flatMap(command),
      Effect.scoped
    ))

const setup = Command.make(
  "setup",
  {
    noPasscode: Args.toggle("no-passcode", "Keep the private keys in a file of yours only, without a backup"),
    ...flags
  },
  ({ noPasscode, ...flags }) =>
    withOptions(
      flags,
      Effect.fnUntraced(function*(options) {
        const passcode = noPasscode
          ? undefined
          : options.passcode ?? (yield* Prompt.secret("the passcode", "A passcode that backs your keys up:"))
        const { userId, version } = yield* Chat.register({ ...options, passcode })
        yield* Report.say(`User ${userId} can chat: the public keys have version ${version}.`)
      })
    )
).pipe(Args.help("Register keys of this user, once. Run it again after an interruption.", "Register keys, once"))

const list = Command.make(
  "list",
  { json: Report.json, ...flags },
  ({ json, ...flags }) =>
    withChat(
      flags,
      Effect.fnUntraced(function*(chat) {
        const { conversations, hasMessageRequests } = yield* chat.conversations
        yield* Report.print(json, conversations, () =>
          conversations.map(({ id, members, title, type }) =>
            [
              id,
              type ?? "",
              title ?? members.filter((member) => member !== chat.userId).join(", ")
            ].join("  ").trimEnd()
          ))
        if (hasMessageRequests) {
          yield* Report.say("Strangers have written.", "postwire chat read USER_ID shows what one of them wrote.")
        }
      })
    )
).pipe(Args.help("List your conversations.", "List conversations"))

const read = Command.make(
  "read",
  {
    conversation: conversationArgument,
    limit: Args.int("limit", 1, 10_000).pipe(Args.withDefault("The number of events to read", 50)),
    directMessages: Args.toggle(
      "direct-messages",
      "Add direct messages from before, which have no signatures and a price"
    ),
    json: Report.json,
    ...flags
  },
  ({ conversation, directMessages, json, limit, ...flags }) =>
    withChat(
      flags,
      (chat) =>
        Effect.flatMap(
          chat.read(conversation, { directMessages, limit }),
          (items) => Report.print(json, items, () => items.map(lineOf))
        )
    )
).pipe(Args.help(
  "Show a conversation, the oldest message first. Only messages whose signature verifies are shown.",
  "Show a conversation"
))

const send = Command.make(
  "send",
  {
    conversation: conversationArgument,
    text: Argument.String("text").pipe(Argument.withDescription("The text")),
    ...flags
  },
  ({ conversation, text, ...flags }) =>
    withChat(
      flags,
      (chat) => Effect.flatMap(chat.send(conversation, text), ({ id, sequenceId }) => Report.lines(sequenceId ?? id))
    )
).pipe(Args.help("Send a message. The first one to a user begins the conversation.", "Send a message", {
  "postwire chat send 2244994945 'Hello'": "To a user"
}))

const accept = Command.make(
  "accept",
  {
    user: Argument.String("user").pipe(Argument.withDescription("The id of the user, or of a group (g...)")),
    ...flags
  },
  ({ user, ...flags }) =>
    withChat(
      flags,
      Effect.fnUntraced(function*(chat) {
        if (user.startsWith("g")) {
          const members = yield* chat.acceptMembers(user)
          yield* Report.say(`The members of the group ${user} are accepted:`)
          return yield* Effect.forEach(members, (member) => Report.lines(member), { discard: true })
        }
        const accepted = yield* chat.acceptKeys(user)
        yield* Report.say(`The keys of user ${user} are accepted. Compare the fingerprints by another way:`)
        for (const fingerprint of accepted) yield* Report.lines(`${user}: ${fingerprint}`)
        yield* Report.lines(`${chat.userId}: ${yield* chat.fingerprint()}`)
      })
    )
).pipe(Args.help(
  "Accept the changed keys of a user, after the user has confirmed the change by another way, or the new members of a group.",
  "Accept changed keys or new members"
))

const listen = Command.make(
  "listen",
  { json: Args.toggle("json", "Print a line of JSON each"), ...flags },
  ({ json, ...flags }) =>
    withChat(
      flags,
      Effect.fnUntraced(function*(chat) {
        yield* Report.say(`Listening to the chats of user ${chat.userId}. Stop with Ctrl-C.`)
        yield* Stream.runForEach(
          chat.listen,
          (item) => Report.part(json, item, [`${item.conversation}  ${lineOf(item)}`])
        )
      })
    )
).pipe(Args.help(
  "Show messages as they arrive. It needs POSTWIRE_APP_BEARER_TOKEN, too, since the stream is that of the app.",
  "Show messages as they arrive"
))

export const command = Command.make("chat").pipe(
  Command.withSubcommands([setup, list, read, send, accept, listen]),
  Args.help(
    `Read and write encrypted chats. The passcode comes from ${passcodeVariable} or a prompt, a key blob from ${keysVariable}.`,
    lines.chat,
    {
      "postwire chat setup": "Register keys, once",
      "postwire chat read 2244994945": "The conversation with a user"
    }
  )
)

const tombstones = {
  unverified: "a message whose signature does not verify",
  "changed keys": "a message signed with changed keys: postwire chat accept",
  "no key": "a message from before you had a key",
  deleted: "a deleted message",
  unknown: "a message of an unknown type",
  unavailable: "a message that could not be looked up"
} as const

/** A line about an item. */
const lineOf = (item: TimelineItem): string => {
  const time = item.createdAt === undefined ? "" : Text.minute(item.createdAt.toISOString())
  if (item.kind === "tombstone") {
    const detail = item.error === undefined ? "" : `: ${Text.oneLine(item.error.message)}`
    return `${time}  ${item.senderId ?? "unknown sender"}: (${tombstones[item.reason]}${detail})`
  }
  const files = item.kind === "message" ? item.media.map(({ filename = "a file" }) => `[${filename}]`) : []
  const notes = item.kind === "direct message"
    ? " (direct message, not signed)"
    : item.kind === "edit" || item.edited
    ? " (edited)"
    : ""
  return `${time}  ${item.senderId}: ${Text.oneLine([item.text, ...files].join(" "))}${notes}`
}
