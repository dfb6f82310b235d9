/**
 * Looks up any number of posts or users by id: a hundred per request, several requests concurrently. The results are in the order
 * of the ids, with an outcome for each.
 *
 * ```ts
 * const posts = hydrate(["20", "1460323737035677698"], { post_fields: ["created_at"] })
 * const gone = yield* posts.pipe(Stream.filter(({ outcome }) => outcome === "deleted"), Stream.runCollect)
 * ```
 *
 * Outcomes follow the responses: the service does not distinguish posts of suspended accounts, which are `protected`. For users it
 * reports `suspended`, and the profile of a protected account is `found`.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { type CallOptions, checkOptions, optionNames } from "../client/CallOptions.ts"
import type { Client } from "../client/Client.ts"
import type { Arguments, ItemOf, Operation, SelectionOf } from "../client/Operation.ts"
import * as OptionRules from "../client/OptionRules.ts"
import { fetchPage } from "../client/Pagination.ts"
import { type AnyError, type ConflictingIdentifiers, InvalidParameters } from "../errors/Errors.ts"
import { getPosts } from "../operations/Posts.ts"
import { getUsers } from "../operations/Users.ts"
import * as Codecs from "../schema/Codecs.ts"
import type { Definition } from "../schema/Definition.ts"
import type * as Joins from "../schema/Joins.ts"
import type { Problem } from "../schema/models/Problem.ts"
import type { Response } from "../schema/Response.ts"
import type { Included, Selection } from "../schema/Selection.ts"
import * as RequestEncoder from "../wire/RequestEncoder.ts"

/**
 * The outcome for an id.
 *
 * - `found`: it exists.
 * - `withheld`: hidden in some countries or from the caller; `data` has the visible part.
 * - `deleted`: it does not exist, or no longer does; also for deactivated accounts.
 * - `protected`: the author is protected or blocks the caller, or the author of a post was suspended.
 * - `suspended`: the account was suspended.
 * - `invalid`: not a valid id; it was not sent.
 * - `unknown`: the response does not mention it.
 */
export type Outcome = typeof outcomes[number]

/** Every outcome. */
export const outcomes = ["found", "withheld", "deleted", "protected", "suspended", "invalid", "unknown"] as const

/** An id with its outcome and the post or user. */
export interface Hydrated<out Item, out I = {}> {
  /** The id as given. */
  readonly id: string
  readonly outcome: Outcome
  /** The post or user; `undefined` unless it was `found` or is `withheld` in part. */
  readonly data: Item | undefined
  /** The post or user with its expanded objects. */
  readonly joined: Joins.Joined<Item, I> | undefined
  /** The problem that the service reports for an id without `data`. */
  readonly problem: Problem | undefined
}

/** Options of hydration. Timeouts and retries apply to each request. */
export interface Options extends CallOptions {
  /** Concurrent requests, 1 to 100. Default: 4. */
  readonly concurrency?: number | undefined
}

/** The names of the options. */
export const hydrateOptionNames: ReadonlyArray<string> = [...optionNames, "concurrency"]

/** The default of `concurrency`. */
export const defaultConcurrency = 4

/** Ids, or usernames. */
export type Ids<E = never, R = never> = Iterable<Codecs.Id> | Stream.Stream<Codecs.Id, E, R>

/** The parameters of every request, except ids and selectors. */
export interface Parameters {
  readonly user_auth?: boolean | undefined
}

/** Hydrates ids of one kind. */
export interface Hydrating<out R, Sel extends keyof Selection, out E> {
  <const S extends SelectionOf<Parameters, R, Sel>, E2 = never, R2 = never>(
    ids: Ids<E2, R2>,
    ...args: Arguments<Parameters, R, Sel, S, Options>
  ): Stream.Stream<Hydrated<ItemOf<R, S>, Included<S>>, E | E2, Client | R2>
}

/** The type of hydration by a lookup operation. */
export type HydratingBy<O> = O extends Operation<infer _P, infer R, infer Sel, infer E, infer _F>
  ? Hydrating<R, Sel, Exclude<E, ConflictingIdentifiers>>
  : never

/** Hydrates posts; `users` and `usernames` hydrate users. */
export interface Hydrate extends HydratingBy<typeof getPosts> {
  readonly users: HydratingBy<typeof getUsers>
  readonly usernames: HydratingBy<typeof getUsers>
}

/** The lookup of one kind of ids. */
export interface Lookup {
  readonly definition: Definition
  /** The parameter for the ids. */
  readonly parameter: "ids" | "usernames"
  /** The parameter for the fields. */
  readonly fields: "post_fields" | "user_fields"
  /** The canonical form of an id; `undefined` if it is invalid. */
  readonly keyOf: (id: string) => string | undefined
}

/** The largest id: ids are signed 64-bit integers. */
const largestId = "9223372036854775807"

const idKey = (id: string): string | undefined => {
  if (!Codecs.idPattern.test(id)) return undefined
  if (id.length === largestId.length && id > largestId) return undefined
  return id.startsWith("0") ? id.replace(/^0+(?=\d)/, "") : id
}

const usernameKey = (name: string): string | undefined => {
  const own = name.startsWith("@") ? name.slice(1) : name
  return Codecs.usernamePattern.test(own) ? own.toLowerCase() : undefined
}

/** The lookups by kind of ids. */
export const lookups = {
  posts: { definition: getPosts.definition, parameter: "ids", fields: "post_fields", keyOf: idKey },
  users: { definition: getUsers.definition, parameter: "ids", fields: "user_fields", keyOf: idKey },
  usernames: { definition: getUsers.definition, parameter: "usernames", fields: "user_fields", keyOf: usernameKey }
} as const satisfies Readonly<Record<string, Lookup>>

/** Ids per request. */
export const idsPerRequest = 100

/** The parameters of every request, which always include the field `withheld`. */
export const parametersOf = (
  { definition, fields }: Lookup,
  parameters: unknown
): Readonly<Record<string, unknown>> | InvalidParameters => {
  const own = RequestEncoder.ownProperties(definition, parameters)
  if (own instanceof InvalidParameters) return own
  const asked = own[fields]
  return {
    ...own,
    [fields]: asked === undefined || asked === null || asked === ""
      ? ["withheld"]
      : Array.isArray(asked)
      ? [...new Set([...asked, "withheld"])]
      : String(asked).split(",").includes("withheld")
      ? asked
      : `${asked},withheld`
  }
}

/** Checks the options and returns the first error. */
export const refusalOf = ({ definition }: Lookup, options: Options): InvalidParameters | undefined => {
  const invalid = checkOptions(definition, options, hydrateOptionNames)
  return invalid ?? OptionRules.check(definition.name, options, { concurrency: OptionRules.whole(1, "", 100) })
}

/** The results for ids, and the errors that concern none of them. */
export interface Answered<out Item, out I = {}> {
  readonly results: ReadonlyArray<Hydrated<Item, I>>
  readonly errors: ReadonlyArray<Problem>
}

/** The canonical forms of ids. */
export interface Keys {
  /** In the order of the ids; `undefined` for an invalid one. */
  readonly all: ReadonlyArray<string | undefined>
  /** The valid ones, once each. */
  readonly asked: ReadonlySet<string | undefined>
  /** The same as the value of the parameter; `undefined` if there are none. */
  readonly value: string | undefined
}

/** The canonical forms of the ids of a request. */
export const keysIn = ({ keyOf }: Lookup, ids: ReadonlyArray<string>): Keys => {
  const all = ids.map(keyOf)
  const asked = new Set(all)
  asked.delete(undefined)
  return { all, asked, value: asked.size === 0 ? undefined : [...asked].join(",") }
}

/** Reads the results for ids from a response; there is no response if no id is valid. */
export const answered = (
  { keyOf, parameter }: Lookup,
  ids: ReadonlyArray<string>,
  { all, asked }: Keys,
  response: Response<unknown, unknown> | undefined
): Answered<unknown, unknown> => {
  // The service returns nearly all ids in their canonical form.
  const askedBy = (id: unknown): string | undefined => {
    const text = String(id)
    return asked.has(text) ? text : keyOf(text)
  }
  const found = new Map<string, Joins.Joined<unknown, unknown>>()
  for (const joined of response?.joined() ?? []) {
    const { item } = joined
    const id = Predicate.hasProperty(item, nameIn[parameter]) ? askedBy(item[nameIn[parameter]]) : undefined
    if (id !== undefined) found.set(id, joined)
  }
  const problems = new Map<string, Problem>()
  const errors: Array<Problem> = []
  for (const problem of response?.errors ?? []) {
    const id = isAboutId(problem, parameter) ? askedBy(problem.value ?? problem.resource_id ?? "") : undefined
    if (id === undefined || !asked.has(id) || found.has(id)) errors.push(problem)
    else problems.set(id, problem)
  }
  return {
    errors,
    results: ids.map((id, i) => {
      const key = all[i]
      if (key === undefined) return new HydratedImpl(id, "invalid", undefined, undefined)
      const joined = found.get(key)
      if (joined !== undefined) {
        return new HydratedImpl(id, isWithheld(joined.item) ? "withheld" : "found", joined, undefined)
      }
      const problem = problems.get(key)
      return new HydratedImpl(id, problem === undefined ? "unknown" : outcomeOf(problem), undefined, problem)
    })
  }
}

/** The field that identifies an item of a response. */
const nameIn = { ids: "id", usernames: "username" } as const

/** Checks for a problem that concerns a whole requested object. */
const isAboutId = ({ parameter, section, type = "" }: Problem, asked: string): boolean =>
  parameter === asked && section !== "includes" && !type.endsWith("-for-field")

const isWithheld = (item: unknown): boolean => Predicate.hasProperty(item, "withheld") && item.withheld !== undefined

/** The outcome in a problem. Only its text reveals a suspended account. */
export const outcomeOf = (
  { detail = "", title = "", type = "" }: Pick<Problem, "detail" | "title" | "type">
): Outcome => {
  if (/\bsuspended\b/i.test(`${title} ${detail}`)) return "suspended"
  switch (type.slice(type.lastIndexOf("/") + 1)) {
    case "resource-not-found":
      return "deleted"
    case "not-authorized-for-resource":
      return "protected"
    case "resource-unavailable":
    case "disallowed-resource":
      return "withheld"
    default:
      return "unknown"
  }
}

class HydratedImpl implements Hydrated<unknown, unknown> {
  readonly id: string
  readonly outcome: Outcome
  readonly data: unknown
  readonly problem: Problem | undefined
  readonly #joined: Joins.Joined<unknown, unknown> | undefined

  constructor(
    id: string,
    outcome: Outcome,
    joined: Joins.Joined<unknown, unknown> | undefined,
    problem: Problem | undefined
  ) {
    this.id = id
    this.outcome = outcome
    this.data = joined?.item
    this.problem = problem
    this.#joined = joined
  }

  // A getter, so that printing shows the item only once.
  get joined(): Joins.Joined<unknown, unknown> | undefined {
    return this.#joined
  }
}

/** The results of one request, with its response if one was needed. */
export interface Batch extends Answered<unknown, unknown> {
  readonly response: Response<unknown, unknown> | undefined
}

/** Looks up ids, at most as many as one request holds. `parameters` come from `parametersOf`. */
export const lookUp = (
  lookup: Lookup,
  ids: ReadonlyArray<string>,
  parameters: Readonly<Record<string, unknown>>,
  options: CallOptions
): Effect.Effect<Batch, AnyError, Client> => {
  const keys = keysIn(lookup, ids)
  return keys.value === undefined
    ? Effect.succeed({ ...answered(lookup, ids, keys, undefined), response: undefined })
    : Effect.map(
      fetchPage(lookup.definition, { ...parameters, [lookup.parameter]: keys.value }, options),
      ([, response]) => ({ ...answered(lookup, ids, keys, response), response })
    )
}

const hydrating = (lookup: Lookup) => (ids: Ids<unknown, unknown>, parameters: object = {}, options: Options = {}) => {
  const own = parametersOf(lookup, parameters)
  const refused = own instanceof InvalidParameters ? own : refusalOf(lookup, options)
  if (own instanceof InvalidParameters || refused !== undefined) return Stream.fail(refused)
  const { concurrency = defaultConcurrency, ...each } = options
  const given = Stream.isStream(ids) ? ids : Stream.fromIterable(ids)
  return given.pipe(
    Stream.map(String),
    Stream.grouped(idsPerRequest),
    Stream.mapEffect((ids) => lookUp(lookup, ids, own, each), { concurrency }),
    Stream.map(({ results }) => results),
    Stream.flattenIterable
  )
}

/** Hydrates post ids; `hydrate.users` hydrates user ids, `hydrate.usernames` handles with or without `@`. */
export const hydrate: Hydrate = /*#__PURE__*/ make()

function make(): Hydrate
// The declaration above is the only source of the types.
function make(): unknown {
  return Object.assign(hydrating(lookups.posts), {
    users: hydrating(lookups.users),
    usernames: hydrating(lookups.usernames)
  })
}
