/**
 * Files of ids, users or queries: one per line, CSV, or JSON Lines, plain or compressed, of any size. A file is read once before
 * any request: every row is checked and counted, and a hash is taken, so that an export is not resumed with another file.
 *
 * ```ts
 * const rows = yield* Rows.open("users.csv", { kind: Rows.users })
 * const batches = rows.batches(100) // a Stream of up to 100 rows, each with its line and its value
 * ```
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import * as disk from "../files/Disk.ts"
import { inflate } from "../files/Inflate.ts"
import type { Kind } from "./Kinds.ts"
import { type Asked, type Format, type Layout, layoutOf, type Read, readsOf, type Row } from "./Layout.ts"
import { Malformed } from "./Records.ts"

export { ids, type Kind, posts, queries, users } from "./Kinds.ts"
export type { Format, Row } from "./Layout.ts"

/** A file of rows cannot be read, or has invalid rows. No request was sent. */
export class RowsUnusable extends Schema.TaggedError<RowsUnusable>()("RowsUnusable", {
  path: Schema.String,
  /** The line of the first invalid row, from 1. */
  line: Schema.optionalKey(Schema.Int),
  reason: Schema.String,
  advice: Schema.String
}) {
  override get message(): string {
    return `${this.path}${this.line === undefined ? "" : `, line ${this.line}`}: ${this.reason}`
  }
}

/** A file with valid rows. */
export interface Rows {
  /** The given path, or `standard input`. */
  readonly path: string
  readonly kind: Kind
  readonly format: Format
  /** The column with the value, where rows have several. */
  readonly column: string | undefined
  /** All columns of the first row. */
  readonly columns: ReadonlyArray<string>
  /** The number of rows. */
  readonly count: number
  /** The number of names to look up. */
  readonly names: number
  /** The hash of the file on the disk, in hexadecimal, whatever its path. */
  readonly sha256: string
  /** The delimiter of CSV. */
  readonly delimiter: string
  /** The decompressed bytes of the file that was checked. Throws `RowsUnusable`. */
  readonly bytes: () => AsyncIterable<Buffer>
  /** Batches of at most `size` rows in order, from the beginning or from a place (`Row.next`). */
  readonly batches: (size: number, from?: string) => Stream.Stream<ReadonlyArray<Row>, RowsUnusable>
}

/** How to read a file. */
export interface Options extends Asked {
  /** The source of `-`. Default: standard input. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined
}

/**
 * Opens a file of rows and reads it once. `-` is standard input, which is copied to a temporary file until the scope ends, like
 * anything else that can be read only once.
 */
export const open = Effect.fnUntraced(function*(
  given: string,
  options: Options
): Effect.fn.Return<Rows, RowsUnusable, Scope.Scope> {
  const { kind, stdin = process.stdin } = options
  const path = given === "-" ? "standard input" : given
  const attempt = <A>(work: () => Promise<A>): Effect.Effect<A, RowsUnusable> =>
    Effect.tryPromise({ try: work, catch: (cause) => failureOf(path, cause) })
  const found = given === "-" ? undefined : yield* attempt(() => fs.stat(given))
  const place = found?.isFile() === true || found?.isDirectory() === true
    ? given
    : yield* copied(found === undefined ? stdin : createReadStream(given), attempt)
  const before = yield* attempt(() => fs.stat(place))
  const bytes = async function*(watch?: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
    for await (const chunk of createReadStream(place) as AsyncIterable<Buffer>) {
      watch?.(chunk)
      yield chunk
    }
    const { mtimeMs, size } = await fs.stat(place)
    if (mtimeMs !== before.mtimeMs || size !== before.size) throw new Error("it was changed while it was read")
  }
  const hash = createHash("sha256")
  const { count, layout, names } = yield* attempt(async () => {
    const layout = await layoutOf(inflate(bytes()), given, options)
    const hashed = bytes((chunk) => hash.update(chunk))
    return { layout, ...await checked(path, readsOf(inflate(hashed), layout, kind), kind, layout) }
  })
  return {
    path,
    kind,
    format: layout.format,
    column: layout.column,
    columns: layout.columns,
    count,
    names,
    sha256: hash.digest("hex"),
    delimiter: layout.delimiter,
    bytes: async function*() {
      try {
        yield* inflate(bytes())
      } catch (cause) {
        throw failureOf(path, cause)
      }
    },
    batches: (size, from) =>
      Stream.suspend(() =>
        Stream.fromAsyncIterable(
          batched(readsOf(inflate(bytes()), layout, kind, from), size),
          (cause) => failureOf(path, cause)
        )
      )
  }
})

/** Copies input that can be read only once to a temporary file. */
const copied = Effect.fnUntraced(function*(
  bytes: AsyncIterable<Uint8Array>,
  attempt: <A>(work: () => Promise<A>) => Effect.Effect<A, RowsUnusable>
) {
  const folder = yield* Effect.acquireRelease(
    attempt(() => fs.mkdtemp(join(tmpdir(), "postwire-"))),
    (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true }))
  )
  const file = join(folder, "rows")
  yield* attempt(() => pipeline(bytes, createWriteStream(file, { mode: 0o600 })))
  return file
})

const correct = "Correct the file, then run the same command again."

const failureOf = (path: string, cause: unknown): RowsUnusable => {
  if (cause instanceof RowsUnusable) return cause
  if (cause instanceof Malformed) {
    return new RowsUnusable({ path, line: cause.line, reason: cause.message, advice: cause.advice ?? correct })
  }
  const code = disk.codeOf(cause)
  const reason = code === "ENOENT"
    ? "there is no such file"
    : code === "EISDIR"
    ? "it is a folder"
    : cause instanceof Error
    ? cause.message
    : String(cause)
  return new RowsUnusable({ path, reason, advice: "Name a file that you may read, and do not change it meanwhile." })
}

/** Reads and checks all rows; counts them, and the names among them. */
const checked = async (
  path: string,
  reads: AsyncIterable<ReadonlyArray<Read>>,
  { hasNames, what }: Kind,
  { column }: Layout
): Promise<Pick<Rows, "count" | "names">> => {
  let count = 0
  let names = 0
  let bad = 0
  let first: Read | undefined
  for await (const rows of reads) {
    count += rows.length
    for (const row of rows) {
      if (row.value === undefined) {
        bad++
        first ??= row
      } else if (hasNames === true && row.value.startsWith("@")) names++
    }
  }
  if (first === undefined) return { count, names }
  const { line, text } = first
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text)
  const is = text === ""
    ? `there is not ${what}${column === undefined ? "" : ` in ${column}`}`
    : `${shown} is not ${what}`
  const more = bad === 1 ? "" : `; nor in ${bad - 1} more of ${count} rows`
  throw new RowsUnusable({ path, line, reason: `${is}${more}`, advice: correct })
}

const isValid = (row: Read): row is Read & Row => row.value !== undefined

/** The rows of a checked file, in batches. */
async function* batched(reads: AsyncIterable<ReadonlyArray<Read>>, size: number): AsyncGenerator<ReadonlyArray<Row>> {
  let batch: Array<Row> = []
  for await (const rows of reads) {
    for (const row of rows) {
      if (isValid(row)) batch.push(row)
      if (batch.length === size) {
        yield batch
        batch = []
      }
    }
  }
  if (batch.length > 0) yield batch
}
