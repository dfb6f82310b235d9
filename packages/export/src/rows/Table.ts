/**
 * Resources as tables. The columns follow from the requested fields, whatever the first page contains. Objects within a resource
 * become columns (`public_metrics_like_count`), lists become JSON, ids stay text, and everything else is kept as JSON in the last
 * column, `other`.
 */
import type { Definition } from "@postwire/core/schema/Definition"
import type * as Model from "@postwire/core/schema/Model"
import { ComplianceJob } from "@postwire/core/schema/models/ComplianceJob"
import { DirectMessageEvent } from "@postwire/core/schema/models/DirectMessageEvent"
import { List } from "@postwire/core/schema/models/List"
import { Media } from "@postwire/core/schema/models/Media"
import { Place } from "@postwire/core/schema/models/Place"
import { Poll } from "@postwire/core/schema/models/Poll"
import { Post } from "@postwire/core/schema/models/Post"
import { Space } from "@postwire/core/schema/models/Space"
import { Topic } from "@postwire/core/schema/models/Topic"
import { User } from "@postwire/core/schema/models/User"
import type * as SchemaAST from "effect/SchemaAST"

/** The type of a column; `json` is JSON text. */
export type ColumnType = "text" | "integer" | "real" | "boolean" | "json"

/** A column. */
export interface Column {
  readonly name: string
  /** The path of the value in the resource. */
  readonly path: ReadonlyArray<string>
  readonly type: ColumnType
  /** True if it names the origin of an item instead of a property. */
  readonly isMark?: true
}

/** The columns of a kind of resource. */
export interface Table {
  readonly name: string
  /** The column that identifies a row, if any. */
  readonly key: string | undefined
  readonly columns: ReadonlyArray<Column>
}

/** A value; `undefined` if the resource does not have it. */
export type Cell = string | number | boolean | undefined

type Parameters = Readonly<Record<string, unknown>>

const models: ReadonlyArray<Model.AnyModel> = [
  Post,
  User,
  Space,
  List,
  DirectMessageEvent,
  ComplianceJob,
  Media,
  Place,
  Poll,
  Topic
]

/** The column for everything else. */
const other: Column = { name: "other", path: [], type: "json" }

/** The table of an operation's result. */
export const items = ({ result }: Pick<Definition, "result">, parameters: Parameters): Table =>
  result._tag === "Bytes" || result._tag === "Document"
    ? { name: "items", key: undefined, columns: [other] }
    : result._tag === "Value"
    ? { name: "items", key: undefined, columns: [...columnsOf(elementOf(result.schema.ast), []), other] }
    : ofModel(result.model, parameters)

/** Adds columns for the origin of rows. */
export const marked = (table: Table, marks: ReadonlyArray<Column> = []): Table => ({
  ...table,
  columns: [...marks.map((column): Column => ({ ...column, isMark: true })), ...table.columns]
})

/** The table of a bucket of `includes`. An unknown bucket has the single column `other`. */
export const included = (bucket: string, parameters: Parameters): Table => {
  const model = models.find(({ includes }) => includes === bucket)
  return model === undefined ? { name: bucket, key: "id", columns: [other] } : ofModel(model, parameters)
}

/** The table of the outcomes of a file's rows. */
export const outcomes: Table = {
  name: "outcomes",
  key: undefined,
  columns: [
    { name: "row", path: ["row"], type: "integer" },
    { name: "value", path: ["value"], type: "text" },
    { name: "outcome", path: ["outcome"], type: "text" },
    { name: "detail", path: ["detail"], type: "text" }
  ]
}

/** The buckets that the requested expansions can return. */
export const expected = ({ result }: Pick<Definition, "result">, parameters: Parameters): ReadonlyArray<string> => {
  const asked = names(parameters["expansions"])
  const kinds = new Set(
    !("model" in result) ? [] : models.flatMap(({ expansions }) => asked.flatMap((name) => expansions[name] ?? []))
  )
  return models.flatMap(({ includes, kind }) => includes !== undefined && kinds.has(kind) ? [includes] : [])
}

const ofModel = (model: Model.AnyModel, parameters: Parameters): Table => {
  const asked = new Set([
    ...model.defaults,
    ...names(parameters[model.selector]),
    // An expansion also returns the field that it expands.
    ...names(parameters["expansions"])
      .filter((name) => name in model.expansions)
      .flatMap((name) => name.split(".", 1))
  ])
  return {
    name: model.includes ?? `${model.kind.replace(/s$/, "")}s`,
    key: model.identifier,
    columns: [
      ...Object.entries(model.fields).flatMap(([name, field]) => asked.has(name) ? columnsOf(field.ast, [name]) : []),
      other
    ]
  }
}

/** The names in a list, or in a text with commas. */
export const names = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string" ? value.split(",") : Array.isArray(value) ? value.map(String) : []

const elementOf = (ast: SchemaAST.AST): SchemaAST.AST => ast._tag === "Arrays" ? ast.rest[0] ?? ast : ast

const columnsOf = (ast: SchemaAST.AST, path: ReadonlyArray<string>): ReadonlyArray<Column> => {
  const column = (type: ColumnType): ReadonlyArray<Column> => [{ name: path.join("_"), path, type }]
  switch (ast._tag) {
    case "Objects":
      return ast.indexSignatures.length > 0
        ? column("json")
        : ast.propertySignatures.flatMap(({ name, type }) => columnsOf(type, [...path, String(name)]))
    case "String":
      return column("text")
    case "Number":
      return column(ast.checks?.some(isInteger) === true ? "integer" : "real")
    case "Boolean":
      return column("boolean")
    default:
      return column("json")
  }
}

/** `Schema.Int` is a number with one check. */
const isInteger = ({ annotations }: { readonly annotations?: { readonly expected?: unknown } | undefined }): boolean =>
  annotations?.expected === "an integer"

interface Node {
  readonly column: number
  readonly type: ColumnType
  readonly inner: Map<string, Node>
}

/** Compiles a table into a function that returns the cells of a resource, in the order of the columns. */
export const cells = ({ columns }: Table): (row: object) => Array<Cell> => {
  const root = new Map<string, Node>()
  for (const [column, { path, type }] of columns.entries()) {
    let nodes = root
    for (const [depth, name] of path.entries()) {
      const last = depth === path.length - 1
      const node = nodes.get(name) ?? { column: last ? column : -1, type, inner: new Map<string, Node>() }
      nodes.set(name, node)
      nodes = node.inner
    }
  }
  const lay = (
    row: object,
    nodes: ReadonlyMap<string, Node>,
    into: Array<Cell>
  ): Record<string, unknown> | undefined => {
    let rest: Record<string, unknown> | undefined
    for (const [name, value] of Object.entries(row)) {
      const node = nodes.get(name)
      if (node === undefined) (rest ??= withoutPrototype())[name] = value
      else if (value === null || value === undefined) continue
      else if (node.column >= 0) into[node.column] = node.type === "json" ? JSON.stringify(value) : value
      else {
        const left = lay(value, node.inner, into)
        if (left !== undefined) (rest ??= withoutPrototype())[name] = left
      }
    }
    return rest
  }
  return (row) => {
    const into = Array<Cell>(columns.length).fill(undefined)
    const rest = lay(row, root, into)
    if (rest !== undefined) into[columns.length - 1] = JSON.stringify(rest)
    return into
  }
}

/** An object for names that come from outside. */
const withoutPrototype = (): Record<string, unknown> => Object.create(null)
