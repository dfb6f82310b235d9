/** A sandbox that is measured, a process of its own: `node SandboxServer.ts <checkout> <posts> <time> [file]`. */
import { statSync } from "node:fs"
import * as Checkout from "./Checkout.ts"
import * as Child from "./Child.ts"

/** The first message of a sandbox. */
export interface Ready {
  readonly url: string
  /** A token of the user. */
  readonly token: string
  readonly userId: string
  /** The cost of making the state: microseconds, and MB in memory and in the file with its log. */
  readonly made: Readonly<Record<"CPU" | "time" | "memory", number>> & { readonly size?: number }
}

/** The work of the sandbox so far, in microseconds, and bytes of its heap after a collection. */
export interface Usage {
  readonly CPU: number
  readonly heap: number
}

const [folder = "", posts, time, file] = process.argv.slice(2)
const [context, effect, layers, redacted, scopes, { layerServer, Sandbox }] = await Checkout.modules(folder)(
  "effect/Context",
  "effect/Effect",
  "effect/Layer",
  "effect/Redacted",
  "effect/Scope",
  "@postwire/sandbox/Sandbox"
)

const microseconds = (): number => {
  const { system, user } = process.cpuUsage()
  return system + user
}

const [begun, before] = [performance.now(), microseconds()]
const layer = layerServer({ posts: Number(posts), start: Number(time), file })
const sandbox = context.get(await effect.runPromise(layers.buildWithScope(layer, scopes.makeUnsafe())), Sandbox)

const ready: Ready = {
  url: sandbox.baseUrl,
  token: redacted.value(sandbox.seeded.userBearerToken),
  userId: sandbox.seeded.ada.id,
  made: {
    CPU: microseconds() - before,
    time: (performance.now() - begun) * 1000,
    memory: process.resourceUsage().maxRSS / 1e3,
    ...(file === undefined ? {} : { size: (statSync(file).size + statSync(`${file}-wal`).size) / 1e3 })
  }
}

/** A question looks at the work, with a collection if memory is of interest, and spends no window: all begin anew. */
Child.answer(ready, async ({ collects = false }: { readonly collects?: boolean }): Promise<Usage> => {
  sandbox.budget.clear()
  if (collects) globalThis.gc?.()
  return { CPU: microseconds(), heap: process.memoryUsage().heapUsed }
})
