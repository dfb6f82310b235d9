/** Users of a sandbox, each with a client and a store of keys. */
import { createClient, type PostwireClient } from "@postwire/node"
import type { Sandbox } from "@postwire/sandbox"
import { type Chat, openChat, registerChat } from "../../src/index.ts"

/** A store in memory whose texts a test can see. */
export const memory = () => {
  const texts = new Map<string, string>()
  return {
    texts,
    read: async (name: string) => texts.get(name),
    write: async (name: string, text: string | undefined) => {
      if (text === undefined) texts.delete(name)
      else texts.set(name, text)
    },
    lock: async () => () => {}
  }
}

/** A user who can chat. */
export interface Person extends AsyncDisposable {
  readonly id: string
  readonly client: PostwireClient
  readonly store: ReturnType<typeof memory>
  readonly chat: Chat
}

/** A user without keys. */
export const stranger = (sandbox: Sandbox.RunningSandbox, username: string) => {
  const user = sandbox.user({ username })
  return {
    id: user.id,
    client: createClient({ ...user.settings(), appBearerToken: sandbox.settings.appBearerToken }),
    store: memory()
  }
}

/** A user with keys, whose chat is open. */
export const person = async (sandbox: Sandbox.RunningSandbox, username: string): Promise<Person> => {
  const { client, id, store } = stranger(sandbox, username)
  await registerChat(client, { store })
  const chat = await openChat(client, { store })
  return {
    id,
    client,
    store,
    chat,
    [Symbol.asyncDispose]: async () => {
      await chat.close()
      await client.close()
    }
  }
}
