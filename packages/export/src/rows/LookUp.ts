/** Rows as the service shows them: names of users take a request of their own. */
import type { CallOptions } from "@postwire/core/client/CallOptions"
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import * as Hydrate from "@postwire/core/workflows/Hydrate"
import * as Effect from "effect/Effect"
import type { Row } from "./Layout.ts"

/** What is looked up. */
export type Of = "posts" | "users"

/** Rows in their order, each with what became of it, and what was answered. */
export interface LookedUp {
  readonly results: ReadonlyArray<readonly [Row, Omit<Hydrate.Hydrated<unknown>, "id" | "joined">]>
  readonly answers: ReadonlyArray<Hydrate.Batch>
}

/** Looks rows up, at most as many as one request may ask for. */
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
  const named = yield* ask(Hydrate.lookups.usernames, rows.filter(isName))
  const numbered = yield* ask(Hydrate.lookups[of], rows.filter((row) => !isName(row)))
  const [names, ids] = [named?.results.values(), numbered?.results.values()]
  return {
    results: rows.map((row) => [row, (isName(row) ? names : ids)?.next().value ?? unanswered]),
    answers: [named, numbered].filter((answer) => answer !== undefined)
  }
})

const unanswered = { data: undefined, outcome: "unknown", problem: undefined } as const
