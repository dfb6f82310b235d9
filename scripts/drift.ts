/**
 * Compares the catalogue with an OpenAPI document of the service: `pnpm drift openapi.json`. Exits with 1 if there is a
 * difference that is not accepted (scripts/drift/AcceptedDrift.ts).
 *
 * `--wire x` chooses the wire (default: the one nearest to the document), `--all` lists accepted differences with their reasons and
 * the operations that only the document has, `--json` prints JSON. `--facts all` and `--facts declared` print the facts of the
 * document instead, of all operations or of the declared ones, for the tests (scripts/fixtures).
 */
import * as Result from "effect/Result"
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { documentFacts } from "./drift/DocumentFacts.ts"
import * as DriftReport from "./drift/DriftReport.ts"
import { endpoints } from "./drift/Endpoint.ts"
import * as FactsFile from "./drift/FactsFile.ts"
import * as OpenApiDocument from "./drift/OpenApiDocument.ts"
import { keyOf, pathOf } from "./drift/ServiceFacts.ts"

const { positionals: [file], values } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean", default: false },
    facts: { type: "string" },
    json: { type: "boolean", default: false },
    wire: { type: "string" }
  }
})
if (file === undefined) throw new Error("Name an OpenAPI document (JSON).")
const json = JSON.parse(readFileSync(file, "utf8"))
if (values.facts !== undefined) {
  const document = orThrow(OpenApiDocument.read(json))
  const declared = new Set(endpoints(DriftReport.wireOf(documentFacts(document))).map((route) => pathOf(keyOf(route))))
  const isWanted = (key: string) => values.facts === "all" || declared.has(pathOf(key))
  process.stdout.write(FactsFile.write(documentFacts(document, isWanted)))
} else {
  const report = orThrow(DriftReport.make(json, values.wire))
  const lines = () => [...DriftReport.lines(report, values.all), ...DriftReport.staleLines(report)].join("\n")
  console.log(values.json ? JSON.stringify(report, null, 2) : lines())
  process.exitCode = report.drifts.length > 0 ? 1 : 0
}

function orThrow<A>(result: Result.Result<A, string>): A {
  return Result.getOrThrowWith(result, (reason) => new Error(`${file}: ${reason}`))
}
