/**
 * Files of ids, users or queries: a line each, CSV, or JSON Lines, plain or compressed, of any size. A file is read once before
 * anything is asked for: every row is checked, all are counted, and the hash refuses another file when an export goes on.
 *
 * ```ts
 * const rows = yield* Rows.open("users.csv", { kind: Rows.users })
 * const batches = rows.batches(100) // a Stream of up to 100 rows, each with its line and its value
 * ```
 */
import { parse } from "csv-parse/sync"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import * as disk from "./internal/disk.ts"
import { inflate } from "./internal/inflate.ts"
import * as records from "./internal/records.ts"

/** A file of rows cannot be read, or has rows that are not what they are to be. Nothing was asked for yet. */
export class RowsUnusable extends Schema.TaggedError<RowsUnusable>()("RowsUnusable", {
  path: Schema.String,
  /** Where the first such row begins, from 1. */
  line: Schema.optionalKey(Schema.Int),
  reason: Schema.String,
  advice: Schema.String
}) {
  override get message(): string {
    return `${this.path}${this.line === undefined ? "" : `, line ${this.line}`}: ${this.reason}`
  }
}

/** What the rows of a file are. */
export interface Kind {
  /** For messages, such as `the id of a post`. */
  readonly what: string
  /** The columns that hold them, most telling first: which one counts in files that have several. */
  readonly columns: ReadonlyArray<string>
  /** The value as it is used; none where a text is no such thing. */
  readonly read: (text: string, column: string | undefined) => string | undefined
  /** Whether a value that begins with `@` is a name that has to be looked up. */
  readonly hasNames?: true
}

const id = /^\d{1,19}$/

/** Ids of something, in one of the columns. */
export const ids = (what: string, columns: ReadonlyArray<string>): Kind => ({
  what,
  columns: [...columns, "id"],
  read: (text) => id.test(text) ? text : undefined
})

/** Ids of posts, or their addresses. */
export const posts: Kind = {
  what: "the id of a post",
  columns: ["post_id", "tweet_id", "status_id", "id", "id_str", "post", "tweet", "url"],
  read: (text) =>
    id.test(text) ? text : /^https?:\/\/[^/]+\/(?:[^/]+|i\/web)\/status\/(\d{1,19})(?:[/?#].*)?$/.exec(text)?.[1]
}

/** Users: ids as they are, and names as `@name`, from names with and without the sign and from the addresses of profiles. */
export const users: Kind = {
  what: "the id or the name of a user",
  columns: ["user_id", "author_id", "id", "username", "screen_name", "handle", "user", "account", "id_str", "name"],
  read: (text, column = "") => {
    if (id.test(text) && !namesOfNames.has(column)) return text
    const name = /^(?:@|https?:\/\/(?:[^/]+\.)?(?:x|twitter)\.com\/)?([A-Za-z0-9_]{1,15})\/?$/.exec(text)?.[1]
    return name && `@${name}`
  },
  hasNames: true
}

/** What is all digits is a name there. */
const namesOfNames = new Set(["username", "screen_name", "handle"])

/** Queries of searches. */
export const queries: Kind = {
  what: "a query",
  columns: ["query", "q", "search"],
  read: (text) => text === "" ? undefined : text
}

/** A row. */
export interface Row {
  /** Which one it is, from 1. */
  readonly number: number
  /** The line at which it begins, from 1. */
  readonly line: number
  /** What it is, as it is used. */
  readonly value: string
  /** What it is, as the file has it. */
  readonly text: string
  /** All columns of the row: texts in CSV, any JSON in JSON Lines, none where a line is a value. */
  readonly cells: Readonly<Record<string, unknown>>
  /** The place after it, at which `batches` goes on. */
  readonly next: string
}

/** What a file is made of: a value a line, CSV with a comma, a semicolon or a tab, or a JSON value a line. */
export type Format = "lines" | "csv" | "jsonl"

/** A file whose rows were all checked. */
export interface Rows {
  /** As it was named; `standard input` where that was read. */
  readonly path: string
  readonly kind: Kind
  readonly format: Format
  /** The column that counts, where rows have several. */
  readonly column: string | undefined
  /** All columns of the first row. */
  readonly columns: ReadonlyArray<string>
  /** How many rows there are. */
  readonly count: number
  /** How many of them are names that have to be looked up. */
  readonly names: number
  /** Of the file as it is on the disk, in hexadecimal: the same for the same rows, wherever the file is. */
  readonly sha256: string
  /** What is between the columns of CSV. */
  readonly delimiter: string
  /** The whole file as it was checked, inflated. Throws `RowsUnusable`. */
  readonly bytes: () => AsyncIterable<Buffer>
  /** Up to so many rows at a time, in the order of the file, from its beginning or from a place in it (`Row.next`). */
  readonly batches: (size: number, from?: string) => Stream.Stream<ReadonlyArray<Row>, RowsUnusable>
}

/** How to read a file. */
export interface Options {
  readonly kind: Kind
  /** The column that counts, in JSON Lines a member, or a way through members such as `user.id`. Default: the first that `kind` names. */
  readonly column?: string | undefined
  /** Default: what the name of the file says, else lines. */
  readonly format?: Format | undefined
  /** What `-` stands for. Default: the standard input. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined
}

/**
 * Opens a file of rows and reads it once. `-` is standard input, which is kept in a temporary file until the scope ends, as is
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

/** What can be read once, in a file of its own. */
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
  if (cause instanceof records.Malformed) {
    return new RowsUnusable({ path, line: cause.line, reason: cause.message, advice: correct })
  }
  const reason = disk.codeOf(cause) === "ENOENT"
    ? "there is no such file"
    : cause instanceof Error
    ? cause.message
    : String(cause)
  return new RowsUnusable({ path, reason, advice: "Name a file that you may read, and leave it as it is meanwhile." })
}

/** How to read the records of a file. */
interface Layout {
  readonly format: Format
  readonly delimiter: string
  readonly hasHeader: boolean
  readonly columns: ReadonlyArray<string>
  readonly column: string | undefined
}

/** What the first record of a file says of the others. */
const layoutOf = async (
  chunks: AsyncIterable<Buffer>,
  name: string,
  { column, format: given, kind }: Options
): Promise<Layout> => {
  const ending = /\.(csv|tsv|jsonl|ndjson|json)(?:\.(?:gz|zst))?$/i.exec(name)?.[1]?.toLowerCase()
  const named = ending === undefined ? undefined : ending === "csv" || ending === "tsv" ? "csv" : "jsonl"
  for await (const [first] of records.recordsOf(chunks, { quotes: false, from: records.beginning })) {
    const text = first?.text.replace(/^\ufeff/, "") ?? ""
    const format = given ?? named ?? (text.startsWith("{") ? "jsonl" : "lines")
    if (format === "lines") {
      if (column !== undefined) throw new Error(`lines have no column ${column}: it is neither CSV nor JSON Lines`)
      return { ...plain, format }
    }
    if (format === "jsonl") {
      const parsed = parseJson(text, first?.line ?? 1)
      if (Array.isArray(parsed)) {
        throw new records.Malformed(first?.line ?? 1, "an array is not read row by row: put a value on each line")
      }
      if (!isRecord(parsed)) return { ...plain, format }
      const columns = Object.keys(parsed)
      return { ...plain, format, columns, column: column ?? guessed(columns, kind) }
    }
    const delimiter = [",", ";", "\t"].reduce((best, one) =>
      text.split(one).length > text.split(best).length ? one : best
    )
    const cells = parseCsv([{ text, line: first?.line ?? 1, next: records.beginning }], delimiter)[0] ?? []
    const found = cells.find((cell) => column === undefined ? kind.columns.includes(normal(cell)) : cell === column)
    if (found === undefined && column === undefined && cells.length === 1) {
      // The name of an only column may be any, where it is not a value itself.
      const hasHeader = kind.read(cells[0]?.trim() ?? "", undefined) === undefined
      return { format, delimiter, hasHeader, columns: cells, column: hasHeader ? cells[0] : undefined }
    }
    return {
      format,
      delimiter,
      hasHeader: true,
      columns: cells,
      column: found === undefined ? missing(cells, column, kind) : column ?? guessed(cells, kind)
    }
  }
  return { ...plain, format: given ?? named ?? "lines" }
}

const plain = { delimiter: ",", hasHeader: false, columns: [], column: undefined }

const normal = (column: string): string => column.trim().toLowerCase().replaceAll(/[\s-]+/g, "_")

const guessed = (columns: ReadonlyArray<string>, kind: Kind): string =>
  kind.columns.flatMap((name) => columns.filter((column) => normal(column) === name))[0] ??
    missing(columns, undefined, kind)

const missing = (columns: ReadonlyArray<string>, column: string | undefined, kind: Kind): never => {
  const shown = columns.slice(0, 8).map((name) => name.trim()).join(", ")
  const more = columns.length > 8 ? ` and ${columns.length - 8} more` : ""
  throw new records.Malformed(
    1,
    column === undefined
      ? `no column is known to hold ${kind.what}; there are ${shown}${more}: name the one that counts`
      : `there is no column ${column}; there are ${shown}${more}`
  )
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A row as it was read, which may not be what it is to be. */
interface Read extends Omit<Row, "value"> {
  readonly value: string | undefined
}

/** The rows of a file. */
async function* readsOf(
  chunks: AsyncIterable<Buffer>,
  layout: Layout,
  { read }: Kind,
  from?: string
): AsyncGenerator<ReadonlyArray<Read>> {
  const { column, columns, delimiter, format, hasHeader } = layout
  const name = column === undefined ? undefined : normal(column)
  const rowOf = ({ line, next }: records.Record, cells: Row["cells"], value: unknown): Read => {
    const text = typeof value === "string" ? value.trim() : typeof value === "number" ? String(value) : ""
    return { number: next.row, line, text, value: read(text, name), cells, next: placeText(next) }
  }
  // The header is no row.
  const start = from === undefined ? { ...records.beginning, row: hasHeader ? -1 : 0 } : placeOf(from)
  let isFirst = from === undefined
  for await (const chunk of records.recordsOf(chunks, { quotes: format === "csv", from: start })) {
    const [first, ...rest] = chunk
    const found = isFirst && first !== undefined
      ? hasHeader ? rest : [{ ...first, text: first.text.replace(/^\ufeff/, "") }, ...rest]
      : chunk
    isFirst = false
    switch (format) {
      case "lines":
        yield found.map((record) => rowOf(record, {}, record.text))
        break
      case "jsonl":
        yield found.map((record) => {
          const parsed = parseJson(record.text, record.line)
          return isRecord(parsed)
            ? rowOf(record, parsed, column === undefined ? undefined : memberOf(parsed, column))
            : rowOf(record, {}, parsed)
        })
        break
      case "csv": {
        const lines = parseCsv(found, delimiter)
        const at = column === undefined ? 0 : columns.indexOf(column)
        yield found.map((record, i) => {
          const cells = lines[i] ?? []
          if (cells.length !== columns.length) {
            throw new records.Malformed(record.line, `it has ${cells.length} columns, the first has ${columns.length}`)
          }
          return rowOf(
            record,
            hasHeader ? Object.fromEntries(columns.map((name, c) => [name, cells[c]])) : {},
            cells[at]
          )
        })
        break
      }
    }
  }
}

/** The value of a line. A number too large for one stays as it is written. */
const parseJson = (text: string, line: number): unknown => {
  try {
    return JSON.parse(text, exact)
  } catch {
    throw new records.Malformed(line, "it is not JSON")
  }
}

const exact = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^\d+$/.test(context?.source ?? "")
    ? context?.source
    : value

const memberOf = (row: Readonly<Record<string, unknown>>, path: string): unknown =>
  Object.hasOwn(row, path)
    ? row[path]
    : path.split(".").reduce<unknown>((value, name) => isRecord(value) ? value[name] : undefined, row)

const parseCsv = (found: ReadonlyArray<records.Record>, delimiter: string): ReadonlyArray<ReadonlyArray<string>> => {
  try {
    return parse(found.map(({ text }) => text).join("\n"), {
      delimiter,
      record_delimiter: ["\r\n", "\n"],
      relax_column_count: true
    })
  } catch (error) {
    const at = Predicate.hasProperty(error, "records") && typeof error.records === "number" ? error.records : 0
    throw new records.Malformed(found[at]?.line ?? 1, "a quote is in the middle of a value")
  }
}

const placeText = ({ byte, line, row }: records.Place): string => `${byte}:${line}:${row}`

const placeOf = (text: string): records.Place => {
  const [byte = 0, line = 0, row = 0] = text.split(":").map(Number)
  return { byte, line, row }
}

/** Reads all rows and counts them, and the names among them. */
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

/** The rows of a file that was checked, so many at a time. */
async function* batched(reads: AsyncIterable<ReadonlyArray<Read>>, size: number): AsyncGenerator<ReadonlyArray<Row>> {
  let batch: Array<Row> = []
  for await (const rows of reads) {
    for (const { value = "", ...row } of rows) {
      batch.push({ ...row, value })
      if (batch.length === size) {
        yield batch
        batch = []
      }
    }
  }
  if (batch.length > 0) yield batch
}
