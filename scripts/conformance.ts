/**
 * Measures how well the client reads what a service may answer: `pnpm conformance openapi.json`. Options: `--bodies 200`
 * of each route, `--checked 10` of them held against the document with a validator, `--seed 1`, `--only getPosts`, and
 * with that `--body 17`, which prints one body.
 */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { read } from "../packages/cli/src/OpenApiDocument.ts"
import * as Reading from "./conformance/Reading.ts"
import * as Validity from "./conformance/Validity.ts"

const { positionals: [file], values } = parseArgs({
  allowPositionals: true,
  options: {
    bodies: { type: "string", default: "200" },
    body: { type: "string" },
    checked: { type: "string", default: "10" },
    only: { type: "string" },
    seed: { type: "string", default: "1" }
  }
})
if (file === undefined) throw new Error("Name an OpenAPI document (JSON).")
const text = readFileSync(file, "utf8")
const document = read(JSON.parse(text))
if (document._tag === "Failure") throw new Error(`${file}: ${document.failure}`)
const wire = "x"
const seed = Number(values.seed)
const routes = Reading.shared(document.success, wire)
  .filter(([{ definition }]) => values.only === undefined || definition.name === values.only)
const body = (index: number, [, operation]: Reading.Shared) => Reading.bodyOf(document.success, operation, seed, index)

if (values.body !== undefined) {
  for (const route of routes) console.log(JSON.stringify(body(Number(values.body), route), null, 2))
} else {
  const validate = Validity.make(text, "document")
  let checked = 0
  const invalid: Array<string> = []
  for (const route of routes) {
    for (let i = 0; i < Number(values.checked); i++) {
      checked++
      const [error] = await validate(route[1], body(i, route))
      if (error !== undefined) invalid.push(`${route[0].definition.name} body ${i}: ${error}`)
    }
  }
  const found = routes.map((route) =>
    Reading.measure(route, wire, Array.from({ length: Number(values.bodies) }, (_, i) => body(i, route)))
  )
  const row = (name: string, figures: ReadonlyArray<unknown>, end: string) =>
    console.log(name.padEnd(34) + figures.map((figure) => String(figure).padStart(10)).join("") + `  ${end}`)
  row("operation", ["bodies", "refused", "lost", "anomalous"], "route")
  for (const { anomalous, bodies, lost, operation, reasons, refused, route } of found) {
    row(operation, [bodies, refused, lost, anomalous], route)
    for (const { body, reason, times } of reasons.slice(0, values.only === undefined ? 3 : 100)) {
      console.log(`    ${times} × ${reason} (--body ${body})`)
    }
  }
  const places = new Map<string, number>()
  for (const { reason, times } of found.flatMap(({ reasons }) => reasons)) {
    const place = reason.replace(/\["(data|includes"\]\["\w+)"\](\[\])?/, "")
    places.set(place, (places.get(place) ?? 0) + times)
  }
  console.log("\nWherever it stands:")
  for (const [place, times] of [...places].sort(([, a], [, b]) => b - a).slice(0, 100)) {
    console.log(`${String(times).padStart(6)} × ${place}`)
  }
  const sum = (of: (reading: Reading.Reading) => number) => found.reduce((all, reading) => all + of(reading), 0)
  console.log()
  row("all", [
    sum(({ bodies }) => bodies),
    sum(({ refused }) => refused),
    sum(({ lost }) => lost),
    sum(({ anomalous }) => anomalous)
  ], `${found.filter(({ refused }) => refused > 0).length} of ${found.length} routes refuse`)
  console.log(`${checked - invalid.length} of ${checked} bodies checked are valid against the document`)
  for (const line of invalid.slice(0, 20)) console.log(`    ${line}`)
}
