/** What an operation is, as data. Everything may import this, and it imports nothing that runs a call. */
import type { Positions } from "./BodyLayout.ts"
import type { Kind } from "./Model.ts"
import type { Endpoint } from "./models/Connection.ts"
import type { Post } from "./models/Post.ts"
import type { User } from "./models/User.ts"
import type { Alternatives, Rule } from "./ParameterRule.ts"
import type { AccessLevel, AnyParameter, Parameters } from "./Parameters.ts"
import type { Price } from "./Price.ts"
import type { Holder, Quotas } from "./Quota.ts"
import type { Result } from "./Response.ts"
import type { Scope } from "./Scopes.ts"

/** Method and path template, as `GET /2/posts/:id`. */
export type Route = `${"GET" | "POST" | "PUT" | "DELETE"} /2/${string}`

/** How an operation pages. */
export interface Paging {
  /** The parameter that carries a token of the previous response. */
  readonly token: "pagination_token" | "next_token"
  readonly directions: "forward" | "both"
}

/** The refusal, word for word, that says that the state of a toggle is reached. */
export interface Settled {
  readonly status: number
  /** Members of one of its problems; of a `type` the last segment. */
  readonly problem: Readonly<Partial<Record<"type" | "message" | "resource_type", string> & { code: number }>>
}

/** How far back a listing reaches: to so many days before each request. */
export interface Reach {
  readonly days: number
  /** Parameters that lift it. */
  readonly unless?: ReadonlyArray<string>
  /** Whether it is only what is listed when nothing older is asked for. */
  readonly isDefault?: true
}

/** What tells how many items there are before they are listed: an operation that counts them, or a figure that is shown. */
export type Total =
  | { readonly countedBy: string }
  | Figure<"post", keyof typeof Post.fields.public_metrics.Type>
  | Figure<"user", keyof typeof User.fields.public_metrics.Type>
  | Figure<"list", "follower_count" | "member_count">

/** One of the public metrics of the resource whose id is the parameter `id`; a list has its counts as fields. */
interface Figure<Of extends Kind, Metric extends string> {
  readonly of: Of
  readonly metric: Metric
  /** The service lists no more than these. */
  readonly most?: number
}

/** Of an operation that answers until somebody ends it: what keeping it up needs to know. */
export interface Live {
  /** Its name among the connections of the app. */
  readonly endpoint: Endpoint
  /** Whether it brings again what it brought between `start_time` and `end_time`. */
  readonly recovery: boolean
  /** Whether rules choose what it brings, so that a search can find what was missed. */
  readonly rules?: true
}

/** What the declaration of an operation holds. */
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
  /** Where body parameters sit when not at the top under their own name. */
  readonly at?: Positions
  /** What every body holds besides, by position. */
  readonly constants?: Readonly<Record<string, string | boolean>>
  /** What every query holds besides. */
  readonly queryConstants?: Readonly<Record<string, string>>
  /** How a body travels: as parts where some of it is bytes, else as JSON. */
  readonly encoding?: "multipart"
  readonly alternatives?: Alternatives
  readonly rules?: ReadonlyArray<Rule>
  readonly result: Result
  /** Default of `user_auth`; left out where the operation has no such parameter and a bearer token is used. */
  readonly userAuth?: boolean
  /** Whose bearer tokens it takes, where `userAuth` and `identity` do not say it; see `bearerOf`. */
  readonly bearer?: Holder
  /** What a user's OAuth 2.0 token must have been given for, in the order of the alphabet. */
  readonly scopes: ReadonlyArray<Scope>
  /** What the project of the app must have; `standard` when left out. */
  readonly access?: AccessLevel
  /** How often the service says it may be called; `{}` where it says nothing. */
  readonly limits: Quotas
  /** What the service charges for it: a row of `Prices`. The service does not say which; this is our reading. */
  readonly price: Price
  /** The path segment that is filled with the authenticated user's id. */
  readonly identity?: string
  readonly paging?: Paging
  /** Of one that answers until somebody ends it: one result after the other, each in a line of its own. */
  readonly live?: Live
  /** What sending it twice does: nothing (`read`), the same state (`toggle`), a second thing (`create`). */
  readonly effect: "read" | "toggle" | "create"
  /** Of a toggle whose reached state is refused: the `data` of success, and the refusal. Most services answer with success. */
  readonly settled?: { readonly data: Readonly<Record<string, boolean>>; readonly by: Settled }
  /** Of a create: the operation that shows whether it happened. */
  readonly confirmWith?: string
  /** The status of a success, where `effect` does not imply it. */
  readonly status?: 200
  /** Counts towards the project-level post cap. */
  readonly postCap?: boolean
  /** How far back it reaches, where that moves on with the time. */
  readonly reach?: Reach
  /** Of one that pages: what tells how many items there are. */
  readonly total?: Total
  /** The least milliseconds between two requests with one credential: a limit that no header announces. */
  readonly pace?: number
}

/** Whose bearer tokens an operation takes: what acts for a user needs one of theirs. */
export const bearerOf = ({ bearer, identity, userAuth }: Definition): Holder | "any" =>
  bearer ?? (userAuth === true || identity !== undefined ? "user" : "any")

/** The forms in which an operation returns its result. */
export type Form = "response" | "dictionary" | "raw"

/** Where a run of pages can go: by the next tokens, or by the previous ones. */
export type Direction = "forward" | "backward"

/** The routes of an operation by the alternative that selects them; a single route is under `""`. */
export const routesOf = (definition: Definition): ReadonlyArray<readonly [selectedBy: string, route: Route]> =>
  typeof definition.route === "string" ? [["", definition.route]] : Object.entries(definition.route)

/** The method and the path template of a route such as `GET /2/posts/:id`. */
export const partsOf = (route: string): readonly [method: string, path: string] => {
  const blank = route.indexOf(" ")
  return [route.slice(0, blank), route.slice(blank + 1)]
}

/** The status of a success: 201 when something was created, unless the declaration says otherwise. */
export const successStatus = ({ effect, status }: Definition): 200 | 201 => status ?? (effect === "create" ? 201 : 200)

/** Every parameter of an operation by name, whatever its place. */
export const parametersOf = (definition: Definition): Readonly<Record<string, AnyParameter>> => ({
  ...definition.path,
  ...definition.query,
  ...definition.body
})

/** The most items of an answer to a request that says nothing of them. */
export const pageSizeOf = ({ query, result }: Definition): number => {
  if (result._tag === "One") return 1
  const { bounds, default: usual } = query?.["max_results"] ?? {}
  if (typeof usual === "number") return usual
  return bounds?.of === "value" ? bounds.maximum : 100
}
