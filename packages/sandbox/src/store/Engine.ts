/** Node's SQLite, checked for the features that the store needs. */
import { minimum } from "@postwire/core/runtime/SupportedNode"
import * as Schema from "effect/Schema"
import type * as Sqlite from "node:sqlite"

/** This Node lacks SQLite or its full-text search. The sandbox was not started. */
export class NodeUnsupported
  extends Schema.TaggedError<NodeUnsupported>("@postwire/sandbox/store/Engine/NodeUnsupported")(
    "NodeUnsupported",
    { version: Schema.String }
  )
{
  override get message() {
    return `The sandbox needs SQLite with full-text search, which Node ${this.version} lacks: use an official build of ` +
      `Node ${minimum} or newer`
  }
}

type Engine = Pick<typeof Sqlite, "DatabaseSync">

/** Throws `NodeUnsupported` unless the engine supports the tables. */
export const check = (engine: Engine | undefined): Engine => {
  if (engine === undefined) throw new NodeUnsupported({ version: process.versions.node })
  const database = new engine.DatabaseSync(":memory:")
  try {
    database.exec("CREATE VIRTUAL TABLE t USING fts5(text, content = '', contentless_delete = 1)")
  } catch {
    throw new NodeUnsupported({ version: process.versions.node })
  } finally {
    database.close()
  }
  return engine
}

let engine: Engine | undefined

/** Opens a connection; the first one checks the engine. Throws `NodeUnsupported`. */
export const connect = (...args: ConstructorParameters<typeof Sqlite.DatabaseSync>): Sqlite.DatabaseSync => {
  // Not imported, because a missing module would end the program before the error can be reported.
  engine ??= check(process.getBuiltinModule("node:sqlite"))
  return new engine.DatabaseSync(...args)
}
