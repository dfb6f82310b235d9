/** The dated table of prices, and changes to it. */
import * as Predicate from "effect/Predicate"
import { InvalidSettings } from "../../errors/Errors.ts"
import type { ReadRow, RequestRow } from "../../schema/Price.ts"

/** A table of prices, in micro-dollars. */
export interface Prices {
  /** The date of the prices, as `2026-08-22`. */
  readonly since: string
  /** Per resource. */
  readonly read: Readonly<Record<ReadRow, number>>
  /** Per request. */
  readonly request: Readonly<Record<RequestRow, number>>
  /** Per resource of their own that the owner of the app reads. */
  readonly ownedRead: number
  /** The most that a request without a published price costs; such requests are not counted without it. */
  readonly unknown: number | undefined
  /** True if posts and users added by `expansions` are charged as well: they are resources of the response. */
  readonly includes: boolean
}

/** The pay-per-use prices that the service published on 2026-08-22. */
export const current: Prices = {
  since: "2026-08-22",
  read: {
    post: 5_000,
    user: 10_000,
    dmEvent: 10_000,
    followingOrFollower: 10_000,
    list: 5_000,
    space: 5_000,
    community: 5_000,
    note: 5_000,
    like: 1_000,
    mute: 1_000,
    block: 1_000,
    profileUpdate: 5_000
  },
  request: {
    postCreate: 15_000,
    postCreateWithUrl: 200_000,
    postCreateSummoned: 10_000,
    dmInteractionCreate: 15_000,
    userInteractionCreate: 15_000,
    interactionDelete: 10_000,
    contentManage: 5_000,
    listCreate: 10_000,
    listManage: 5_000,
    bookmark: 5_000,
    mediaMetadata: 5_000,
    privacyUpdate: 10_000,
    muteDelete: 5_000,
    countsRecent: 5_000,
    countsAll: 10_000,
    trends: 10_000
  },
  ownedRead: 1_000,
  unknown: undefined,
  includes: true
}

/** Prices that differ from the current ones, in dollars. */
export interface Changes {
  /** The date of the prices, as `2026-08-22`. */
  readonly since?: string | undefined
  /** Per resource, by row. */
  readonly read?: Readonly<Partial<Record<ReadRow, number>>> | undefined
  /** Per request, by row. */
  readonly request?: Readonly<Partial<Record<RequestRow, number>>> | undefined
  /** Per resource of their own that the owner of the app reads. */
  readonly ownedRead?: number | undefined
  /** The most that a request without a published price costs. Under a limit, such requests are refused without it. */
  readonly unknown?: number | undefined
  /** True if posts and users added by `expansions` are charged as well. Default: true. */
  readonly includes?: boolean | undefined
}

/** Micro-dollars as dollars. */
export const dollarsOf = (micros: number): number => micros / 1_000_000

/** Dollars as whole micro-dollars. */
export const microsOf = (dollars: number): number => Math.round(dollars * 1_000_000)

/** The current prices with changes, which are in dollars. */
export const changed = (changes: Changes): Prices | InvalidSettings => {
  const invalid = (rule: string) => new InvalidSettings({ setting: "prices", rule })
  if (typeof changes !== "object" || changes === null) return invalid("must be an object of prices in dollars")
  const stranger = Object.keys(changes).find((name) => !Object.hasOwn(current, name))
  if (stranger !== undefined) return invalid(`has no ${stranger}, only ${Object.keys(current).join(", ")}`)
  const { includes = current.includes, ownedRead, since = current.since, unknown } = changes
  if (typeof since !== "string" || !/^\d{4}-\d\d-\d\d$/.test(since)) {
    return invalid("must have a day for since, such as 2026-08-22")
  }
  if (typeof includes !== "boolean") return invalid("must have true or false for includes")
  const read = merged("read", current.read, changes.read)
  if (typeof read === "string") return invalid(read)
  const request = merged("request", current.request, changes.request)
  if (typeof request === "string") return invalid(request)
  if (ownedRead !== undefined && !isPrice(ownedRead)) return invalid(priceRule("ownedRead"))
  if (unknown !== undefined && !isPrice(unknown)) return invalid(priceRule("unknown"))
  return {
    since,
    read,
    request,
    ownedRead: ownedRead === undefined ? current.ownedRead : microsOf(ownedRead),
    unknown: unknown === undefined ? undefined : microsOf(unknown),
    includes
  }
}

const merged = <Row extends string>(
  name: "read" | "request",
  table: Readonly<Record<Row, number>>,
  changes: Readonly<Partial<Record<Row, number>>> | undefined
): Readonly<Record<Row, number>> | string => {
  if (changes !== undefined && !Predicate.isObject(changes)) return `must have an object of rows for ${name}`
  const all: Record<Row, number> = { ...table }
  for (const [row, dollars] of Object.entries<number | undefined>(changes ?? {})) {
    if (!isRow(table, row)) return `has no row ${row} in ${name}, only ${Object.keys(table).join(", ")}`
    if (dollars === undefined) continue
    if (!isPrice(dollars)) return priceRule(row)
    all[row] = microsOf(dollars)
  }
  return all
}

const isRow = <Row extends string>(table: Readonly<Record<Row, number>>, row: string): row is Row =>
  Object.hasOwn(table, row)

const isPrice = (dollars: unknown): dollars is number => typeof dollars === "number" && dollars >= 0 && dollars <= 1_000

const priceRule = (row: string): string => `must have 0 to 1000 dollars for ${row}`
