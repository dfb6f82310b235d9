/** Commands that keep keys of encrypted chats. */
import * as FileTokenStore from "@postwire/node/FileTokenStore"
import * as NodeClient from "@postwire/node/NodeClient"
import type * as Sandbox from "@postwire/sandbox/Sandbox"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { join } from "node:path"
import * as Chat from "../../../packages/chat/src/Chat.ts"
import type { Scene } from "./Scene.ts"

/** A new user, with a store of keys in a folder. */
const personOf = ({ baseUrl, seeded, user }: Sandbox.RunningSandbox, folder: string) => {
  const made = user()
  const { bearerToken } = made.settings()
  const store = FileTokenStore.make(folder)
  const layer = NodeClient.layer({
    baseUrl,
    bearerToken: Redacted.make(bearerToken),
    appBearerToken: seeded.appBearerToken
  })
  return {
    id: made.id,
    // OAuth 1.0a would sign as another user.
    env: {
      POSTWIRE_BEARER_TOKEN: bearerToken,
      POSTWIRE_CONSUMER_KEY: "",
      POSTWIRE_CONSUMER_SECRET: "",
      POSTWIRE_ACCESS_TOKEN: "",
      POSTWIRE_ACCESS_TOKEN_SECRET: ""
    },
    register: () => Effect.runPromise(Effect.provide(Chat.register({ store }), layer)),
    use: <A>(work: (chat: Chat.Session) => Effect.Effect<A, unknown, Scope.Scope>) =>
      Effect.runPromise(Effect.scoped(Effect.flatMap(Chat.open({ store }), work)).pipe(Effect.provide(layer)))
  }
}

/** The texts that a user can read in the conversation with another. */
const textsOf = (reader: ReturnType<typeof personOf>, other: string) =>
  reader.use((chat) =>
    Effect.map(chat.read(other), (items) => items.map((item) => item.kind === "message" ? item.text : item.kind))
  )

export const chatsOf = (sandbox: Sandbox.RunningSandbox): Readonly<Record<string, Scene>> => {
  const begin = async (root: string) => {
    const [ada, ben] = [personOf(sandbox, join(root, "chat")), personOf(sandbox, join(root, "ben"))]
    await ben.register()
    return { ada, ben }
  }
  return {
    "chat setup": {
      invariant: "the registered keys are those of the store",
      begin: async (root) => {
        const { ada, ben } = await begin(root)
        return {
          args: ["chat", "setup", "--no-passcode"],
          env: ada.env,
          state: async () => {
            await ben.use((chat) => chat.send(ada.id, "Hello"))
            return [await textsOf(ada, ben.id), sandbox.store.chats.publicKeys(ada.id).length]
          }
        }
      }
    },
    "chat send": {
      invariant: "the message is there, and both can read it",
      begin: async (root) => {
        const { ada, ben } = await begin(root)
        await ada.register()
        return {
          args: ["chat", "send", ben.id, "Hello"],
          env: ada.env,
          // A command that is killed after it has sent the message repeats it.
          state: async () => [[...new Set(await textsOf(ada, ben.id))], [...new Set(await textsOf(ben, ada.id))]]
        }
      }
    }
  }
}
