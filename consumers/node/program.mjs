// The sandbox in the same process, and a user who signed in there.
import * as postwire from "@postwire/node"
import { saveAccount, scopesFor } from "@postwire/node/OAuth2"
import { Sandbox } from "@postwire/sandbox"
import * as Redacted from "effect/Redacted"
import { scenario } from "./scenario.mjs"

const sandbox = await Sandbox.start({ posts: 400 })
const { baseUrl, grants, seeded } = sandbox
const account = { baseUrl, tokenStore: "./accounts", account: "ada" }
const scopes = scopesFor(["getMe", "searchRecentPosts", "uploadMedia", "createPost"])
const { accessToken, expiresAt, refreshToken } = grants.make({ scopes })
await saveAccount({
  ...account,
  clientId: seeded.publicClient.id,
  // The client has an Effect of its own, which does not read what another one redacted.
  tokens: { accessToken: Redacted.value(accessToken), refreshToken: Redacted.value(refreshToken), expiresAt, scopes }
})
sandbox.faults.add({ operation: "getMe", status: 429, headers: { "retry-after": "1" } })
// It has expired by the clock of the service: the first call renews it.
sandbox.clock.advance("3 hours")
console.log(JSON.stringify(await scenario(postwire, account)))
await sandbox.stop()
