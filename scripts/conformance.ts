/**
 * Measures how well the client reads what a service may answer, and whether it asks only for what the service knows:
 * `pnpm conformance openapi.json`.
 *
 * `--bodies 200` and `--calls 200` of each route; `--nulls 0.1` makes that part of the optional members null, too, which
 * documents do not say and services do; `--checked 10` of the bodies are held against the document with a validator;
 * `--seed 1`; `--wire x` (otherwise the one that speaks like the document); `--only getPosts` for one operation with all
 * that was found, and with that `--body 17`, which prints one body. Exits with 1 if something is not explained by a
 * difference that is accepted (scripts/drift/AcceptedDrift.ts).
 */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { named, type Wire } from "../packages/core/src/wire/Wire.ts"
import * as Asking from "./conformance/Asking.ts"
import { explanations } from "./conformance/Explained.ts"
import * as Reading from "./conformance/Reading.ts"
import * as Validity from "./conformance/Validity.ts"
import { acceptedDrift } from "./drift/AcceptedDrift.ts"
import { catalogueFacts } from "./drift/CatalogueFacts.ts"
import { documentFacts } from "./drift/DocumentFacts.ts"
import { hold, wireOf } from "./drift/DriftReport.ts"
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
const explains = explanations(hold(catalogueFacts(wire), service, wire.name, acceptedDrift).accepted)
const isWanted = (name: string) => values.only === undefined || values.only === name
const routes = Reading.shared(service, wire).filter(([{ definition }]) => isWanted(definition.name))
const body = (index: number, route: Reading.Shared) => Reading.bodyOf(service, route, seed, index, Number(values.nulls))

const row = (name: string, figures: ReadonlyArray<unknown>, end: string) =>
  console.log(name.padEnd(34) + figures.map((figure) => String(figure).padStart(12)).join("") + `  ${end}`)

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
  row("Reading", ["bodies", "refused", "lost", "anomalous", "unexplained"], "route")
  const reasons = new Map<string, number>()
  const unexplained: Array<number> = []
  for (const [i, { anomalous, bodies, lost, operation, reasons: ofRoute, refused, route }] of found.entries()) {
    const open = ofRoute.filter(({ reason }) => !explains(routes[i]![0].definition, reason))
    unexplained.push(sum(open, ({ times }) => times))
    row(operation, [bodies, refused, lost, anomalous, unexplained[i]], route)
    for (const { body, reason, times } of ofRoute.slice(0, most)) {
      const mark = open.some((other) => other.reason === reason) ? "" : ", explained by an accepted difference"
      console.log(`    ${times} × ${reason} (--body ${body})${mark}`)
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
    sum(found, ({ anomalous }) => anomalous),
    sum(unexplained, (times) => times)
  ], `${found.filter(({ refused }) => refused > 0).length} of ${found.length} routes refuse`)
  if (unexplained.some((times) => times > 0)) process.exitCode = 1

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
  row("Asking", ["calls", "refused", "violating", "unexplained"], "route")
  const definitions = endpoints(wire).map(({ definition }) => definition).filter(({ name }) => isWanted(name))
  const unexplained: Array<number> = []
  for (const [i, { calls, operation, refused, route, violating, violations }] of found.entries()) {
    unexplained.push(sum(
      violations.filter(([violation]) =>
        !violation.startsWith("refused here") && !explains(definitions[i]!, violation)
      ),
      ([, times]) => times
    ))
    row(operation, [calls, refused, violating, unexplained[i]], route)
    for (const [violation, times] of violations.slice(0, most * 2)) console.log(`    ${times} × ${violation}`)
    const more = violations.length - most * 2
    if (more > 0) console.log(`    and ${more} more`)
  }
  console.log()
  row(
    "all",
    [
      sum(found, ({ calls }) => calls),
      sum(found, ({ refused }) => refused),
      sum(found, ({ violating }) => violating),
      sum(unexplained, (times) => times)
    ],
    `${found.filter(({ violating }) => violating > 0).length} of ${found.length} routes violate the document`
  )
  if (unexplained.some((times) => times > 0)) process.exitCode = 1
}
