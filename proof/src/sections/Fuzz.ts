/** Malformed inputs, up to a million for each kind of reader. */
import * as Bytes from "../fuzz/Bytes.ts"
import { type Domain, type Ran, run as runDomain } from "../fuzz/Loop.ts"
import * as Requests from "../fuzz/Requests.ts"
import * as Texts from "../fuzz/Texts.ts"
import * as Wire from "../fuzz/Wire.ts"
import type { Chart, Claim, Proof } from "../Model.ts"

const groups: ReadonlyArray<readonly [title: string, domains: ReadonlyArray<Domain>]> = [
  ["Texts", [Texts.posts, Texts.articles, Texts.queries]],
  ["Messages", [Wire.bodies, Wire.parameters, Wire.deliveries]],
  ["Files", [Bytes.media, Bytes.records]]
]

const fullRequests = 1_000_000

const count = (number: number): string => number.toLocaleString("en")

const measuredOf = (cases: number, { failures, growth, slowest }: Ran): string => {
  const blocks = growth.at(-1)?.[1] ?? 0
  return [
    blocks === 0 ? `${count(cases)} cases` : `${count(cases)} cases reach ${count(blocks)} blocks`,
    `slowest: ${slowest.millis.toPrecision(2)} ms for ${count(slowest.length)} characters`,
    ...failures.length === 0 ? [] : [`${failures.length} failures`]
  ].join("; ")
}

/** At most so many points of a line. */
const mostPoints = 60

const thinned = <A>(points: ReadonlyArray<A>): ReadonlyArray<A> =>
  points.filter((_, i) => i === points.length - 1 || i % Math.ceil(points.length / mostPoints) === 0)

export const proof: Proof = {
  title: "Malformed inputs",
  run: async ({ say, seed, share }) => {
    const claims: Array<Claim> = []
    const charts: Array<Chart> = []
    const steps = groups.flatMap(([, domains]) => domains).length + 1
    for (const [title, domains] of groups) {
      const series: Array<Chart["series"][number]> = []
      for (const domain of domains) {
        const cases = Math.max(1, Math.round(domain.cases * share))
        const at = claims.length
        const ran = await runDomain(domain, cases, seed, (done) => say(domain.name, (at + done) / steps))
        for (const failure of ran.failures) console.error(`${domain.name}: ${failure}`)
        claims.push({
          claim: domain.name,
          goal: `${domain.holds}; each in time that grows with its length`,
          measured: measuredOf(cases, ran),
          holds: ran.failures.length === 0
        })
        series.push({ name: domain.name, points: thinned(ran.growth) })
      }
      charts.push({ title, x: "cases", y: "blocks reached", series })
    }
    const requests = Math.max(1, Math.round(fullRequests * share))
    const wrong = await Requests.run(requests, seed, (done) => say("requests", (steps - 1 + done) / steps))
    claims.push({
      claim: "requests to the sandbox",
      goal: "each has a right status and a document; the sandbox stays alive, and nothing stays on its heap",
      measured: `${count(requests)} cases in process${wrong === undefined ? "" : `; ${wrong.slice(0, 300)}`}`,
      holds: wrong === undefined
    })
    return { claims, charts }
  }
}
