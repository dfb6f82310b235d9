/** The arguments of the bench. */
import { parseArgs } from "node:util"

/** What is to be measured. */
export interface Options {
  /** The sections that were named; none means those of an ordinary run. */
  readonly sections: ReadonlyArray<string>
  readonly full: boolean
  /** A commit whose clients are measured in the same rounds. */
  readonly against: string | undefined
  /** The number of rounds; without it, as many as figures need to be steady. */
  readonly rounds: number | undefined
  readonly json: string | undefined
  /** Contenders beside the peers that all are compared with; none means all. */
  readonly only: ReadonlyArray<string>
}

export const help = (sections: ReadonlyArray<string>): string =>
  `pnpm bench [section...] [--full] [--against REV] [--rounds N] [--json FILE]
           [--only NAME]...

  section    ${sections.slice(0, 8).join(", ")},
             ${sections.slice(8).join(", ")}
             (without any: those that take three minutes together)
  --full     everything, with larger counts: some 20 minutes
  --against  a commit, whose clients are measured in the same rounds
  --rounds   so many rounds, however unsteady the figures are
  --json     writes the figures to a file
  --only     these contenders beside those that they are compared with`

/** Reads the arguments; "help" if they ask for it. */
export const parse = (args: ReadonlyArray<string>, known: ReadonlyArray<string>): Options | "help" => {
  const { positionals, values } = parseArgs({
    args: args.filter((argument) => argument !== "--"),
    allowPositionals: true,
    options: {
      full: { type: "boolean", default: false },
      against: { type: "string" },
      rounds: { type: "string" },
      json: { type: "string" },
      only: { type: "string", multiple: true, default: [] },
      help: { type: "boolean", short: "h", default: false }
    }
  })
  const { against, full, help: asked, json, only } = values
  if (asked) return "help"
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
  if (rounds !== undefined && (!Number.isInteger(rounds) || rounds < 1)) {
    throw new Error("--rounds must be a whole number from 1.")
  }
  const unknown = positionals.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`There is no section ${unknown[0]}; there are ${known.join(", ")}.`)
  return { sections: positionals, full, against, rounds, json, only }
}
