// Every package, with the types of all that they depend on (`skipLibCheck: false`).
import type * as Chat from "@postwire/chat"
import type * as Core from "@postwire/core"
import type * as Export from "@postwire/export"
import * as postwire from "@postwire/node"
import type * as WithEffect from "@postwire/node/EffectClient"
import type * as Sandbox from "@postwire/sandbox"
import type * as Sync from "@postwire/sync"
import type * as Web from "@postwire/web"
import { scenario, settingsOf } from "./scenario.ts"

export type Everything = [
  typeof Chat,
  typeof Core,
  typeof Export,
  typeof WithEffect,
  typeof Sandbox,
  typeof Sync,
  typeof Web
]

const settings = settingsOf(process.env)
const client = postwire.createClient(settings)
const post = { ...(await client.searchRecentPosts({ query: "effect", post_fields: ["created_at"] })).data?.[0] }
const created: string | undefined = post.created_at
// @ts-expect-error not asked for
console.log(created?.slice(0, 0) ?? post.public_metrics)
await client.close()

console.log(JSON.stringify(await scenario(postwire, settings)))
