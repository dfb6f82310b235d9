/** A real Redis on a free loopback port, started from the binary on the path. */
import { createClient, RESP_TYPES } from "@redis/client"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { aged } from "../../../core/test/support/SpendStores.ts"

/** Whether this machine has a `redis-server`; Debian's package is `redis-server`. */
export const isInstalled = spawnSync("redis-server", ["--version"]).status === 0

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  if (address === null || typeof address === "string") throw new Error("a port has an address")
  return address.port
}

export const start = async (port?: number) => {
  const at = port ?? await freePort()
  const server = spawn(
    "redis-server",
    ["--port", String(at), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", tmpdir()],
    { stdio: ["ignore", "pipe", "inherit"] }
  )
  for await (const chunk of server.stdout) if (String(chunk).includes("Ready to accept connections")) break
  server.stdout.resume()
  const url = `redis://127.0.0.1:${at}`
  return {
    port: at,
    url,
    /** Saves all that it has; what it returns restores that, as after a failover to a copy that is behind. */
    save: async (): Promise<() => Promise<void>> => {
      const client = createClient({ url }).withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
      await client.connect()
      const kept = await Promise.all(
        (await client.keys("*")).map(async (key) => [key, await client.dump(key)] as const)
      )
      return async () => {
        const restored = client.multi().flushAll()
        for (const [key, dump] of kept) if (dump !== null) restored.restore(key, 0, dump)
        await restored.exec()
        client.destroy()
      }
    },
    /** Makes reservations of spend stores older. */
    age: async (millis: number): Promise<void> => {
      const client = createClient({ url })
      await client.connect()
      for (const key of await client.keys("postwire:bill:*:open")) {
        await client.set(key, aged(await client.get(key) ?? "", millis))
      }
      client.destroy()
    },
    stop: async () => {
      if (server.exitCode !== null || server.signalCode !== null) return
      server.kill("SIGKILL")
      await once(server, "exit")
    }
  }
}
