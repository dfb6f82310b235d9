/** Help as sections, which the terminal and the man pages show. */
import type { FlagDoc, HelpDoc } from "effect/cli/HelpDoc"
import * as Option from "effect/Option"
import * as Palette from "./Palette.ts"
import type { Screen } from "./Terminal.ts"
import * as Text from "./Text.ts"

/** A flag, argument, command or variable, with the kind of its value. */
export interface Row {
  readonly name: string
  readonly type?: string | undefined
  readonly text: string
}

export interface Section {
  readonly title: string
  readonly texts?: ReadonlyArray<string>
  readonly rows?: ReadonlyArray<Row>
  readonly examples?: HelpDoc["examples"]
}

/** The sections of a command: its own flags before those of all commands, examples last. */
export const sectionsOf = (doc: HelpDoc): ReadonlyArray<Section> => [
  { title: "Description", texts: [doc.description] },
  { title: "Usage", texts: [doc.usage] },
  {
    title: "Arguments",
    rows: (doc.args ?? []).map(({ description, name, required, type, variadic }) => ({
      name: variadic ? `${name}...` : name,
      type,
      text: `${Option.getOrElse(description, () => "")}${required ? "" : " (optional)"}`
    }))
  },
  {
    title: "Flags",
    rows: [...doc.flags.filter(({ required }) => required), ...doc.flags.filter(({ required }) => !required)].map(rowOf)
  },
  ...(doc.subcommands ?? []).map(({ commands, group = "Subcommands" }) => ({
    title: group,
    rows: commands.map(({ alias, description, name, shortDescription = description }) => ({
      name: alias === undefined ? name : `${name}, ${alias}`,
      text: shortDescription
    }))
  })),
  { title: "Global flags", rows: (doc.globalFlags ?? []).map(rowOf) },
  { title: "Examples", examples: doc.examples ?? [] }
]

const rowOf = ({ aliases, description, name, required, type }: FlagDoc): Row => ({
  name: [`--${name}`, ...aliases].join(", "),
  type: type === "boolean" ? undefined : type,
  text: `${Option.getOrElse(description, () => "")}${required ? " (required)" : ""}`.trimStart()
})

export const isFilled = ({ examples = [], rows = [], texts = [] }: Section): boolean =>
  examples.length + rows.length + texts.length > 0

/** The sections that are not empty, on a screen. */
export const render = (sections: ReadonlyArray<Section>, screen: Screen): string =>
  sections.filter(isFilled).map(({ examples = [], rows = [], texts = [], title }) => {
    const lines = [
      ...texts.flatMap((text) => indented(text, screen)),
      ...linesOf(rows, screen),
      ...examples.flatMap(({ command, description }, i) => [
        ...i === 0 ? [] : [""],
        ...indented(`# ${description}`, screen).map((line) => Palette.paint(screen, "faint", line)),
        ...indented(command, screen)
      ])
    ]
    return [Palette.paint(screen, "title", title.toUpperCase()), ...lines].join("\n")
  }).join("\n\n")

const indented = (text: string, { columns }: Screen): ReadonlyArray<string> =>
  Text.wrap(text, columns - 2).map((line) => `  ${line}`)

/** The widest left column; wider names get a line of their own. */
const widest = 30

const labelOf = ({ name, type }: Row): string => type === undefined ? name : `${name} ${type}`

/** Names on the left, texts on the right. */
const linesOf = (rows: ReadonlyArray<Row>, screen: Screen): ReadonlyArray<string> => {
  const left = Math.min(widest, Math.max(0, ...rows.map((row) => Text.width(labelOf(row))))) + 4
  return rows.flatMap((row) => {
    const label = labelOf(row)
    const painted = Palette.paint(screen, "name", row.name) +
      Palette.paint(screen, "faint", label.slice(row.name.length))
    const [first = "", ...more] = Text.wrap(row.text, screen.columns - left)
    const rest = more.map((line) => " ".repeat(left) + line)
    return Text.width(label) < left - 3
      ? [`  ${Text.pad(painted, left - 2)}${first}`.trimEnd(), ...rest]
      : [...Text.wrap(painted, screen.columns - 2, 2).map((line) => `  ${line}`), " ".repeat(left) + first, ...rest]
  })
}
