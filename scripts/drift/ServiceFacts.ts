/** The facts of a service as data: the same whether they come from a document or the catalogue. */

/** The kind of credential: an app's bearer token, a user's bearer token, or a user's OAuth 1.0a signature. */
export type Credential = "app" | "oauth1" | "user"

/** The bounds of a value or of a list. */
export interface Bounds {
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
}

/** The names of the bounds. */
export const boundNames = [
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "pattern"
] as const satisfies ReadonlyArray<keyof Bounds>

/** One value: a parameter, or a member of a body. */
export interface Fact {
  /** `string`, `integer`, `object`, `any`; `array of string`; the kind of a resource, `post`; `array of post`. */
  readonly type: string
  readonly required?: true
  /** Known values, or those of a list's items, in alphabetical order. */
  readonly values?: ReadonlyArray<string>
  readonly bounds?: Bounds
  /** The style of a parameter, if it is not the usual one: `form, exploded`; `commas` for a list in the query. */
  readonly style?: string
}

/** Values by name; nested ones by their path: `entities.urls[].start`. */
export type Facts = Readonly<Record<string, Fact>>

/** One route of a service. */
export interface RouteFacts {
  /** Its identity: `GET /2/users/{}`. Operations may share it. */
  readonly key: string
  /** The name of the operation. */
  readonly name: string
  /** The path parameters in order; their names are not sent. */
  readonly path: ReadonlyArray<Fact>
  readonly query: Facts
  /** Parameters in headers and cookies. */
  readonly headers: Facts
  readonly body: Facts
  /** Media types of the request body. */
  readonly bodyTypes: ReadonlyArray<string>
  /** The body of a success. Resources are named by their kind. */
  readonly result: Facts
  /** Media types of a success; `undefined` if any is accepted. */
  readonly resultTypes: ReadonlyArray<string> | undefined
  /** Members of the envelope that the client relies on; empty for a document. */
  readonly promised: ReadonlyArray<string>
  /** Status codes of a success. */
  readonly statuses: ReadonlyArray<string>
  /** Base addresses; `undefined` if unknown. */
  readonly servers: ReadonlyArray<string> | undefined
  /** The accepted credentials; `undefined` if unknown. */
  readonly credentials: ReadonlyArray<Credential> | undefined
  /** The required scopes; `undefined` if unknown. */
  readonly scopes: ReadonlyArray<string> | undefined
}

/** A service. */
export interface ServiceFacts {
  readonly version?: string | undefined
  readonly routes: ReadonlyArray<RouteFacts>
  /** The members of resources by their kind. */
  readonly resources: Readonly<Record<string, Facts>>
}

/** The identity of a route, whatever the names of its parameters: `GET /2/users/{}`. */
export const keyOf = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path.replace(/\{[^{}]*\}|:\w+/g, "{}")}`

/** A fact without undefined members. */
export const fact = (
  { bounds = {}, required, style, type, values }: {
    readonly type: string
    readonly required?: boolean
    readonly values?: ReadonlyArray<string> | undefined
    readonly bounds?: Bounds
    readonly style?: string | undefined
  }
): Fact => ({
  type,
  ...(required === true ? { required } : {}),
  ...(values === undefined ? {} : { values: [...new Set(values)].sort() }),
  ...(Object.keys(bounds).length === 0 ? {} : { bounds }),
  ...(style === undefined ? {} : { style })
})

/** The path in the key of a route: `/2/users/{}`. */
export const pathOf = (key: string): string => key.slice(key.indexOf(" ") + 1)
