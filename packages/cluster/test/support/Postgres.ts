/** A PostgreSQL of its own on a free loopback port, run by an ordinary user, or the reason why there is none. */
import { execFileSync, spawnSync } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Postgres extends AsyncDisposable {
  readonly url: string
  /** Ends it at once, as a crash does, and starts it again. */
  readonly restart: () => void
  readonly stop: () => void
  readonly start: () => void
}

/** Where the programs of the real thing are: Debian leaves them off the path. */
const programs = (): string | undefined => {
  const root = "/usr/lib/postgresql"
  const folders = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  return [...folders.map((version) => join(root, version, "bin")), ...(process.env["PATH"] ?? "").split(":")]
    .find((folder) => {
      if (!existsSync(join(folder, "initdb")) || !existsSync(join(folder, "pg_ctl"))) return false
      const { stdout } = spawnSync(join(folder, "postgres"), ["--version"], { encoding: "utf8" })
      return stdout?.startsWith("postgres (PostgreSQL)") === true
    })
}

/** Why there is no PostgreSQL here; nothing when there is one. */
export const missing: string | undefined = programs() === undefined
  ? "needs PostgreSQL (apt-get install postgresql)"
  : undefined

/** Postgres refuses to be run by root. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().on("error", reject).listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

export const postgres = async (): Promise<Postgres> => {
  const bin = programs() ?? ""
  const folder = mkdtempSync(join(tmpdir(), "postwire-pg-"))
  if (nobody.uid !== undefined) chownSync(folder, nobody.uid, nobody.gid)
  const port = await freePort()
  const run = (program: string, ...args: ReadonlyArray<string>) =>
    execFileSync(join(bin, program), args, { ...nobody, cwd: folder, stdio: ["ignore", "ignore", "pipe"] })
  const data = join(folder, "data")
  run("initdb", "--pgdata", data, "--username=postwire", "--auth=trust", "--encoding=UTF8", "--no-sync")
  const options = `-p ${port} -h 127.0.0.1 -k ${folder} -c fsync=off -c max_connections=200`
  const start = () => void run("pg_ctl", "-D", data, "-w", "-o", options, "-l", join(folder, "log"), "start")
  const stop = () => void run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
  start()
  return {
    url: `postgres://postwire@127.0.0.1:${port}/postgres`,
    start,
    stop,
    restart: () => {
      stop()
      start()
    },
    [Symbol.asyncDispose]: async () => {
      stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
