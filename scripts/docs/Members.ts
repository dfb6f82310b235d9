/** The members of interfaces and error classes, from the source: name, type and docstring. */
import { text } from "./Source.ts"

/** A member of an interface. */
export interface Member {
  readonly name: string
  readonly optional: boolean
  /** As the source has it, without `| undefined`. */
  readonly type: string
  /** Its docstring on one line; empty where it has none. */
  readonly doc: string
}

const member = /(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\s+)?readonly (\w+)(\?)?: ([^\n]+)\n/g

/** The members between the first pair of braces after a place in a file. Throws where the place is not there. */
export const membersAfter = (path: string, place: RegExp): ReadonlyArray<Member> => {
  const source = text(path)
  const start = place.exec(source)
  if (start === null) throw new Error(`${path} has no ${place}`)
  const open = start.index + start[0].length
  let depth = 1
  let end = open
  while (depth > 0 && end < source.length) {
    if (source[end] === "{") depth++
    if (source[end] === "}") depth--
    end++
  }
  return Array.from(source.slice(open, end).matchAll(member), ([, doc = "", name = "", optional, type = ""]) => ({
    name,
    optional: optional !== undefined,
    type: type.replace(/ \| undefined$/, "").replace(
      /^\((.*)\)$/,
      (whole, inner: string) => inner.includes("=>") ? inner : whole
    ),
    doc: onOneLine(doc)
  }))
}

const onOneLine = (doc: string): string => doc.replace(/^ *\* ?/gm, "").replace(/\s+/g, " ").trim()

/** The members of an interface. */
export const membersOf = (path: string, name: string): ReadonlyArray<Member> =>
  membersAfter(path, RegExp(`export interface ${name}\\b[^{]*\\{`))

const field = /(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\s+)?(\w+): (Schema\.\w+(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?)/g

/** The type of a schema of an error's field. */
const typeOf = (schema: string): string =>
  schema.replace(/^Schema\.optionalKey\((.*)\)$/s, "$1")
    .replace(/^Schema\.Array\((.*)\)$/s, (_, of: string) => `ReadonlyArray<${typeOf(of)}>`)
    .replace(/^Schema\.Struct\((.*)\)$/s, "$1")
    .replaceAll("Schema.String", "string")
    .replaceAll("Schema.Boolean", "boolean")
    .replaceAll(/Schema\.(Int|Number)/g, "number")
    .replaceAll("Schema.Defect()", "unknown")

/** The members of an error class that is a schema. */
export const fieldsOf = (path: string, tag: string): ReadonlyArray<Member> => {
  const [, fields = ""] = RegExp(`"${tag}",\\s*\\{([^]*?)\\}\\s*\\)\\s*\\{`).exec(text(path)) ?? []
  return Array.from(fields.matchAll(field), ([, doc = "", name = "", schema = ""]) => ({
    name,
    optional: schema.startsWith("Schema.optionalKey"),
    type: typeOf(schema),
    doc: onOneLine(doc)
  }))
}

/** A table of members. */
export const membersTable = (members: ReadonlyArray<Member>): string =>
  table(
    ["Member", "Type", ""],
    members.map(({ doc, name, optional, type }) => [`\`${name}${optional ? "?" : ""}\``, `\`${type}\``, doc])
  )

/** A table of Markdown. Empty columns are omitted. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const used = head.map((_, i) => rows.some((row) => row[i] !== ""))
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells.filter((_, i) => used[i]).map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n")
}
