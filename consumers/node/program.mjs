// The sandbox in the same process.
import * as postwire from "@postwire/node"
import { Sandbox } from "@postwire/sandbox"
import { scenario } from "./scenario.mjs"

const sandbox = await Sandbox.start({ posts: 400 })
sandbox.faults.add({ operation: "getMe", status: 429, headers: { "retry-after": "1" } })
console.log(JSON.stringify(await scenario(postwire, sandbox.settings)))
await sandbox.stop()
