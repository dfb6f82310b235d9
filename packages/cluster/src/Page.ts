/** One page of an operation, as rows to keep. */
import type { Client } from "@postwire/core/Client"
import { type AnyError, PaginationStuck } from "@postwire/core/Errors"
import type { Definition } from "@postwire/core/Operation"
import * as Pagination from "@postwire/core/Pagination"
import type { Result } from "@postwire/core/Response"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/** Something to keep. */
export interface Row {
  /** The kind of resource, in the plural (`posts`, `users`, `media`), or `errors` for partial errors. */
  readonly kind: string
  /** Unique among its kind in one export. */
  readonly id: string
  /** Whether it is what was asked for, rather than what came along. */
  readonly wanted: boolean
  readonly body: object
}

/** What a page holds. */
export interface Page {
  /** Each resource once. */
  readonly rows: ReadonlyArray<Row>
  /** The items of the page. */
  readonly count: number
  /** Partial errors. */
  readonly errors: number
  /** Leads to the page after this one; none at the end. */
  readonly next: string | undefined
}

/** Fetches the page that a token leads to. `position` tells rows without an id of their own apart. */
export const fetch = (
  definition: Definition,
  parameters: Readonly<Record<string, unknown>>,
  token: string | undefined,
  position: string
): Effect.Effect<Page, AnyError, Client> =>
  Pagination.streams(definition).pages(
    token === undefined || definition.paging === undefined
      ? parameters
      : { ...parameters, [definition.paging.token]: token }
  ).pipe(
    Stream.runHead,
    Effect.flatMap(Option.match({
      onNone: () => Effect.succeed<Page>({ rows: [], count: 0, errors: 0, next: undefined }),
      onSome: ({ response }) => {
        const next = response.meta.next_token || undefined
        if (next !== undefined && next === token) {
          return Effect.fail(new PaginationStuck({ operation: definition.name, token: next }))
        }
        const items = Pagination.itemsOf(response)
        const { errors } = response
        const rows = new Map<string, Row>()
        const keep = (kind: string, key: string | undefined, wanted: boolean, bodies: ReadonlyArray<unknown>) => {
          for (const [i, body] of bodies.entries()) {
            if (typeof body !== "object" || body === null) continue
            const own = key === undefined ? undefined : (body as Readonly<Record<string, unknown>>)[key]
            const id = typeof own === "string" ? own : `${position}/${i}`
            rows.set(`${kind} ${id}`, { kind, id, wanted, body })
          }
        }
        for (const [bucket, bodies] of Object.entries(response.includes as Includes)) {
          keep(bucket, keys[bucket] ?? "id", false, bodies)
        }
        // Last: an item may also be among what came along.
        keep(kindOf(definition.result), keyOf(definition.result), true, items)
        keep("errors", undefined, false, errors)
        return Effect.succeed<Page>({ rows: [...rows.values()], count: items.length, errors: errors.length, next })
      }
    }))
  )

type Includes = Readonly<Record<string, ReadonlyArray<unknown>>>

/** What identifies the objects of a bucket, where it is not `id`. */
const keys: Readonly<Record<string, string>> = { media: "media_key" }

const kindOf = (result: Result): string =>
  result._tag === "Value" ? "items" : result.model.includes ?? `${result.kind}s`

const keyOf = (result: Result): string | undefined => result._tag === "Value" ? undefined : result.model.identifier
