/** `postwire migrate [PATH...]`: moves programs from twitter-api-v2. */
import { createTwoFilesPatch } from "diff"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { spawnSync } from "node:child_process"
import * as Migration from "../migrate/Migration.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as OutputFile from "../terminal/OutputFile.ts"
import * as Report from "../terminal/Report.ts"
import * as Table from "../terminal/Table.ts"
import { Terminal } from "../terminal/Terminal.ts"
import * as Text from "../terminal/Text.ts"
import * as TextFile from "../terminal/TextFile.ts"
import { lines } from "./Lines.ts"

const flags = {
  paths: Argument.String("path").pipe(
    Argument.withDescription("Files and folders of a git repository (default: this folder)"),
    Argument.atLeast(0)
  ),
  dryRun: Args.toggle("dry-run", "Print the changes as a unified diff: nothing is written"),
  force: Args.toggle("force", "Write where git has changes that are not committed"),
  json: Report.json
}

/** Some files are as they were, since they cannot be parsed. */
export class Unparsed
  extends Schema.TaggedError<Unparsed>()("Unparsed", { message: Schema.String, advice: Schema.String })
{
  override readonly [Runtime.errorExitCode] = ErrorReport.incomplete
}

export const command = Command.make(
  "migrate",
  flags,
  Effect.fnUntraced(function*({ dryRun, force, json, paths }) {
    const files = yield* filesOf(paths)
    if (!dryRun && !force && (yield* git(["status", "--porcelain"])) !== "") {
      return yield* ErrorReport.refuse(
        "git has changes that are not committed",
        "Commit or stash them, so that git shows the changes of this command alone; or pass --force."
      )
    }
    const results = yield* Effect.forEach(files, migrate)
    const found = results.filter((result) => result !== undefined)
    if (found.length === 0) {
      return yield* ErrorReport.refuse("no file here uses twitter-api-v2", "Name the files, or the folder they are in.")
    }
    if (!dryRun) {
      for (const { after, before, path } of found) {
        if (after !== undefined && after !== before) yield* OutputFile.write(path, after, true)
      }
    }
    yield* show(found, { dryRun, json })
    const broken = found.filter(({ error }) => error !== undefined)
    if (broken.length > 0) {
      return yield* new Unparsed({
        message: `${Text.quantity(broken.length, "files")} cannot be parsed, and are unchanged`,
        advice: "Correct them, then run the same command again."
      })
    }
  })
).pipe(
  Args.help(
    "Move JavaScript and TypeScript from twitter-api-v2 to Postwire. Where the result is uncertain, the code stays, with a " +
      "comment `TODO(postwire)` that names the page to read. Running it again changes nothing more.",
    lines.migrate,
    {
      "postwire migrate --dry-run": "The changes in this folder, as a diff",
      "postwire migrate src scripts/post.mjs": "Change a folder and a file"
    }
  )
)

/** The output of git in this folder. */
const git = Effect.fnUntraced(function*(args: ReadonlyArray<string>) {
  const { error, status, stderr, stdout } = spawnSync("git", args, { encoding: "utf8", maxBuffer: Infinity })
  if (error !== undefined) {
    return yield* ErrorReport.refuse(
      "git cannot be run",
      "Install git: it shows and undoes the changes of this command."
    )
  }
  if (status === 0) return stdout
  return yield* /not a git repository/.test(stderr)
    ? ErrorReport.refuse(
      "this folder is in no git repository",
      "Run `git init` and commit: git shows and undoes the changes."
    )
    : ErrorReport.refuse(Text.oneLine(stderr.trim()), "Name files and folders of this repository.")
})

const isProgram = (path: string): boolean => /(?<!\.d)\.[cm]?[jt]sx?$/.test(path)

/** The programs below some paths that git does not ignore, without links: git cannot undo what is written through one. */
const filesOf = Effect.fnUntraced(function*(paths: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  for (const path of paths) {
    if (!(yield* Effect.orElseSucceed(fs.exists(path), () => false))) {
      return yield* TextFile.unusable(path, "files and folders", "there is no such file")
    }
  }
  const listed = yield* git([
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
    "--deduplicate",
    "--",
    ...paths
  ])
  const files = listed.split("\0").filter(isProgram)
  const isLink = (path: string) => Effect.match(fs.readLink(path), { onFailure: () => false, onSuccess: () => true })
  return yield* Effect.filter(files, (path) =>
    Effect.zipWith(
      Effect.orElseSucceed(fs.exists(path), () => false),
      isLink(path),
      (exists, isLink) => exists && !isLink
    ))
})

interface Result {
  readonly path: string
  readonly before: string
  readonly after?: string
  readonly calls: number
  readonly moved: number
  readonly todos: Migration.Migrated["todos"]
  readonly error?: string
}

const attempt = (path: string, before: string): Result => {
  try {
    const { text, ...rest } = Migration.migrate(before, path)
    return { path, before, after: text, ...rest }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { path, before, calls: 0, moved: 0, todos: [], error: error.message }
  }
}

const migrate = Effect.fnUntraced(function*(path: string) {
  const before = yield* TextFile.read(path, "a program")
  if (!Migration.mayHave(before)) return undefined
  const result = yield* Effect.sync(() => attempt(path, before))
  return result.after === before && result.todos.length === 0 && result.error === undefined ? undefined : result
})

const show = Effect.fnUntraced(function*(
  results: ReadonlyArray<Result>,
  { dryRun, json }: { readonly dryRun: boolean; readonly json: boolean }
) {
  const { output } = yield* Terminal
  if (dryRun && !json) {
    for (const { after, before, path } of results) {
      if (after !== undefined && after !== before) {
        yield* Report.data(createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after).replace(/^=+\n/, "").trimEnd())
      }
    }
  }
  const files = results.map(({ after, before, calls, error, moved, path, todos }) => ({
    path,
    changed: after !== undefined && after !== before,
    calls,
    moved,
    todos,
    error
  }))
  yield* Report.print(json, { files }, () => [
    ...Table.render({
      data: files.map(({ calls, moved, path, todos }) => ({ file: path, calls, moved, todos: todos.length }))
    }, output.columns),
    ...files.flatMap(({ path, todos }) => todos.map(({ line, message }) => `${path}:${line}: ${message}`)),
    ...files.flatMap(({ error, path }) => error === undefined ? [] : [`${path}: ${error}`])
  ])
})
