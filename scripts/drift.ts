/**
 * Holds the catalogue against an OpenAPI document of the service: `pnpm drift openapi.json`. Ends with 1 when something
 * differs that nobody has accepted (packages/cli/src/AcceptedDrift.ts).
 *
 * `--wire x` (otherwise by the version of the document), `--all` lists the operations that only the document has,
 * `--accepted` what is accepted and why, `--json` prints data.
 */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import * as DriftReport from "../packages/cli/src/DriftReport.ts"

const { positionals: [file], values } = parseArgs({
  allowPositionals: true,
  options: {
    accepted: { type: "boolean", default: false },
    all: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    wire: { type: "string" }
  }
})
if (file === undefined) throw new Error("Name an OpenAPI document (JSON).")
const report = DriftReport.make(JSON.parse(readFileSync(file, "utf8")), values.wire)
if (report._tag === "Failure") throw new Error(`${file}: ${report.failure}`)
console.log(
  values.json ? JSON.stringify(report.success, null, 2) : DriftReport.lines(report.success, values).join("\n")
)
process.exitCode = report.success.drifts.length > 0 ? 1 : 0
