/** Where an account can be shared: an empty folder, or a server of its own. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Postgres from "../../../cluster/test/support/Postgres.ts"
import * as RedisServer from "../../../node/test/support/RedisServer.ts"
import type { StoreName } from "./AccountStores.ts"

export interface Place extends AsyncDisposable {
  /** The folder or the address. */
  readonly address: string
}

/** Each, and why this machine has none. */
export const places: Readonly<
  Record<StoreName, { readonly missing: string | undefined; readonly start: () => Promise<Place> }>
> = {
  file: {
    missing: undefined,
    start: async () => {
      const folder = mkdtempSync(join(tmpdir(), "postwire-accounts-"))
      return {
        address: join(folder, "accounts"),
        [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true })
      }
    }
  },
  redis: {
    missing: RedisServer.isInstalled ? undefined : "needs Redis (apt-get install redis-server)",
    start: async () => {
      const { stop, url } = await RedisServer.start()
      return { address: url, [Symbol.asyncDispose]: stop }
    }
  },
  postgres: {
    missing: Postgres.missing,
    start: async () => {
      const server = await Postgres.postgres()
      return { address: server.url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
    }
  }
}
