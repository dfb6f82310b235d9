/** What can be said of a service without its prose, as data: the same whether it comes from a document or the catalogue. */

/** Who may call: an app with its bearer token, a user with one, or a user with an OAuth 1.0a signature. */
export type Credential = "app" | "oauth1" | "user"

/** What bounds a value or a list of them. */
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
  /** Known values, of a list those of its items, in the order of the alphabet. */
  readonly values?: ReadonlyArray<string>
  readonly bounds?: Bounds
  /** How a parameter is written where that is not as usual: `form, exploded`; of a list in the query it is `commas`. */
  readonly style?: string
}

/** Values by name; what is inside others by its path: `entities.urls[].start`. */
export type Facts = Readonly<Record<string, Fact>>

/** One route of a service. */
export interface RouteFacts {
  /** What identifies it: `GET /2/users/{}`. Operations may share it. */
  readonly key: string
  /** What it is called. */
  readonly name: string
  /** Values in the path, in the order of the path: their names never travel. */
  readonly path: ReadonlyArray<Fact>
  readonly query: Facts
  /** Parameters in headers and cookies. */
  readonly headers: Facts
  readonly body: Facts
  /** Media types of the request body. */
  readonly bodyTypes: ReadonlyArray<string>
  /** The body of a success. Resources in it are named by their kind. */
  readonly result: Facts
  /** Media types of a success; `undefined` where any will do. */
  readonly resultTypes: ReadonlyArray<string> | undefined
  /** Members of the envelope that every client relies on; a document promises none. */
  readonly promised: ReadonlyArray<string>
  /** Status codes of a success. */
  readonly statuses: ReadonlyArray<string>
  /** Base addresses; `undefined` where none is known. */
  readonly servers: ReadonlyArray<string> | undefined
  /** The credentials that it takes; `undefined` where that is not said. */
  readonly credentials: ReadonlyArray<Credential> | undefined
  /** What a user must have allowed; `undefined` where that is not said. */
  readonly scopes: ReadonlyArray<string> | undefined
}

/** A service. */
export interface ServiceFacts {
  readonly version?: string | undefined
  readonly routes: ReadonlyArray<RouteFacts>
  /** The members of resources by their kind. */
  readonly resources: Readonly<Record<string, Facts>>
}

/** What identifies a route whatever its variable parts are called: `GET /2/users/{}`. */
export const keyOf = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path.replace(/\{[^{}]*\}|:\w+/g, "{}")}`

/** A fact without what it does not say. */
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
