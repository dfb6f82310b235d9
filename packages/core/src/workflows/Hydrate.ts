/**
 * Posts and users by their ids, however many: a hundred a request, several requests at the same time, in the order of the ids,
 * and of every id what became of it.
 *
 * ```ts
 * const posts = hydrate(["20", "1460323737035677698"], { post_fields: ["created_at"] })
 * const gone = yield* posts.pipe(Stream.filter(({ outcome }) => outcome === "deleted"), Stream.runCollect)
 * ```
 *
 * What the service answers alike has one outcome: a post of a suspended account is `protected`, as it says no more of a post
 * than that it may not be seen. Of users it tells `suspended` apart, and the profile of a protected account is `found`.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { type CallOptions, checkOptions, optionNames } from "../client/CallOptions.ts"
import type { Client } from "../client/Client.ts"
import type { Arguments, ItemOf, Operation, SelectionOf } from "../client/Operation.ts"
import { fetchPage } from "../client/Pagination.ts"
import { type AnyError, type ConflictingIdentifiers, invalidParameter, InvalidParameters } from "../errors/Errors.ts"
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
 * What became of an id.
 *
 * - `found`: it is there.
 * - `withheld`: it is not shown somewhere, or to the caller; `data` has what there is of it.
 * - `deleted`: there is none, any more or ever; also of a deactivated account.
 * - `protected`: the caller may not see it: its author is protected, blocks the caller or, of a post, was suspended.
 * - `suspended`: the account was suspended.
 * - `invalid`: it can be no id, and was not sent.
 * - `unknown`: the answer does not say.
 */
export type Outcome = typeof outcomes[number]

/** Every outcome. */
export const outcomes = ["found", "withheld", "deleted", "protected", "suspended", "invalid", "unknown"] as const

/** An id, what became of it, and the post or user. */
export interface Hydrated<out Item, out I = {}> {
  /** As it was given. */
  readonly id: string
  readonly outcome: Outcome
  /** The post or user; `undefined` unless it was `found`, or `withheld` in part. */
  readonly data: Item | undefined
  /** It with the objects that expansions brought along. */
  readonly joined: Joins.Joined<Item, I> | undefined
  /** What the service says of an id without `data`. */
  readonly problem: Problem | undefined
}

/** How to hydrate, besides what every call takes: limits of time and retries hold for each request. */
export interface Options extends CallOptions {
  /** How many requests are under way at the same time, 1 to 100. Default 4. */
  readonly concurrency?: number | undefined
}

/** The names of the options. */
export const hydrateOptionNames: ReadonlyArray<string> = [...optionNames, "concurrency"]

/** How many requests are under way at the same time, unless the options say so. */
export const defaultConcurrency = 4

/** Ids, or usernames. */
export type Ids<E = never, R = never> = Iterable<Codecs.Id> | Stream.Stream<Codecs.Id, E, R>

/** The parameters of every request, ids and selectors left out. */
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

/** The same for an operation that looks things up. */
export type HydratingBy<O> = O extends Operation<infer _P, infer R, infer Sel, infer E, infer _F>
  ? Hydrating<R, Sel, Exclude<E, ConflictingIdentifiers>>
  : never

/** Hydrates posts; `users` and `usernames` hydrate users. */
export interface Hydrate extends HydratingBy<typeof getPosts> {
  readonly users: HydratingBy<typeof getUsers>
  readonly usernames: HydratingBy<typeof getUsers>
}

/** How ids of a kind are looked up. */
export interface Lookup {
  readonly definition: Definition
  /** The parameter that lists them. */
  readonly parameter: "ids" | "usernames"
  /** The parameter that lists the fields. */
  readonly fields: "post_fields" | "user_fields"
  /** An id as the service compares it; `undefined` where it can be none. */
  readonly keyOf: (id: string) => string | undefined
}

/** Where no id is beyond: ids are integers of 64 bits. */
const largestId = "9223372036854775807"

const idKey = (id: string): string | undefined => {
  if (!Codecs.idPattern.test(id)) return undefined
  return id.length === largestId.length && id > largestId ? undefined : id.replace(/^0+(?=\d)/, "")
}

const usernameKey = (name: string): string | undefined => {
  const own = name.startsWith("@") ? name.slice(1) : name
  return Codecs.usernamePattern.test(own) ? own.toLowerCase() : undefined
}

/** The lookups, by what the ids are of. */
export const lookups = {
  posts: { definition: getPosts.definition, parameter: "ids", fields: "post_fields", keyOf: idKey },
  users: { definition: getUsers.definition, parameter: "ids", fields: "user_fields", keyOf: idKey },
  usernames: { definition: getUsers.definition, parameter: "usernames", fields: "user_fields", keyOf: usernameKey }
} as const satisfies Readonly<Record<string, Lookup>>

/** So many ids are looked up by one request. */
export const idsPerRequest = 100

/** The parameters of every request: that something is withheld is always asked for. */
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

/** What keeps the options from being these. */
export const refusalOf = ({ definition }: Lookup, options: Options): InvalidParameters | undefined => {
  const invalid = checkOptions(definition, options, hydrateOptionNames)
  if (invalid !== undefined) return invalid
  const { concurrency = defaultConcurrency } = options
  return Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 100
    ? undefined
    : invalidParameter(definition.name, "concurrency", "must be a whole number from 1 to 100", concurrency)
}

/** The ids that a request is to ask for: those that can be some, once each. */
export const keysIn = ({ keyOf }: Lookup, ids: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(ids.flatMap((id) => keyOf(id) ?? []))
]

/** What became of ids, and the errors that are about none of them. */
export interface Answered<out Item, out I = {}> {
  readonly results: ReadonlyArray<Hydrated<Item, I>>
  readonly errors: ReadonlyArray<Problem>
}

/** Reads what became of the ids from the answer to a request for them; no request was made where none can be one. */
export const answered = (
  { keyOf, parameter }: Lookup,
  ids: ReadonlyArray<string>,
  response: Response<unknown, unknown> | undefined
): Answered<unknown, unknown> => {
  const found = new Map<string, Joins.Joined<unknown, unknown>>()
  for (const joined of response?.joined() ?? []) {
    const { item } = joined
    const id = Predicate.hasProperty(item, nameIn[parameter]) ? keyOf(String(item[nameIn[parameter]])) : undefined
    if (id !== undefined) found.set(id, joined)
  }
  const problems = new Map<string, Problem>()
  const errors: Array<Problem> = []
  const asked = new Set(ids.map(keyOf))
  for (const problem of response?.errors ?? []) {
    const id = isAboutId(problem, parameter) ? keyOf(String(problem.value ?? problem.resource_id ?? "")) : undefined
    if (id === undefined || !asked.has(id) || found.has(id)) errors.push(problem)
    else problems.set(id, problem)
  }
  return {
    errors,
    results: ids.map((id) => {
      const key = keyOf(id)
      if (key === undefined) return new HydratedImpl(id, "invalid", undefined, undefined)
      const joined = found.get(key)
      const problem = problems.get(key)
      return joined === undefined
        ? new HydratedImpl(id, problem === undefined ? "unknown" : outcomeOf(problem), undefined, problem)
        : new HydratedImpl(id, isWithheld(joined.item) ? "withheld" : "found", joined, undefined)
    })
  }
}

/** What identifies an item of an answer. */
const nameIn = { ids: "id", usernames: "username" } as const

/** Whether a problem is about one of the things asked for as a whole. */
const isAboutId = ({ parameter, section, type = "" }: Problem, asked: string): boolean =>
  parameter === asked && section !== "includes" && !type.endsWith("-for-field")

const isWithheld = (item: unknown): boolean => Predicate.hasProperty(item, "withheld") && item.withheld !== undefined

/** What a problem says of an id. That an account is suspended, only its words say. */
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

  // A getter, so that printing shows the object once.
  get joined(): Joins.Joined<unknown, unknown> | undefined {
    return this.#joined
  }
}

/** What became of some ids, at most as many as one request may ask for, and the answer, where one was needed. */
export interface Batch extends Answered<unknown, unknown> {
  readonly response: Response<unknown, unknown> | undefined
}

/** Looks ids up, at most as many as one request may ask for. `parameters` are those of `parametersOf`. */
export const lookUp = (
  lookup: Lookup,
  ids: ReadonlyArray<string>,
  parameters: Readonly<Record<string, unknown>>,
  options: CallOptions
): Effect.Effect<Batch, AnyError, Client> => {
  const keys = keysIn(lookup, ids)
  return keys.length === 0
    ? Effect.succeed({ ...answered(lookup, ids, undefined), response: undefined })
    : Effect.map(
      fetchPage(lookup.definition, { ...parameters, [lookup.parameter]: keys }, options),
      ([, response]) => ({ ...answered(lookup, ids, response), response })
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

/** Hydrates ids of posts; `hydrate.users` ids of users, `hydrate.usernames` handles, with or without the `@`. */
export const hydrate: Hydrate = /*#__PURE__*/ make()

function make(): Hydrate
// The declaration above is the only source of the types.
function make(): unknown {
  return Object.assign(hydrating(lookups.posts), {
    users: hydrating(lookups.users),
    usernames: hydrating(lookups.usernames)
  })
}
