/**
 * Measures how well the client reads what a service may answer, and whether it asks only for what the service knows:
 * `pnpm conformance openapi.json`.
 *
 * `--bodies 200` and `--calls 200` of each route; `--nulls 0.1` makes that part of the optional members null, too, which
 * documents do not say and services do; `--checked 10` of the bodies are held against the document with a validator;
 * `--seed 1`; `--wire x` (otherwise the one that speaks like the document); `--only getPosts` for one operation with all
 * that was found, and with that `--body 17`, which prints one body.
 */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { named, type Wire } from "../packages/core/src/wire/Wire.ts"
import * as Asking from "./conformance/Asking.ts"
import * as Reading from "./conformance/Reading.ts"
import * as Validity from "./conformance/Validity.ts"
import { documentFacts } from "./drift/DocumentFacts.ts"
import { wireOf } from "./drift/DriftReport.ts"
import { endpoints } from "./drift/Endpoint.ts"
import { read } from "./drift/OpenApiDocument.ts"
import { keyOf } from "./drift/ServiceFacts.ts"

const { positionals: [file], values } = parseArgs({
  allowPositionals: true,
  options: {
    bodies: { type: "string", default: "200" },
    body: { type: "string" },
    calls: { type: "string", default: "200" },
    checked: { type: "string", default: "10" },
    nulls: { type: "string", default: "0" },
    only: { type: "string" },
    seed: { type: "string", default: "1" },
    wire: { type: "string" }
  }
})
if (file === undefined) throw new Error("Name an OpenAPI document (JSON).")
const text = readFileSync(file, "utf8")
const document = read(JSON.parse(text))
if (document._tag === "Failure") throw new Error(`${file}: ${document.failure}`)
const service = document.success
const wires: { readonly [name: string]: Wire | undefined } = named
const wire = values.wire === undefined ? wireOf(documentFacts(service)) : wires[values.wire]
if (wire === undefined) throw new Error(`--wire is one of ${Object.keys(wires).join(", ")}`)
const seed = Number(values.seed)
const isWanted = (name: string) => values.only === undefined || values.only === name
const routes = Reading.shared(service, wire).filter(([{ definition }]) => isWanted(definition.name))
const body = (index: number, [, operation]: Reading.Shared) =>
  Reading.bodyOf(service, operation, seed, index, Number(values.nulls))

const row = (name: string, figures: ReadonlyArray<unknown>, end: string) =>
  console.log(name.padEnd(34) + figures.map((figure) => String(figure).padStart(10)).join("") + `  ${end}`)

const sum = <A>(all: ReadonlyArray<A>, of: (one: A) => number) => all.reduce((sum, one) => sum + of(one), 0)

const most = values.only === undefined ? 3 : 100

if (values.body !== undefined) {
  for (const route of routes) console.log(JSON.stringify(body(Number(values.body), route), null, 2))
} else {
  await readBodies(wire)
  console.log()
  prepareCalls(wire)
}

async function readBodies(wire: Wire): Promise<void> {
  const found = routes.map((route) =>
    Reading.measure(route, wire, Array.from({ length: Number(values.bodies) }, (_, i) => body(i, route)))
  )
  row("Reading", ["bodies", "refused", "lost", "anomalous"], "route")
  const reasons = new Map<string, number>()
  for (const { anomalous, bodies, lost, operation, reasons: ofRoute, refused, route } of found) {
    row(operation, [bodies, refused, lost, anomalous], route)
    for (const { body, reason, times } of ofRoute.slice(0, most)) {
      console.log(`    ${times} × ${reason} (--body ${body})`)
    }
    for (const { reason, times } of ofRoute) {
      // Whatever the resource came as.
      const place = reason.replace(/(data|includes\.\w+)(\[\])?\./, "")
      reasons.set(place, (reasons.get(place) ?? 0) + times)
    }
  }
  if (reasons.size > 0) console.log("\nWherever it stands:")
  for (const [reason, times] of [...reasons].sort(([, a], [, b]) => b - a).slice(0, 100)) {
    console.log(`${String(times).padStart(6)} × ${reason}`)
  }
  console.log()
  row("all", [
    sum(found, ({ bodies }) => bodies),
    sum(found, ({ refused }) => refused),
    sum(found, ({ lost }) => lost),
    sum(found, ({ anomalous }) => anomalous)
  ], `${found.filter(({ refused }) => refused > 0).length} of ${found.length} routes refuse`)

  // With null where the document does not allow it no body is valid.
  const perRoute = Number(values.nulls) > 0 ? 0 : Number(values.checked)
  const validate = Validity.make(text, "document")
  const invalid: Array<string> = []
  for (const route of routes) {
    for (let i = 0; i < perRoute; i++) {
      const [error] = await validate(route[1], body(i, route))
      if (error !== undefined) invalid.push(`${route[0].definition.name} --body ${i}: ${error}`)
    }
  }
  const checked = routes.length * perRoute
  console.log(`${checked - invalid.length} of ${checked} bodies checked are valid against the document`)
  for (const line of invalid.slice(0, 20)) console.log(`    ${line}`)
}

function prepareCalls(wire: Wire): void {
  const { routes } = documentFacts(service)
  const facts = new Map(routes.map((route) => [route.key, route]))
  const found = endpoints(wire).filter(({ definition }) => isWanted(definition.name)).map((endpoint) =>
    Asking.measure(endpoint, facts.get(keyOf(endpoint)), wire, { calls: Number(values.calls), seed })
  )
  row("Asking", ["calls", "refused", "violating"], "route")
  for (const { calls, operation, refused, route, violating, violations } of found) {
    row(operation, [calls, refused, violating], route)
    for (const [violation, times] of violations.slice(0, most * 2)) console.log(`    ${times} × ${violation}`)
    const more = violations.length - most * 2
    if (more > 0) console.log(`    and ${more} more`)
  }
  console.log()
  row(
    "all",
    [sum(found, ({ calls }) => calls), sum(found, ({ refused }) => refused), sum(found, ({ violating }) => violating)],
    `${found.filter(({ violating }) => violating > 0).length} of ${found.length} routes violate the document`
  )
}
