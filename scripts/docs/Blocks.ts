/** The parts of documents that come from elsewhere: programs that are compiled and run, and what declarations say. */
import { minimum } from "../../packages/core/src/runtime/SupportedNode.ts"
import * as Bench from "./Bench.ts"
import * as CoverageDocs from "./CoverageDocs.ts"
import * as ErrorDocs from "./ErrorDocs.ts"
import * as MediaDocs from "./MediaDocs.ts"
import * as Moving from "./Moving.ts"
import * as ParityDocs from "./ParityDocs.ts"
import * as PlanDocs from "./PlanDocs.ts"
import * as Proof from "./Proof.ts"
import * as ResearchCosts from "./ResearchCosts.ts"
import { text } from "./Source.ts"
import * as Stability from "./Stability.ts"
import * as TelemetryDocs from "./TelemetryDocs.ts"

/** A program, or a region of one: `<!-- from examples/bot.ts -->`, `<!-- from examples/guides/pages.ts#limit -->`. */
export const program = /<!-- from (\S+?\.(ts|sh|py|yaml))(?:#(\S+))? -->\n(`{3,})\2\n[^]*?^\4$/gm

/** A block that is generated from declarations: `<!-- generated: error NotFound -->`. */
export const made = /<!-- generated: ([^\n]+) -->\n[^]*?^<!-- end -->$/gm

/** The required Node version; the compiler has one of its own. */
export const required = /(?<!TypeScript )\b\d+\.\d+ or newer/g

/** The operations of the service's newest document that are declared. */
export const covered = /(?<=\| Operations of API v2 \| )\d+ of \d+/

/** The text of a document with its current blocks, and the required Node version. */
export const current = (page: string): string =>
  page
    .replace(program, (_, file: string, language: string, region: string | undefined, fence: string) => {
      const code = region === undefined ? text(file) : regionOf(file, region)
      return `<!-- from ${file}${region === undefined ? "" : `#${region}`} -->\n${fence}${language}\n${code}${fence}`
    })
    .replace(made, (_, name: string) => `<!-- generated: ${name} -->\n\n${make(name)}\n\n<!-- end -->`)
    .replaceAll(required, `${minimum} or newer`)
    .replace(covered, ParityDocs.covered)

const regionOf = (file: string, region: string): string => {
  const [, indent, code] = RegExp(`^( *)// #region ${region}\\n([^]*?)^ *// #endregion`, "m").exec(text(file)) ?? []
  if (code === undefined) throw new Error(`${file} has no region ${region}`)
  return code.replaceAll(RegExp(`^${indent}`, "gm"), "")
}

const make = (name: string): string => {
  const [kind, argument = ""] = name.split(" ")
  switch (kind) {
    case "error":
      return ErrorDocs.section(argument)
    case "errors":
      return ErrorDocs.others()
    case "refusal":
      return ErrorDocs.refusalFields()
    case "rate-limit":
      return ErrorDocs.rateLimitFields()
    case "media":
      return MediaDocs.table()
    case "plans":
      return argument === "enterprise"
        ? PlanDocs.enterprise()
        : argument === "restricted"
        ? PlanDocs.restricted()
        : PlanDocs.access()
    case "bench":
      return argument === "exponents" ? Bench.exponents(Bench.run().growth) : Bench.table(argument, Bench.run())
    case "coverage":
      return argument === "counts" ? CoverageDocs.counts() : CoverageDocs.table()
    case "parity":
      return ParityDocs.table()
    case "proof":
      return Proof.section(argument)
    case "stability":
      return Stability.list()
    case "research":
      return ResearchCosts.table()
    case "telemetry":
      return argument === "metrics" ? TelemetryDocs.metrics() : TelemetryDocs.attributes()
    case "tweepy":
      return Moving.tweepy()
    case "twitter-api-v2":
      return Moving.twitterApiV2()
    default:
      throw new Error(`Nothing makes ${name}`)
  }
}
