/** File operations that survive a crash: when a call returns, its effect is on the disk. Failures are typed. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { createHash, type Hash } from "node:crypto"
import { createReadStream } from "node:fs"
import * as fs from "node:fs/promises"
import { basename, dirname } from "node:path"
import {
  CheckpointUnusable,
  DiskFull,
  type ExportError,
  FileExists,
  FileFailure,
  NotWritable,
  OutputRefused,
  PipeClosed
} from "./ExportErrors.ts"

/** Runs a file operation; a failure becomes an `ExportError`. */
export const attempt = <A>(path: string, work: () => Promise<A>): Effect.Effect<A, ExportError> =>
  Effect.tryPromise({ try: work, catch: (cause) => failureOf(path, cause) })

/** Maps a failure to an `ExportError`. */
export const failureOf = (path: string, cause: unknown): ExportError => {
  const errcode = sqliteCodeOf(cause)
  const reason = cause instanceof Error ? cause.message : String(cause)
  switch (errcode === undefined ? codeOf(cause) : sqlite[errcode]) {
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new DiskFull({ path, reason })
    case "EEXIST":
      return new FileExists({ path })
    case "EACCES":
    case "EPERM":
    case "EROFS":
    case "ENOENT":
    case "ENOTDIR":
    case "EISDIR":
      return new NotWritable({ path, reason })
    case "ENAMETOOLONG":
      return new OutputRefused({ path, reason: "the name is too long" })
    case "ELOOP":
      return new OutputRefused({ path, reason: "it is a symbolic link" })
    case "EPIPE":
      return new PipeClosed()
    case "EBUSY":
      return new FileFailure({ path, reason: "another program has locked it", cause })
    default:
      return new FileFailure({ path, reason, cause })
  }
}

/** The error code of Node, such as `ENOSPC`. */
export const codeOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : undefined

/** The file named in an error of Node. */
export const pathOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "path") && typeof cause.path === "string" ? cause.path : undefined

/** The primary result code of SQLite. */
export const sqliteCodeOf = (cause: unknown): number | undefined =>
  Predicate.hasProperty(cause, "errcode") && typeof cause.errcode === "number" ? cause.errcode & 0xff : undefined

/** SQLite's own codes for these errors. */
const sqlite: Readonly<Record<number, string>> = { 5: "EBUSY", 8: "EROFS", 13: "ENOSPC", 14: "EACCES" }

/** Checks whether a name is taken; a dangling link counts. */
export const exists = (path: string): Effect.Effect<boolean, ExportError> =>
  Effect.map(look(path), (found) => found !== undefined)

/** The `lstat` of a path, or `undefined` if there is nothing. */
export const look = (path: string) =>
  attempt(path, () =>
    fs.lstat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined
      throw error
    }))

/** The text of a file, or `undefined` if there is none. */
export const read = (path: string): Effect.Effect<string | undefined, ExportError> =>
  attempt(path, () =>
    fs.readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined
      throw error
    }))

/** The name of a file in a folder, without a path. */
export const Name = Schema.String.check(
  Schema.makeFilter((name) => basename(name) === name && !["", ".", ".."].includes(name))
)

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR, O_TRUNC, O_WRONLY } = fs.constants

const ways = { w: O_WRONLY | O_CREAT | O_TRUNC, "r+": O_RDWR, a: O_WRONLY | O_CREAT | O_APPEND }

/** Opens a file for writing with Node's flag of the same name, but never through a symbolic link. */
export const open = (path: string, way: keyof typeof ways): Promise<fs.FileHandle> =>
  fs.open(path, ways[way] | O_NOFOLLOW)

/** Replaces a file atomically: after a crash it is the whole old or the whole new one. */
export const replace = (path: string, text: string): Effect.Effect<void, ExportError> =>
  attempt(path, async () => {
    const temporary = `${path}.tmp`
    {
      await using file = await open(temporary, "w")
      await file.writeFile(text)
      await file.sync()
    }
    await fs.rename(temporary, path)
    await syncFolder(path)
  })

/** Syncs the folder of a file, where the file system can: only then does a new name survive a crash. */
export const syncFolder = async (path: string): Promise<void> => {
  try {
    await using folder = await fs.open(dirname(path), "r")
    await folder.sync()
  } catch (error) {
    // Network and foreign file systems refuse it. After a power failure an older checkpoint may be back, which works as well.
    if (!refusals.has(codeOf(error) ?? "")) throw error
  }
}

const refusals = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EPERM", "EACCES", "EISDIR", "EBADF"])

/** The digest of a file. */
export interface Digest {
  readonly sha256: string
  readonly bytes: number
}

/** The SHA-256 and the length of a file; a failure if its SHA-256 is not the `known` one. */
export const digest = (path: string, known?: string): Effect.Effect<Digest, ExportError> =>
  attempt(path, async () => {
    const { bytes, hash } = await hashOf(path)
    return { sha256: hash.digest("hex"), bytes }
  }).pipe(Effect.filterOrFail(
    ({ sha256 }) => known === undefined || sha256 === known,
    () => new CheckpointUnusable({ path, reason: "it was changed while it was written" })
  ))

/** The bytes that are read and hashed at a time. */
const hashedBytes = 524_288

/** The hash of the first `bytes` of a file, to be continued. */
export const hashOf = async (
  path: string,
  bytes = Infinity
): Promise<{ readonly hash: Hash; readonly bytes: number }> => {
  const hash = createHash("sha256")
  let read = 0
  if (bytes === 0) return { hash, bytes: read }
  for await (
    const chunk of createReadStream(path, { end: bytes - 1, highWaterMark: hashedBytes }) as AsyncIterable<Buffer>
  ) {
    hash.update(chunk)
    read += chunk.length
  }
  return { hash, bytes: read }
}

/** Removes a file or a folder, if it is there. */
export const remove = (path: string): Effect.Effect<void, ExportError> =>
  attempt(path, () => fs.rm(path, { recursive: true, force: true }))

/** Moves a file to a name that is free, and stays free meanwhile; otherwise fails with `EEXIST`. */
const moveToFree = async (from: string, to: string): Promise<void> => {
  try {
    await fs.link(from, to)
  } catch (error) {
    const code = codeOf(error)
    if (code === "EEXIST") {
      // A run that crashed may have made the link.
      const [source, target] = await Promise.all([fs.lstat(from), fs.lstat(to)])
      if (source.ino !== target.ino || source.dev !== target.dev) throw error
    } else if (withoutLinks.has(code ?? "")) {
      if (await fs.lstat(to).then(() => true, () => false)) throw Object.assign(new Error(to), { code: "EEXIST" })
      return await fs.rename(from, to)
    } else throw error
  }
  await fs.unlink(from)
}

/** Moves a file to its place, replacing another one only if it may; the new name is on the disk when this succeeds. */
export const place = async (from: string, to: string, mayReplace = false): Promise<void> => {
  await (mayReplace ? fs.rename : moveToFree)(from, to)
  await syncFolder(to)
}

/** The codes of file systems that have no links. */
const withoutLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"])
