/**
 * Compares the catalogue with an OpenAPI document of the service: `pnpm drift openapi.json`. Exits with 1 if there is a
 * difference that is not accepted (scripts/drift/AcceptedDrift.ts).
 *
 * `--wire x` chooses the wire (default: the one nearest to the document), `--all` lists accepted differences with their reasons and
 * the operations that only the document has, `--json` prints JSON. `--declare` writes declarations of those operations, for
 * review: packages/core/src/operations/New.ts, and what lists modules and operations. `--facts all` and `--facts declared` print the facts of the
 * document instead, of all operations or of the declared ones, for the tests (scripts/fixtures).
 */
import * as Result from "effect/Result"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { named } from "../packages/core/src/wire/Wire.ts"
import * as Declaration from "./drift/Declaration.ts"
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
    declare: { type: "boolean", default: false },
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
  if (values.declare && report.unknown.length > 0) declare(report)
  process.exitCode = report.drifts.length > 0 ? 1 : 0
}

function declare({ unknown, wire }: DriftReport.DriftReport): void {
  const document = orThrow(OpenApiDocument.read(json))
  const operations = document.operations.filter(({ method, path }) => unknown.includes(`${method} ${path}`))
  const root = new URL("..", import.meta.url)
  if (existsSync(new URL("packages/core/src/operations/New.ts", root))) {
    throw new Error(
      "packages/core/src/operations/New.ts exists. Move its declarations to the modules of their areas first."
    )
  }
  const module = Declaration.moduleOf(document, operations, Object.values(named).find(({ name }) => name === wire)!)
  for (const [path, text] of Declaration.changesOf(module, (path) => readFileSync(new URL(path, root), "utf8"))) {
    writeFileSync(new URL(path, root), text)
  }
}

function orThrow<A>(result: Result.Result<A, string>): A {
  return Result.getOrThrowWith(result, (reason) => new Error(`${file}: ${reason}`))
}
