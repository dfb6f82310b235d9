/** Workers as processes of their own, against a sandbox and a PostgreSQL, and what they have brought together. */
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Layer, Redacted, Stream } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { postwire } from "../../../core/test/support/ProgramFile.ts"
import type * as Database from "../../src/Database.ts"
import type { Query } from "../../src/Query.ts"
import { type ExportStatus, Tables } from "../../src/Tables.ts"
import * as Worker from "../../src/Worker.ts"

export const databaseOf = (url: string): Database.Database => ({ _tag: "Postgres", url: Redacted.make(url) })

/** What a process needs to find the sandbox and the database. */
export const environmentOf = ({ baseUrl, seeded }: Sandbox.Sandbox["Service"], url: string): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_OPTIONS: "",
  POSTWIRE_BASE_URL: baseUrl,
  POSTWIRE_BEARER_TOKEN: Redacted.value(seeded.appBearerToken),
  POSTWIRE_CLUSTER_URL: url
})

/** A command in a process of its own, killed with the scope. */
export const command = (environment: NodeJS.ProcessEnv, ...args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [postwire, ...args], { env: environment, stdio: ["ignore", "pipe", "pipe"] })
    ),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )

/** A command to its end. */
export const run = (environment: NodeJS.ProcessEnv, ...args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.flatMap(command(environment, ...args), (child) =>
    Effect.promise(async () => {
      let [output, errors] = ["", ""]
      child.stdout?.setEncoding("utf8").on("data", (text) => output += text)
      child.stderr?.setEncoding("utf8").on("data", (text) => errors += text)
      const [code] = await once(child, "close")
      return { code: code as number, output, errors }
    })))

export interface WorkerProcess {
  readonly name: string
  readonly child: ChildProcess
  /** What it has said on standard error. */
  readonly errors: () => string
  readonly ended: Effect.Effect<unknown>
}

/** A worker that is ready. */
export const worker = (environment: NodeJS.ProcessEnv, ...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const child = yield* command(environment, "worker", "--host", "127.0.0.1", "--port", "0", "--json", ...args)
    let errors = ""
    child.stderr?.setEncoding("utf8").on("data", (text) => errors += text)
    const exit = once(child, "exit")
    const name = yield* Effect.promise(async () => {
      for await (const line of createInterface(child.stdout!)) {
        if (line.startsWith("{")) return JSON.parse(line).worker as string
      }
      throw new Error(`The worker has ended: ${errors}`)
    })
    child.stdout?.resume()
    return { name, child, errors: () => errors, ended: Effect.promise(() => exit) } satisfies WorkerProcess
  })

/** Starts and watches exports from this process. */
export const client = (url: string) => Worker.layerClient(databaseOf(url))

export const queryOf = (query: string, parameters: Query["parameters"] = {}): Query => ({
  operation: "searchRecentPosts",
  parameters: { query, max_results: 100, ...parameters },
  credentials: "default",
  label: ""
})

/** Waits until an export is as asked for. */
export const until = (id: string, condition: (status: ExportStatus) => boolean) =>
  Effect.gen(function*() {
    const tables = yield* Tables
    while (true) {
      // The database may be away for a moment.
      const [status] = yield* Effect.orElseSucceed(tables.status(id), () => [])
      if (status?.state === "failed") {
        return yield* Effect.die(
          new Error(
            `It failed: ${status.problem ?? status.parts.find(({ problem }) => problem !== undefined)?.problem}`
          )
        )
      }
      if (status !== undefined && condition(status)) return status
      if (status?.state === "done") return yield* Effect.die(new Error("It was done before it happened"))
      yield* Effect.sleep(50)
    }
  })

export const isDone = ({ state }: ExportStatus): boolean => state === "done"

/** The ids that an export has brought. */
export const idsOf = (id: string, kind = "posts") =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ readonly id: string }>`
      SELECT id FROM postwire_resources WHERE export = ${id} AND kind = ${kind} AND wanted`
    return rows.map((row) => row.id)
  })

/** The ids that the sandbox itself gives, asked as often as that takes. */
export const expected = (query: string) =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    sandbox.budget.clear()
    return yield* searchRecentPosts.pages({ query, max_results: 100 }).pipe(
      Stream.tap(() => Effect.sync(sandbox.budget.clear)),
      Stream.flatMap(({ data = [] }) => Stream.fromIterable(data)),
      Stream.map(({ id }) => id),
      Stream.runCollect,
      Effect.provide(
        Client.layer({ baseUrl: sandbox.baseUrl }).pipe(
          Layer.provide([Credentials.layer({ bearerToken: sandbox.seeded.appBearerToken }), UndiciHttpClient.layer()])
        )
      )
    )
  })

/** The statuses of the answers to searches so far, by how often they were given. */
export const answers = (sandbox: Sandbox.Sandbox["Service"]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { operation, status } of sandbox.journal.entries()) {
    if (operation === "searchRecentPosts" || operation === "searchAllPosts") {
      counts[String(status)] = (counts[String(status)] ?? 0) + 1
    }
  }
  return counts
}
