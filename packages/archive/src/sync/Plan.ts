/**
 * What the next sync is expected to read and to cost. Known lists are counted by the service; of later runs, each source is expected
 * to grow as it did between the last two.
 */
import type { Client } from "@postwire/core/client/Client"
import type { AnyError } from "@postwire/core/errors/Errors"
import type { Definition } from "@postwire/core/schema/Definition"
import * as Prices from "@postwire/core/spend/Prices"
import * as ExportPlan from "@postwire/export/sources/Plan"
import * as Source from "@postwire/export/sources/Source"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as Copy from "../copy/Copy.ts"
import type { SubjectUnavailable } from "../copy/CopyErrors.ts"
import { type Kind, kinds, parametersOf } from "../sources/Kinds.ts"
import { millisOf, nameOf, type Source as SyncSource } from "../sources/SyncFile.ts"
import { dueOf, identify, isPaged } from "./Due.ts"
import * as windows from "./Window.ts"

/** The expected items of a subject. */
export interface Expected {
  readonly source: string
  readonly subject: string
  /** `undefined` if it cannot be known. */
  readonly items: number | undefined
  /** The most that they cost, in millionths of a dollar, without new authors and referenced posts. */
  readonly micros: number
  /** The most that an author and a referenced post of each item add. */
  readonly microsOfOthers: number
}

/** Estimates the next run of sources. */
export const estimate = Effect.fnUntraced(function*(
  sources: ReadonlyArray<SyncSource>,
  userAuth: boolean
): Effect.fn.Return<ReadonlyArray<Expected>, AnyError | SqlError | SubjectUnavailable, Client | Copy.Current> {
  const copy = yield* Copy.Current
  const idOf = yield* identify(copy, userAuth)
  return yield* Effect.forEach(yield* dueOf(copy, sources), ({ source, state, subject }) =>
    Effect.gen(function*() {
      if (!isPaged(source.kind)) {
        return { source: nameOf(source), subject, items: undefined, micros: 0, microsOfOthers: 0 }
      }
      const kind: Kind = kinds[source.kind]
      const id = state.id ?? (yield* idOf(kind.of, subject))
      const parameters = parametersOf(kind, userAuth)
      const window = yield* windows.open(
        copy,
        { kind, state },
        source.full === undefined ? windows.defaultFull : millisOf(source.full)
      )
      const named = kind.of === "query" ? { query: subject } : { id }
      const listed = Source.fromDefinition(kind.definition, {
        ...parameters,
        ...named,
        ...window.since === undefined ? {} : { since_id: window.since }
      })
      const items = yield* itemsOf(kind, listed, state, window)
      return { source: nameOf(source), subject, items, ...pricesOf(kind, parameters, items ?? 0) }
    }))
})

/** The items that a window is expected to have. */
const itemsOf = Effect.fnUntraced(function*(
  kind: Kind,
  listed: Source.Source,
  state: windows.State,
  window: windows.Open
): Effect.fn.Return<number | undefined, AnyError, Client> {
  const isCounted = kind.of === "query" || state.doneAt === undefined || window.isFull
  if (isCounted) {
    const counted = yield* ExportPlan.count(listed).pipe(
      Effect.catchTag("NotPlannable", () => Effect.void)
    )
    return counted?.total
  }
  const { doneAt, growth } = state
  if (growth === undefined || doneAt === undefined) return undefined
  const passed = (yield* Clock.currentTimeMillis) - doneAt
  const grown = Math.ceil(growth.items * passed / Math.max(1, growth.millis))
  return kind.how === "overlap" ? Math.max(grown, windows.knownInRow) : grown
})

const pricesOf = (kind: Kind, parameters: Readonly<Record<string, unknown>>, items: number) => {
  const each = mostOfOne(kind.definition, parameters)
  const { post, user } = Prices.current.read
  return { micros: items * each, microsOfOthers: kind.table === "posts" ? items * (post + user) : 0 }
}

const mostOfOne = (definition: Definition, parameters: Readonly<Record<string, unknown>>): number =>
  typeof definition.price === "string" ? 0 : Prices.most(definition, { ...parameters, max_results: 1 })
