/**
 * Replies of operations whose rules are not known outside the service: deterministic values of the declared types. An operation
 * whose handler is `handle` itself is answered by shape only, and the coverage page lists it so.
 */
import { dataOf } from "@postwire/core/wire/ResponseDecoder"
import * as Effect from "effect/Effect"
import type * as SchemaAST from "effect/SchemaAST"
import type { Problem } from "../http/Problem.ts"
import type { Reply } from "../projection/Reply.ts"
import type { Call } from "./Handler.ts"

/** Replies with values of the declared types; ids are those of the request, and times the time of the service. */
export const handle = (call: Call<object>): Effect.Effect<Reply> => {
  const { caller, definition: { result }, now, parameters } = call
  if (result._tag === "Bytes") return Effect.succeed({ file: { type: "application/octet-stream", content: bytes } })
  const given: ReadonlyMap<string, unknown> = new Map(Object.entries(parameters))
  const known = { given, now: new Date(now).toISOString(), user: caller.userId ?? "1" }
  const data = valueOf(dataOf(result).ast, "", known)
  return Effect.succeed(Array.isArray(data) ? { data, meta: { result_count: data.length } } : { data })
}

/** Replies by shape if a check passes. */
export const after = <P extends object>(
  check: (call: Call<P>) => Effect.Effect<unknown, Problem>
): (call: Call<P>) => Effect.Effect<Reply, Problem> => {
  const handler = (call: Call<P>) => Effect.andThen(check(call), handle(call))
  shaped.add(handler)
  return handler
}

/** The handlers that reply by shape. */
export const shaped = new WeakSet<object>([handle])

const bytes = { size: 1, read: () => [Uint8Array.of(1)] }

interface Known {
  readonly given: ReadonlyMap<string, unknown>
  readonly now: string
  readonly user: string
}

const valueOf = (ast: SchemaAST.AST, name: string, known: Known): unknown => {
  switch (ast._tag) {
    case "Objects":
      return Object.fromEntries(
        ast.propertySignatures.map(({ name, type }) => [name, valueOf(type, String(name), known)])
      )
    case "Arrays":
      return ast.rest[0] === undefined ? [] : [valueOf(ast.rest[0], name, known)]
    case "Boolean":
      return true
    case "Number":
      return 1
    case "String":
      return textOf(name, known)
    case "Union":
      return valueOf(ast.types[0]!, name, known)
    case "Literal":
      return ast.literal
    default:
      return {}
  }
}

const textOf = (name: string, { given, now, user }: Known): string => {
  const own = given.get(name)
  if (typeof own === "string") return own
  if (/_at$|^timestamp$/.test(name)) return now
  return name === "id" ? "1" : /_ids?$/.test(name) ? user : name
}
