/** What tests of exports share: a folder, a sandbox on a port, its client. */
import { PaginationStuck } from "@postwire/core/errors/Errors"
import { searchRecentPosts } from "@postwire/core/operations/Search"
import type { CountBucket } from "@postwire/core/schema/models/CountBucket"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Deferred, Effect, Layer, Stream } from "effect"
import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type * as Export from "../../src/Export.ts"
import * as Partitions from "../../src/Partitions.ts"
import * as Plan from "../../src/sources/Plan.ts"
import * as Source from "../../src/sources/Source.ts"
import { parameters } from "./Sinks.ts"

export const now = Date.UTC(2026, 10, 20, 12)

export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "postwire-export-"))),
  (path) =>
    Effect.sync(() => {
      rmSync(path, { recursive: true })
    })
)

export const sandbox = (posts = 300) => Sandbox.layerServer({ posts, start: now })

/** A client of the sandbox. */
export const client = Layer.unwrap(
  Effect.map(
    Sandbox.Sandbox,
    ({ baseUrl, seeded }) => NodeClient.layer({ baseUrl, bearerToken: seeded.appBearerToken })
  )
)

export const source = Source.make(searchRecentPosts, parameters)

/** The bytes of every file below a folder by name, less those that tell the time, name jobs or lock. */
export const filesOf = (path: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(path, { recursive: true, encoding: "utf8" })
      .filter((name) => !/(manifest\.json|comply\.json|lock)$/.test(name) && statSync(join(path, name)).isFile())
      .map((
        name
      ) => [name, name.endsWith(".sqlite") ? dump(join(path, name)) : readFileSync(join(path, name), "latin1")])
  )

/** The names of the files that two folders do not have alike. */
export const differing = (one: string, other: string): ReadonlyArray<string> => {
  const [a, b] = [filesOf(one), filesOf(other)]
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => a[name] !== b[name])
}

/** Every row of every table. */
export const dump = (path: string): string => {
  const database = new DatabaseSync(path, { readOnly: true })
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  const rows = tables.map(({ name }) => [name, database.prepare(`SELECT * FROM "${String(name)}" ORDER BY 1`).all()])
  const broken = database.prepare("PRAGMA foreign_key_check").all()
  database.close()
  return JSON.stringify([rows, broken], undefined, 1)
}

/** Everything below a folder, with what is in it. */
export const everything = (root: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [
        path.slice(root.length + 1),
        entry.isFile()
          ? createHash("sha256").update(readFileSync(path)).digest("hex")
          : entry.isSymbolicLink()
          ? `to ${readlinkSync(path)}`
          : "other"
      ]
    })
  )

/** The pages of a source, so many of them, and then a failure of the service. */
export const failing = (pages: number, of: Source.Source = source): Source.Source => ({
  ...of,
  pages: (cursor) =>
    Stream.concat(
      Stream.take(of.pages(cursor), pages),
      Stream.fail(new PaginationStuck({ operation: "x", token: "t" }))
    )
})

/** Options that stop an export after so many pages, or after the next one. */
export const stopAfter = (pages?: number) =>
  Effect.map(Deferred.make<void>(), (stop) => ({
    stop: Deferred.await(stop),
    onPage: ({ progress }: Export.Report) =>
      pages === undefined || progress.pages === pages ? Deferred.succeed(stop, undefined) : Effect.void
  }))

/** The JSON Lines of a file. */
export const linesIn = (path: string): ReadonlyArray<Record<string, unknown>> =>
  readFileSync(path, "utf8").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))

/** The partitions of a search that can be cut. */
export const planned = (of: Source.Source, buckets: ReadonlyArray<CountBucket>, parts: number, limit?: number) => {
  const plan = Partitions.planPartitions(of, buckets, parts, limit)
  if (plan instanceof Plan.NotPlannable) throw plan
  return plan
}
