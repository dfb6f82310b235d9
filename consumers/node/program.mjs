// The sandbox in the same process, and a user who signed in there.
import * as postwire from "@postwire/node"
import { saveAccount, scopesFor } from "@postwire/node/OAuth2"
import { Sandbox } from "@postwire/sandbox"
import { scenario } from "./scenario.mjs"

const sandbox = await Sandbox.start({ posts: 400 })
const { baseUrl, grants, seeded } = sandbox
const account = { baseUrl, tokenStore: "./accounts", account: "ada" }
const scopes = scopesFor(["getMe", "searchRecentPosts"])
await saveAccount({ ...account, clientId: seeded.publicClient.id, tokens: { ...grants.make({ scopes }), scopes } })
sandbox.faults.add({ operation: "getMe", status: 429, headers: { "retry-after": "1" } })
// It has expired by the clock of the service: the first call renews it.
sandbox.clock.advance("3 hours")
console.log(JSON.stringify(await scenario(postwire, account)))
await sandbox.stop()
