/** Numbers that the service sends as text ({@link Model.sentAsText}). */
import * as Predicate from "effect/Predicate"
import type * as SchemaAST from "effect/SchemaAST"
import * as Model from "../schema/Model.ts"

/** Converts the values in a value, which it changes. */
type Convert = (value: unknown) => unknown

/** Compiles a schema into the conversion of texts to numbers; `undefined` if it has none. */
export const reader = (schema: { readonly ast: SchemaAST.AST }): Convert | undefined => compile(schema.ast, toNumber)

/** Compiles a schema into the conversion of numbers to texts, for servers. */
export const writer = (schema: { readonly ast: SchemaAST.AST }): Convert | undefined => compile(schema.ast, toText)

/** Compiles a schema into a conversion of the values that are sent as text. */
export const conversion = (
  schema: { readonly ast: SchemaAST.AST },
  convert: Convert
): Convert | undefined => compile(schema.ast, convert)

const toNumber: Convert = (value) => typeof value === "string" && /^-?\d{1,16}$/.test(value) ? Number(value) : value

const toText: Convert = (value) => typeof value === "number" ? String(value) : value

const compile = (ast: SchemaAST.AST, convert: Convert): Convert | undefined => {
  switch (ast._tag) {
    case "Objects":
      return object(ast.propertySignatures.flatMap(({ name, type }) => {
        const inner = compile(type, convert)
        return inner === undefined ? [] : [[String(name), inner] as const]
      }))
    case "Arrays":
      return array(ast.rest[0] && compile(ast.rest[0], convert))
    case "Number":
      return Model.isSentAsText(ast) ? convert : undefined
    default:
      return undefined
  }
}

const object = (members: ReadonlyArray<readonly [name: string, inner: Convert]>): Convert | undefined =>
  members.length === 0 ? undefined : (value) => {
    if (!Predicate.isObject(value)) return value
    for (const [name, inner] of members) if (Object.hasOwn(value, name)) value[name] = inner(value[name])
    return value
  }

const array = (item: Convert | undefined): Convert | undefined =>
  item && ((value) => {
    if (Array.isArray(value)) value.forEach((each, i) => value[i] = item(each))
    return value
  })
