/** Converts a page to rows, and rows back to the page. */
import * as Table from "@postwire/export/rows/Table"
import { type Anomalies, type Page, type Source, sumOf } from "@postwire/export/sources/Source"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

/** A row to store. */
export interface Row {
  /** The kind of resource, in the plural (`posts`, `users`, `media`), `errors` for partial errors, or `anomalies`. */
  readonly kind: string
  /** Unique among its kind in one export. */
  readonly id: string
  /** Its position among the requested items; `null` if it is not one of them. */
  readonly listed: number | null
  /** Its position among the included objects; `null` if it is not one of them. */
  readonly included: number | null
  readonly body: object
}

/** A page of a part of an export. */
export interface PagePlace {
  readonly part: number
  readonly page: number
}

/** More than a page has objects of a kind. */
const placesPerPage = 2 ** 14
/** More than a part has pages. */
const pagesPerPart = 2 ** 26

/** The first position of a page, above all positions of the page before it in the export. */
export const beginOf = ({ page, part }: PagePlace): number => (part * pagesPerPart + page) * placesPerPage

/** The end of the positions of a page, exclusive. */
export const endOf = (place: PagePlace): number => beginOf(place) + placesPerPage

/** The resources of a page, each once. Those without an id are distinguished by their position. */
export const rowsOf = (source: Source, page: Page, place: PagePlace): ReadonlyArray<Row> => {
  const rows = new Map<string, Row>()
  const begin = beginOf(place)
  const keep = (kind: string, key: string | undefined, as: "listed" | "included", bodies: ReadonlyArray<object>) => {
    for (const [i, body] of bodies.entries()) {
      const own = key !== undefined && Predicate.hasProperty(body, key) ? body[key] : undefined
      const id = typeof own === "string" ? own : `${place.part}/${place.page}/${i}`
      const known = rows.get(`${kind} ${id}`) ?? { kind, id, listed: null, included: null, body }
      rows.set(`${kind} ${id}`, { ...known, body, [as]: known[as] ?? begin + i })
    }
  }
  for (const [bucket, bodies] of Object.entries(page.includes)) {
    keep(bucket, Table.included(bucket, source.parameters).key, "included", bodies)
  }
  // Last, since an item may also be an included object.
  const { key, name } = Table.items(source.definition, source.parameters)
  keep(name, key, "listed", page.items)
  keep("errors", undefined, "included", page.errors)
  keep(
    "anomalies",
    undefined,
    "included",
    Object.entries(page.anomalies ?? {}).map(([path, count]) => ({ path, count }))
  )
  return [...rows.values()]
}

const isCount = Schema.is(Schema.Struct({ path: Schema.String, count: Schema.Int }))

/** The sum of rows of anomalies; `undefined` if there are none. */
export const anomaliesOf = (bodies: ReadonlyArray<object>): Anomalies | undefined =>
  bodies.filter(isCount).reduce<Anomalies | undefined>(
    (all, { count, path }) => sumOf(all, { [path]: count }),
    undefined
  )

/** The page of rows, without the included objects of pages before it. */
export const pageOf = (rows: ReadonlyArray<Row>, place: PagePlace): Omit<Page, "next"> => {
  const inPage = (at: number | null): at is number => at !== null && at >= beginOf(place) && at < endOf(place)
  const ordered = (as: "listed" | "included") =>
    rows.filter((row) => inPage(row[as])).sort((a, b) => Number(a[as]) - Number(b[as]))
  const { anomalies = [], errors = [], ...includes } = Object.groupBy(ordered("included"), ({ kind }) => kind)
  return {
    items: ordered("listed").map(({ body }) => body),
    includes: Object.fromEntries(
      Object.entries(includes).map(([bucket, rows = []]) => [bucket, rows.map(({ body }) => body)])
    ),
    errors: errors.map(({ body }) => body),
    ...(anomalies.length === 0 ? {} : { anomalies: anomaliesOf(anomalies.map(({ body }) => body)) }),
    rateLimit: undefined
  }
}
