/** Finds the operation of a request by method and path, and by the constants in its body if several share them. */
import { catalogue, type Name } from "@postwire/core/Catalogue"
import * as BodyLayout from "@postwire/core/schema/BodyLayout"
import { type Definition, partsOf, routesOf } from "@postwire/core/schema/Definition"
import type { WireName } from "@postwire/core/schema/WireName"
import * as Wire from "@postwire/core/wire/Wire"
import * as Effect from "effect/Effect"
import * as FindMyWay from "effect/http/FindMyWay"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { Call } from "../handlers/Handler.ts"
import { handlers } from "../handlers/index.ts"
import type * as Problem from "../http/Problem.ts"
import * as RequestBody from "../journal/RequestBody.ts"
import type { Reply } from "../projection/Reply.ts"

type Handle = (call: Call<unknown>) => Effect.Effect<Reply, Problem.Problem>

/** Wires that use the same names. */
export type Wires = readonly [Wire.Wire, ...ReadonlyArray<Wire.Wire>]

/** An operation at one of its paths. */
export interface Route {
  readonly name: Name
  readonly definition: Definition
  /** Undefined for streams. */
  readonly handle: Handle | undefined
  /** The alternative parameter that selects this route. */
  readonly selectedBy: string
  /** The wires that use this path. */
  readonly wires: Wires
}

/** The routes of all operations, on one wire or on all. Operations with the same method and path are found together. */
export const make = (only?: WireName): FindMyWay.Router<ReadonlyArray<Route>> => {
  const router = FindMyWay.make<ReadonlyArray<Route>>({
    caseSensitive: true,
    ignoreDuplicateSlashes: false,
    ignoreTrailingSlash: false,
    maxParamLength: 500
  })
  const wires = only === undefined ? Object.values(Wire.named) : [Wire.named[only]]
  const table = new Map<string, Array<Route>>()
  const add = (method: string, path: string, route: Route): void => {
    const known = table.get(`${method} ${path}`)
    if (known !== undefined) return void known.push(route)
    const routes = [route]
    table.set(`${method} ${path}`, routes)
    router.on(method, path as `/${string}`, routes)
  }
  const handles: { readonly [N in Name]?: unknown } = handlers
  for (const name of Object.keys(catalogue) as Array<Name>) {
    const { definition }: { readonly definition: Definition } = catalogue[name]
    // Aliases have no routes of their own.
    if (definition.name !== name) continue
    for (const [selectedBy, route] of routesOf(definition)) {
      const [method, path] = partsOf(route)
      // The type of `handlers` pairs each handler with the parameters of its operation.
      const entry = { name, definition, selectedBy, handle: handles[name] as Handle | undefined }
      const spellings = Map.groupBy(wires, (wire) => shapeOf(wire.path(path)))
      for (const [first, ...others] of spellings.values()) {
        if (first !== undefined) add(method, first.path(path), { ...entry, wires: [first, ...others] })
      }
    }
  }
  return router
}

/** Chooses between operations of the same method and path by the constants in the body. */
export const choose = (
  routes: ReadonlyArray<Route>,
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<Route> =>
  Effect.match(RequestBody.json(request), {
    // Any of them reports the error in the body.
    onFailure: () => routes[0]!,
    onSuccess: (body) => routes.find(({ definition }) => wrongConstant(definition, body) === undefined) ?? routes[0]!
  })

/** The position of a constant that the body does not have. */
export const wrongConstant = ({ constants = {} }: Definition, body: object): string | undefined =>
  Object.keys(constants).find((position) => BodyLayout.lookup(body, {}, position) !== constants[position])

/** A path template without parameter names: templates of the same shape match the same paths. */
const shapeOf = (template: string): string => template.replace(/:\w+/g, ":")
