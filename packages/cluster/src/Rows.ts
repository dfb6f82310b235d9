/** A page as rows to keep. */
import type { Page, Source } from "@postwire/export/Source"
import * as Table from "@postwire/export/Table"

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

/** What a page holds, each resource once. Those without an id are told apart by the `place` of the page. */
export const rowsOf = (source: Source, page: Page, place: string): ReadonlyArray<Row> => {
  const rows = new Map<string, Row>()
  const keep = (kind: string, key: string | undefined, wanted: boolean, bodies: ReadonlyArray<object>) => {
    for (const [i, body] of bodies.entries()) {
      const own = key === undefined ? undefined : (body as Readonly<Record<string, unknown>>)[key]
      const id = typeof own === "string" ? own : `${place}/${i}`
      rows.set(`${kind} ${id}`, { kind, id, wanted, body })
    }
  }
  for (const [bucket, bodies] of Object.entries(page.includes)) {
    keep(bucket, Table.included(bucket, source.parameters).key, false, bodies)
  }
  // Last: an item may also be among what came along.
  const { key, name } = Table.items(source.definition, source.parameters)
  keep(name, key, true, page.items)
  keep("errors", undefined, false, page.errors)
  return [...rows.values()]
}
