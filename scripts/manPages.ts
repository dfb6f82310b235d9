/** The man pages of the command, made from its help: one of the command, and one of each of its commands. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import type { HelpDoc } from "effect/cli/HelpDoc"
import * as Effect from "effect/Effect"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { load } from "../packages/cli/src/Cli.ts"
import { topics } from "../packages/cli/src/commands/HelpCommand.ts"
import { lines } from "../packages/cli/src/commands/Lines.ts"
import * as Help from "../packages/cli/src/terminal/Help.ts"

/** The help of a command line. */
const helpOf = async (...path: ReadonlyArray<string>): Promise<HelpDoc> => {
  const args = [...path, "--help"]
  const found: Array<HelpDoc> = []
  const layer = CliOutput.layerPresenter({
    present: (event) => Effect.sync(() => void (event._tag === "Help" && found.push(event.helpDoc)))
  })
  await Effect.runPromise(
    Command.runWith(await load(args), { version: "" })(args).pipe(Effect.provide([NodeServices.layer, layer]))
  )
  const [help] = found
  if (help === undefined) throw new Error(`${path.join(" ")} has no help`)
  return help
}

/** Text without commands of roff. */
const plain = (text: string): string => text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replace(/^(?=[.'])/, "\\&")

const sectionOf = ({ examples = [], rows = [], texts = [], title }: Help.Section): ReadonlyArray<string> => [
  `.SH ${title === "Usage" ? "SYNOPSIS" : title.toUpperCase()}`,
  ...texts.flatMap((text) => [".PP", plain(text)]),
  ...rows.flatMap(({ name, text, type }) => [
    ".TP",
    `\\fB${plain(name)}\\fR${type === undefined ? "" : ` \\fI${plain(type)}\\fR`}`,
    plain(text)
  ]),
  ...examples.flatMap((
    { command, description = "" }
  ) => [".PP", plain(description), ".RS", ".nf", plain(command), ".fi", ".RE"])
]

const pageOf = (name: string, line: string, sections: ReadonlyArray<Help.Section>, version: string): string =>
  [
    `.TH ${name.toUpperCase()} 1 "" "postwire ${version}"`,
    ".SH NAME",
    `${plain(name)} \\- ${plain(line)}`,
    ...sections.filter(Help.isFilled).flatMap(sectionOf),
    ""
  ].join("\n")

/** Writes the pages of a version into a folder. */
export const write = async (folder: string, version: string): Promise<void> => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const all = await helpOf()
  const pages = {
    postwire: pageOf("postwire", all.description, [...Help.sectionsOf(all), ...Object.values(topics)], version)
  }
  for (const [name, line] of Object.entries(lines)) {
    const page = `postwire-${name}`
    Object.assign(pages, { [page]: pageOf(page, line, Help.sectionsOf(await helpOf(name)), version) })
  }
  for (const [name, text] of Object.entries(pages)) writeFileSync(join(folder, `${name}.1`), text)
}
