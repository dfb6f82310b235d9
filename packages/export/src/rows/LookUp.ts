/** Looks up rows. Users' names and ids need separate requests. */
import type { CallOptions } from "@postwire/core/client/CallOptions"
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import * as Hydrate from "@postwire/core/workflows/Hydrate"
import * as Effect from "effect/Effect"
import type { Row } from "./Layout.ts"

/** The kind of objects. */
export type Of = "posts" | "users"

/** The results of rows, in their order, and the responses. */
export interface LookedUp {
  readonly results: ReadonlyArray<Omit<Hydrate.Hydrated<unknown>, "id" | "joined">>
  readonly answers: ReadonlyArray<Hydrate.Batch>
}

/** Looks up rows, at most as many as fit in one request. */
export const lookUp = Effect.fnUntraced(function*(
  of: Of,
  rows: ReadonlyArray<Row>,
  parameters: Readonly<Record<string, unknown>>,
  options: CallOptions
): Effect.fn.Return<LookedUp, AnyError, Client> {
  const isName = ({ value }: Row) => of === "users" && value.startsWith("@")
  const ask = (lookup: Hydrate.Lookup, some: ReadonlyArray<Row>) =>
    some.length === 0
      ? Effect.undefined
      : Hydrate.lookUp(lookup, some.map(({ value }) => value), parameters, options)
  const names = rows.filter(isName)
  const named = yield* ask(Hydrate.lookups.usernames, names)
  const numbered = yield* ask(Hydrate.lookups[of], names.length === 0 ? rows : rows.filter((row) => !isName(row)))
  const answers = [named, numbered].filter((answer) => answer !== undefined)
  const [first, second] = answers
  if (second === undefined) return { results: first?.results ?? [], answers }
  const [byName, byId] = [first, second].map((answer) => answer?.results.values())
  return { results: rows.map((row) => (isName(row) ? byName : byId)?.next().value ?? unanswered), answers }
})

/** The result of a row that no response mentions. */
export const unanswered = { data: undefined, outcome: "unknown", problem: undefined } as const
