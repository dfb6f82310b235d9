/**
 * The expected price of an export, from one of its pages. Expansions bring the same users and posts again and again, which are charged
 * once a day, so the most that an export can cost says little where it has expansions.
 */
import { Client } from "@postwire/core/client/Client"
import * as Prices from "@postwire/core/spend/Prices"
import type * as Plan from "@postwire/export/sources/Plan"
import type { Source } from "@postwire/export/sources/Source"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Spending from "../connection/Spending.ts"

/** A sample, and what it says about the export. */
export interface Sample {
  readonly items: number
  /** What it was charged, in millionths of a dollar. */
  readonly micros: number
  /** The expected price of the export, in millionths of a dollar. */
  readonly expected: number
}

/** The most items of a sample. */
const most = 100

/** What expansions may add to the price has to exceed that of the sample this many times. */
const worth = 10

/** Expansions whose objects no field of an item names. */
const unnamed = ["attachments.media_source_post", "entities.note.mentions.username", "referenced_posts.id.author_id"]

/** A kind of resource that an expansion brings and the service charges. */
interface Brought {
  readonly kind: "post" | "user"
  /** The members that lead to its ids. */
  readonly path: ReadonlyArray<string>
}

/** The request of a sample, with the most that it costs; `undefined` if it would not be worth its price. */
const requestOf = (
  wire: Client["Service"]["live"]["wire"],
  { definition, parameters }: Pick<Source, "definition" | "parameters">,
  estimate: Plan.Estimate
) => {
  const { price, query, result } = definition
  if (result._tag !== "Many" || !("model" in result) || typeof price === "string" || "request" in price) {
    return undefined
  }
  const { expansions, selectable, selector } = result.model
  const brought: ReadonlyArray<readonly [name: string, kind: string | undefined]> = [parameters["expansions"] ?? []]
    .flat()
    .flatMap((names) => String(names).split(","))
    .map((name) => [name, expansions[name]])
  const charged = brought.flatMap(([name, kind]): ReadonlyArray<Brought & { readonly name: string }> =>
    kind === "post" || kind === "user" ? [{ name, kind, path: name.replace(/\.username$/, ".id").split(".") }] : []
  )
  if (charged.length === 0 || charged.some(({ name }) => unnamed.includes(name))) return undefined
  const fields = [...new Set(charged.flatMap(({ path: [field = ""] }) => selectable.includes(field) ? [field] : []))]
  const bounds = query?.["max_results"]?.bounds
  const items = Math.min(most, bounds?.of === "value" ? bounds.maximum : most)
  // Some dialects have an expansion for a field.
  const added = fields.flatMap((field) => wire.selector(definition, selector)?.(field).expansions ?? [])
  const micros = Prices.mostOf(price, { items, expansions: added, hasUrl: false }, Prices.current)
  const base = Spending.mostOf(definition, { ...parameters, expansions: [] }, estimate)
  if (Spending.mostOf(definition, parameters, estimate) - base <= worth * micros) return undefined
  const own = Object.entries(parameters).filter(([name]) => name !== "expansions" && !name.endsWith("_fields"))
  return {
    charged,
    base,
    price: { items, of: `${estimate.of} of a sample`, requests: 1, micros },
    parameters: { ...Object.fromEntries(own), max_results: items, [selector]: fields }
  }
}

/** Requests a page without expansions, whose fields name what these would bring. `None` if that is not worth its price. */
export const take = Effect.fnUntraced(function*(
  source: Pick<Source, "definition" | "parameters">,
  estimate: Plan.Estimate,
  flags: Spending.Flags
) {
  const client = yield* Client
  const { definition } = source
  const request = requestOf(client.live.wire, source, estimate)
  if (request === undefined || Option.exists(flags.maxSpend, (limit) => limit < request.price.micros)) {
    return Option.none<Sample>()
  }
  yield* Spending.confirmCost(flags, request.price)
  return yield* client.request(definition, request.parameters, { retries: 0 }).pipe(
    Effect.flatMap((response) => client.read(definition, response)),
    Effect.map(({ cost, data }): Sample => {
      const items = Array.isArray(data) ? data.filter(Predicate.isObject) : []
      return {
        items: items.length,
        micros: Prices.microsOf(cost?.dollars ?? 0),
        expected: request.base + broughtBy(request.charged, items, estimate)
      }
    }),
    Effect.option
  )
})

const millisOfDay = 86_400_000

/** What the expansions of an export are expected to cost: each user and post once a day. */
const broughtBy = (
  charged: ReadonlyArray<Brought>,
  items: ReadonlyArray<object>,
  { duration, items: all }: Plan.Estimate
): number => {
  const days = Math.max(1, Math.ceil(duration / millisOfDay))
  let micros = 0
  for (const kind of ["post", "user"] as const) {
    const times = new Map<string, number>()
    for (const item of items) {
      const own = idsAt(item, ["id"])
      for (const { path } of charged.filter((brought) => brought.kind === kind)) {
        // An item is charged already.
        for (const id of idsAt(item, path)) if (!own.includes(id)) times.set(id, (times.get(id) ?? 0) + 1)
      }
    }
    const [...counts] = times.values()
    const draws = counts.reduce((sum, count) => sum + count, 0) / Math.max(1, items.length) * all
    micros += days * distinct(counts, draws / days) * Prices.current.read[kind]
  }
  return micros
}

/** The texts at a path of members, through lists. */
const idsAt = (value: unknown, path: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap((item) => idsAt(item, path))
  const [name, ...rest] = path
  if (name === undefined) return typeof value === "string" ? [value] : []
  return Predicate.hasProperty(value, name) ? idsAt(value[name], rest) : []
}

/**
 * The number of distinct things that are expected among `draws`, from how often each was drawn in a sample. Chao's estimate is the
 * least that is likely, since it takes no account of many rare ones. The power law by which the sample finds new ones is too much,
 * since it never ends. The result is between them, twice as near to the first: so it is for authors of very different diligence.
 */
export const distinct = (counts: ReadonlyArray<number>, draws: number): number => {
  const drawn = counts.reduce((sum, count) => sum + count, 0)
  if (drawn === 0 || draws === 0) return 0
  const [once = 0, twice = 0] = [1, 2].map((times) => counts.filter((count) => count === times).length)
  const least = counts.length + once * (once - 1) / (2 * (twice + 1))
  const law = counts.length * (draws / drawn) ** (once / counts.length)
  return Math.cbrt(Math.min(least, draws) ** 2 * Math.min(law, draws))
}
