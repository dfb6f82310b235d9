import { getComplianceJobs } from "@postwire/core/operations/ComplianceJobs"
import * as Parameters from "@postwire/core/schema/Parameters"
import * as Effect from "effect/Effect"
import { open } from "node:fs/promises"
import { Refused } from "../money/Refused.ts"
import * as Inputs from "../session/Inputs.ts"
import * as Page from "../session/Page.ts"
import { Session, type Written } from "../session/Session.ts"
import * as Tool from "../session/Tool.ts"

/** `jobs`: files that this session has written, and compliance jobs of the app. */
export const tool = Tool.make({
  name: "jobs",
  title: "Show files and jobs",
  description:
    "Shows the files that this session has written, the first rows of one, or the app's compliance jobs for posts or users.",
  toolset: "jobs",
  effect: "read",
  operations: [],
  inputs: { file: Parameters.text(64), compliance: Parameters.choice(["posts", "users"]), ...Inputs.reading },
  run: ({ compliance, detail = "normal", file }) =>
    Effect.gen(function*() {
      if (compliance !== undefined) {
        return yield* Page.read(getComplianceJobs.definition, { type: compliance }, { detail })
      }
      const { written } = yield* Session
      if (file === undefined) {
        return { lines: written.size === 0 ? ["no files yet"] : [...written.values()].map(lineOf) }
      }
      const found = written.get(file)
      const text = yield* beginningOf(found?.path ?? "")
      if (found === undefined || text === undefined) {
        return yield* new Refused({
          reason: "file: this session has no complete file of this name.",
          advice: "Call jobs without file: it names them all."
        })
      }
      const rows = text.split("\n").slice(0, -1).map((line): unknown => JSON.parse(line))
      const first = yield* Page.linesOf(found.definition, { data: rows, errors: [], author: () => undefined }, detail)
      return { ...first, rows: Infinity, lines: [`${lineOf(found)}. The first ${rows.length}:`, ...first.lines] }
    })
})

const lineOf = ({ definition, path, rows, status }: Written): string =>
  `${definition.name}: ${rows} rows, ${status}${
    status === "unfinished" ? " (once it has ended, the same call continues it)" : ""
  }, ${path}`

/** The bytes of a file that are read, however long it is. */
const bytesRead = 65_536

/** The beginning of a file, or `undefined` if it is gone. */
const beginningOf = (path: string) =>
  Effect.tryPromise(async () => {
    await using file = await open(path)
    const { buffer, bytesRead: length } = await file.read(Buffer.alloc(bytesRead), 0, bytesRead, 0)
    return buffer.toString("utf8", 0, length)
  }).pipe(Effect.orElseSucceed(() => undefined))
