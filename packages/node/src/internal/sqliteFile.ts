/** SQLite files. */

/** Creates a file that only its user can read, unless it exists. SQLite creates files that all users can read. */
export const makePrivate = (path: string): void => {
  if (path === ":memory:") return
  const { closeSync, openSync } = process.getBuiltinModule("node:fs")
  try {
    closeSync(openSync(path, "wx", 0o600))
  } catch {
    // It exists, or SQLite reports why it cannot be created.
  }
}

/** Tests whether another connection has the file locked. */
export const isBusy = (cause: unknown): boolean =>
  typeof cause === "object" && cause !== null && "errcode" in cause && (Number(cause.errcode) & 0xff) === 5
