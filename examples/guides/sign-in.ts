// #region account
import { createClient, LoginRequired, MissingScope } from "@postwire/node"

await using client = createClient({ account: "ada" })

const { data: me } = await client.getMe()
for await (const post of client.getBookmarks.items({}, { limit: 5 })) console.log(me?.username, post.text)
// #endregion

// #region blocking
import { createClientSync } from "@postwire/sync"

using blocking = createClientSync({ account: "ada" })
console.log(blocking.getMe().data?.name)
// #endregion

// #region effect
import { AccountCredentials, Client, Users } from "@postwire/core"
import * as FileTokenStore from "@postwire/node/FileTokenStore"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Effect, Layer } from "effect"

const service = { baseUrl: process.env["POSTWIRE_BASE_URL"] }
const layerAda = Client.layer(service).pipe(
  Layer.provide(AccountCredentials.layer({ ...service, account: "ada" })),
  Layer.provide([FileTokenStore.layer(), UndiciHttpClient.layer()])
)

console.log(
  await Effect.runPromise(Effect.provide(Effect.map(Users.getMe(), ({ data }) => data?.id === me?.id), layerAda))
)
// #endregion

// #region errors
try {
  await client.createPost({ text: "Hello" })
} catch (error) {
  if (error instanceof MissingScope) console.log("allow more:", error.missing)
  else if (error instanceof LoginRequired) console.log("sign in again:", error.reason)
  else throw error
}
// #endregion

// #region tokens
import { type Tokens } from "@postwire/node"

/** A client for tokens that the program keeps itself. */
export const clientFor = (tokens: Tokens, save: (tokens: Tokens) => Promise<void>) =>
  createClient({
    baseUrl: process.env["POSTWIRE_BASE_URL"],
    clientId: process.env["POSTWIRE_CLIENT_ID"],
    // Called with every renewed pair, before any call uses it.
    oauth2: { ...tokens, save }
  })
// #endregion

// #region store
import { type TokenStore } from "@postwire/node"

/** The program's own database: a table with a unique name, and locks across its processes. */
interface Database {
  readonly get: (name: string) => Promise<string | undefined>
  readonly put: (name: string, text: string) => Promise<void>
  readonly remove: (name: string) => Promise<void>
  readonly acquire: (name: string, signal: AbortSignal) => Promise<{ readonly release: () => Promise<void> }>
}

export const storeIn = (database: Database): TokenStore => ({
  read: (account) => database.get(account),
  write: (account, text) => text === undefined ? database.remove(account) : database.put(account, text),
  lock: async (account, signal) => {
    const held = await database.acquire(account, signal)
    return () => held.release()
  }
})
// #endregion
