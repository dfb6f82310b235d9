/** Records: the fields that the columns of a row become. A field whose column is NULL is absent. */
import * as Redacted from "effect/Redacted"
import * as Snowflake from "./Snowflake.ts"

export type Value = string | number

/** The cells of a row in the order of the columns. */
export type Row = ReadonlyArray<Value | null>

export interface Field<A> {
  /** A column of the table, or an SQL expression. */
  readonly sql: (column: string) => string
  readonly column: string | undefined
  readonly decode: (value: Value) => A
}

export interface Optional<A> extends Field<A> {
  readonly isOptional: true
}

/** Fields by name; a group becomes an object of its own. */
export type Fields = { readonly [name: string]: Field<unknown> | Fields }

type ValueOf<F> = F extends Field<infer A> ? A : F extends Fields ? RecordOf<F> : never

/** The record of fields. */
export type RecordOf<F> =
  & { readonly [K in keyof F as F[K] extends { readonly isOptional: true } ? never : K]: ValueOf<F[K]> }
  & { readonly [K in keyof F as F[K] extends { readonly isOptional: true } ? K : never]?: ValueOf<F[K]> | undefined }

/** The names of the fields of a record that are read; the others may be absent. */
export type Selection = ReadonlySet<string>

/** The columns to select for a record, and its decoder. */
export interface Shape<A> {
  readonly columns: string
  readonly decode: (row: Row) => A
  /** The shape with no more columns than a selection needs. Without it, every selection reads all of them. */
  readonly only?: ((selection: Selection) => Shape<A>) | undefined
}

/** The type of the records of a shape. */
export type Of<S> = S extends Shape<infer A> ? A : never

const field =
  <A>(decode: (value: Value) => A, sql: Field<A>["sql"] = (column) => column) => (column?: string): Field<A> => ({
    sql,
    column,
    decode
  })

// The columns have the declared types.
export const text = <A extends string = string>(column?: string): Field<A> => field((value) => value as A)(column)
export const number = field(Number)
export const flag = field((value) => value === 1)
export const json = <A>(column?: string): Field<A> => field<A>((value) => JSON.parse(String(value)))(column)
export const secret = field((value) => Redacted.make(String(value)))
/** Words separated by spaces. */
export const words = <A extends string = string>(column?: string): Field<ReadonlyArray<A>> =>
  field((value) => String(value).split(" ").flatMap((word) => word === "" ? [] : [word as A]))(column)

/** Ids exceed the range of numbers. */
export const id = field(String, (column) => `CAST(${column} AS TEXT)`)

/** ISO 8601, from milliseconds. */
export const time = field((value) => new Date(value).toISOString())

/** The milliseconds in an id. */
export const millis = field(Number, (column) => `${column} >> ${Snowflake.counterBits}`)

/** ISO 8601, from an id. */
export const created = field(
  (value) => new Date(value).toISOString(),
  (column) => `${column} >> ${Snowflake.counterBits}`
)

export const optional = <A>(field: Field<A>): Optional<A> => ({ ...field, isOptional: true })

const isField = (field: Field<unknown> | Fields): field is Field<unknown> => typeof field["decode"] === "function"

/** The shape of the records of a table. */
export const record = <const F extends Fields>(table: string, fields: F): Shape<RecordOf<F>> => {
  let column = 0
  return {
    columns: columnsOf(table, fields).join(", "),
    // `columnsOf` selects what the fields decode.
    decode: decoderOf(fields, () => column++) as (row: Row) => RecordOf<F>,
    only: (selection) =>
      // Nothing reads the fields that are absent.
      record(table, Object.fromEntries(Object.entries(fields).filter(([name]) => selection.has(name)))) as Shape<
        RecordOf<F>
      >
  }
}

const columnsOf = (table: string, fields: Fields): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([name, field]) => {
    if (!isField(field)) return columnsOf(table, field)
    const { column = name, sql } = field
    return `${sql(/^\w+$/.test(column) ? `${table}.${column}` : column)} AS ${name}`
  })

const decoderOf = (fields: Fields, next: () => number): (row: Row) => object => {
  const parts = Object.entries(fields).map(([name, field]) =>
    isField(field) ? { name, column: next(), decode: field.decode } : { name, group: decoderOf(field, next) }
  )
  return (row) => {
    const record: Record<string, unknown> = {}
    for (const { column, decode, group, name } of parts) {
      if (group !== undefined) record[name] = group(row)
      else {
        const value = row[column] ?? null
        if (value !== null) record[name] = decode(value)
      }
    }
    return record
  }
}

/** A shape with further changes to its records; `sources` are the fields that those of a selection come from. */
export const map = <A, B>(
  { columns, decode, only }: Shape<A>,
  f: (record: A) => B,
  sources?: (selection: Selection) => Selection
): Shape<B> => ({
  columns,
  decode: (row) => f(decode(row)),
  only: only && sources && ((selection) => map(only(sources(selection)), f))
})

/** A shape with a further column, the key of the record. */
export const keyed = <A>(
  { columns, decode, only }: Shape<A>,
  key: string
): Shape<{ readonly key: string; readonly item: A }> => ({
  columns: `${columns}, ${key}`,
  decode: (row) => ({ key: String(row.at(-1)), item: decode(row) }),
  only: only && ((selection) => keyed(only(selection), key))
})
