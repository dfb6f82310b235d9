/** `postwire worker`: runs parts of exports until it is stopped, on any machine that reaches the database. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { createServer } from "node:net"
import { hostname } from "node:os"
import { isLoopback } from "../connection/Loopback.ts"
import * as Variables from "../connection/Variables.ts"
import * as Cluster from "../exporting/Cluster.ts"
import * as Args from "../terminal/Args.ts"
import * as Report from "../terminal/Report.ts"
import { lines } from "./Lines.ts"

export const command = Command.make(
  "worker",
  {
    cluster: Cluster.flag,
    credentials: Variables.flag,
    host: Flag.String("host").pipe(
      Args.withDefault("The name under which other workers reach this machine", hostname())
    ),
    port: Args.int("port", 0, 65_535).pipe(
      Args.withDefault("The port for other workers; 0 takes any free one", 34_431)
    ),
    store: Args.text(
      "rate-limit-store",
      "The store of rate limits that all workers share: redis://... (default: the database of the cluster)",
      "ADDRESS"
    ),
    tokenStore: Args.text(
      "token-store",
      "The store of accounts: a folder, or redis://... (default: the database of the cluster)",
      "ADDRESS"
    ),
    json: Report.jsonWhenReady
  },
  Effect.fnUntraced(function*({ cluster, credentials, host, json, port: asked, store, tokenStore }) {
    const Worker = yield* Effect.promise(() => import("@postwire/cluster/Worker"))
    const database = yield* Cluster.database(cluster)
    const port = asked === 0 ? yield* freePort : asked
    const environment = ConfigProvider.fromEnv()
    const provider = Option.isNone(credentials)
      ? environment
      : ConfigProvider.fromUnknown(yield* Variables.read(credentials.value)).pipe(ConfigProvider.orElse(environment))
    const worker = Worker.layer({
      database,
      address: { host, port },
      listen: isLoopback(host) ? host : undefined,
      rateLimitStore: Option.getOrUndefined(store),
      tokenStore: Option.getOrUndefined(tokenStore)
    }).pipe(Layer.provide(ConfigProvider.layer(provider)))
    return yield* Effect.scoped(Effect.gen(function*() {
      yield* Layer.build(worker)
      const name = `${host}:${port}`
      yield* Report.part(json, { worker: name, pid: process.pid }, [`The worker ${name} is ready. Ctrl-C ends it.`])
      return yield* Effect.never
    }))
  })
).pipe(
  Args.help(
    "Run parts of exports until it is stopped, together with other workers of the database.",
    lines.worker,
    {
      "postwire worker --cluster postgres://postwire@db.internal/exports":
        "On every machine, with the credentials in its environment"
    }
  )
)

const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})
