/** An operation as data. Everything may import this module, and it imports nothing that runs a call. */
import type { Positions } from "./BodyLayout.ts"
import type { Kind } from "./Model.ts"
import type { Endpoint } from "./models/Connection.ts"
import type { Post } from "./models/Post.ts"
import type { User } from "./models/User.ts"
import type { Alternatives, Rule } from "./ParameterRule.ts"
import type { AccessLevel, AnyParameter, Parameters } from "./Parameters.ts"
import type { Price } from "./Price.ts"
import type { Bearer, Quotas } from "./Quota.ts"
import type { Result } from "./Response.ts"
import type { Scope } from "./Scopes.ts"

/** Method and path template, as `GET /2/posts/:id`. */
export type Route = `${"GET" | "POST" | "PUT" | "DELETE"} /2/${string}`

/** How an operation pages. */
export interface Paging {
  /** The parameter that carries a token of the previous response. */
  readonly token: "pagination_token" | "next_token"
  readonly directions: "forward" | "both"
  /**
   * The largest page with which the live service lists everything, where users reported that larger ones end the list early.
   * Pages and exports have this size unless `max_results` sets another.
   */
  readonly completeUpTo?: number
}

/** The exact refusal that means that a toggle already has the wanted state. */
export interface Settled {
  readonly status: number
  /** Members of one of its problems; of a `type`, the last segment. */
  readonly problem: Readonly<Partial<Record<"type" | "message" | "resource_type", string> & { code: number }>>
}

/** The range of a listing: this many days before each request. */
export interface Reach {
  readonly days: number
  /** Parameters that lift the restriction. */
  readonly unless?: ReadonlyArray<string>
  /** True if this is only the default range, when the request names no earlier time. */
  readonly isDefault?: true
}

/** The source of a total before items are listed: an operation that counts them, or a public figure. */
export type Total =
  | { readonly countedBy: string }
  | Figure<"post", keyof typeof Post.fields.public_metrics.Type>
  | Figure<"user", keyof typeof User.fields.public_metrics.Type>
  | Figure<"list", "follower_count" | "member_count">

/** One of the public metrics of the resource whose id is the parameter `id`; a list has its counts as fields. */
interface Figure<Of extends Kind, Metric extends string> {
  readonly of: Of
  readonly metric: Metric
  /** The service lists no more than this many. */
  readonly most?: number
}

/** Settings of a streaming operation. */
export interface Live {
  /** Its name among the connections of the app. */
  readonly endpoint: Endpoint
  /** True if it can deliver again what it delivered between `start_time` and `end_time`. */
  readonly recovery: boolean
  /** True if rules select its posts, so that a search can find missed ones. */
  readonly rules?: true
}

/** The declaration of an operation. */
export interface Definition {
  /** The operation's name, camelCase of the spec's. */
  readonly name: string
  /** One sentence. */
  readonly summary: string
  /** One route, or one per alternative parameter (`none` when neither is given). */
  readonly route: Route | Readonly<Record<string, Route>>
  readonly path?: Parameters
  readonly query?: Parameters
  readonly body?: Parameters
  /** The positions of body parameters that are not at the top level under their own name. */
  readonly at?: Positions
  /** Body parameters whose positions are the same in every name set. */
  readonly fixed?: ReadonlyArray<string>
  /** Constant members of every body, by position. */
  readonly constants?: Readonly<Record<string, string | boolean>>
  /** Constant members of every query. */
  readonly queryConstants?: Readonly<Record<string, string>>
  /** How a body is sent: as multipart where some of it is bytes, else as JSON. */
  readonly encoding?: "multipart"
  readonly alternatives?: Alternatives
  readonly rules?: ReadonlyArray<Rule>
  readonly result: Result
  /** Default of `user_auth`; absent where the operation has no such parameter and uses a bearer token. */
  readonly userAuth?: boolean
  /** Whose bearer tokens it accepts, where `userAuth` and `identity` do not imply it; see `bearerOf`. */
  readonly bearer?: Exclude<Bearer, "any">
  /** The scopes that a user's OAuth 2.0 token needs, in alphabetical order. */
  readonly scopes: ReadonlyArray<Scope>
  /** The access level that the app's project needs; `standard` by default. */
  readonly access?: AccessLevel
  /**
   * What self-serve plans (pay-per-use) of the live service restrict, by its documents of 2026-08-22; Enterprise plans have no such
   * restriction. `none`: they do not have the operation. Otherwise rules of parameters, by name, as sentences.
   */
  readonly selfServe?: "none" | Readonly<Record<string, string>>
  /** The rate limits that the service documents; `{}` where it documents none. */
  readonly limits: Quotas
  /** Its price, a row of `Prices`. The service does not name the row; this is our reading. */
  readonly price: Price
  /** The path segment that is filled with the authenticated user's id. */
  readonly identity?: string
  readonly paging?: Paging
  /** Set for a streaming operation, which sends one result after the other, each on its own line. */
  readonly live?: Live
  /** The effect of sending it twice: none (`read`), the same state (`toggle`), a second thing (`create`). */
  readonly effect: "read" | "toggle" | "create"
  /** Set for a toggle that is refused when already in the wanted state: the `data` of success, and the refusal. */
  readonly settled?: { readonly data: Readonly<Record<string, boolean>>; readonly by: Settled }
  /**
   * Set for a create with a key of the caller's, which the service knows a repeated request by: the parameter. It is retried like
   * a toggle, always with the same key.
   */
  readonly key?: string
  /** Set for a create: the operation that shows whether it happened. */
  readonly confirmWith?: string
  /** The status of a success, where `effect` does not imply it. */
  readonly status?: 200
  /** Counts towards the project-level post cap. */
  readonly postCap?: boolean
  /** The range of its listing, if that moves with the time. */
  readonly reach?: Reach
  /** Set for a paged operation: the source of its total. */
  readonly total?: Total
  /** The minimum milliseconds between two requests with one credential: a limit that no header announces. */
  readonly pace?: number
}

/** Whose bearer tokens an operation accepts: one that acts for a user needs a token of theirs. */
export const bearerOf = (
  { bearer, identity, userAuth }: Pick<Definition, "bearer" | "identity" | "userAuth">
): Bearer => bearer ?? (userAuth === true || identity !== undefined ? "user" : "any")

/** The rule of self-serve plans that a refused request with some parameters may have broken. */
export const planRuleOf = (
  { selfServe = {} }: Pick<Definition, "selfServe">,
  isGiven: (name: string) => boolean
): string | undefined =>
  selfServe === "none"
    ? "Self-serve plans (pay-per-use) do not have this operation: it needs an Enterprise plan."
    : Object.entries(selfServe).find(([name]) => isGiven(name))?.[1]

/** The return types of an operation. */
export type Form = "response" | "dictionary" | "raw"

/** The direction of pagination: by next tokens or by previous tokens. */
export type Direction = "forward" | "backward"

/** The routes of an operation by the alternative that selects them; a single route is under `""`. */
export const routesOf = (definition: Definition): ReadonlyArray<readonly [selectedBy: string, route: Route]> =>
  typeof definition.route === "string" ? [["", definition.route]] : Object.entries(definition.route)

/** The method and the path template of a route such as `GET /2/posts/:id`. */
export const partsOf = (route: string): readonly [method: string, path: string] => {
  const blank = route.indexOf(" ")
  return [route.slice(0, blank), route.slice(blank + 1)]
}

/** The status of a success: 201 when something was created, unless the declaration overrides it. */
export const successStatus = ({ effect, status }: Definition): 200 | 201 => status ?? (effect === "create" ? 201 : 200)

/** Every parameter of an operation by name, whatever its place. */
export const parametersOf = (definition: Definition): Readonly<Record<string, AnyParameter>> => ({
  ...definition.path,
  ...definition.query,
  ...definition.body
})

/** The largest page with which a list is complete; `undefined` where the size of a page is fixed. */
export const largestPageOf = ({ paging, query }: Definition): number | undefined => {
  const { bounds } = query?.["max_results"] ?? {}
  return paging?.completeUpTo ?? (bounds?.of === "value" ? bounds.maximum : undefined)
}

/** The most items of a response to a request without `max_results`. */
export const pageSizeOf = ({ query, result }: Definition): number => {
  if (result._tag === "One") return 1
  const { bounds, default: usual } = query?.["max_results"] ?? {}
  if (typeof usual === "number") return usual
  return bounds?.of === "value" ? bounds.maximum : 100
}
