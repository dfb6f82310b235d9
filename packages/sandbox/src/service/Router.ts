/** Which operation a request is to: by method and path, and by the constants of its body where several share them. */
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

/** Wires that spell something alike. */
export type Wires = readonly [Wire.Wire, ...ReadonlyArray<Wire.Wire>]

/** An operation at one of its paths. */
export interface Route {
  readonly name: Name
  readonly definition: Definition
  /** None where the answer has no end. */
  readonly handle: Handle | undefined
  /** The alternative parameter that this route stands for. */
  readonly selectedBy: string
  /** The wires that spell the path so. */
  readonly wires: Wires
}

/** The routes of all operations, on one wire or on all: those that share a method and a path are found together. */
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
    // An alias is the same operation, which has one name here.
    if (definition.name !== name) continue
    for (const [selectedBy, route] of routesOf(definition)) {
      const [method, path] = partsOf(route)
      // Each handler reads the parameters that its own operation declares; the table above has paired them.
      const entry = { name, definition, selectedBy, handle: handles[name] as Handle | undefined }
      const spellings = Map.groupBy(wires, (wire) => shapeOf(wire.path(path)))
      for (const [first, ...others] of spellings.values()) {
        if (first !== undefined) add(method, first.path(path), { ...entry, wires: [first, ...others] })
      }
    }
  }
  return router
}

/** Of operations that share a method and a path, the one whose constants the body holds. */
export const choose = (
  routes: ReadonlyArray<Route>,
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<Route> =>
  Effect.match(RequestBody.json(request), {
    // What is wrong with the body, the first one tells as well as any.
    onFailure: () => routes[0]!,
    onSuccess: (body) => routes.find(({ definition }) => wrongConstant(definition, body) === undefined) ?? routes[0]!
  })

/** The position at which the body does not hold the constant of the operation. */
export const wrongConstant = ({ constants = {} }: Definition, body: object): string | undefined =>
  Object.keys(constants).find((position) => BodyLayout.lookup(body, {}, position) !== constants[position])

/** What templates that match the same paths share: the names of their parameters do not matter. */
const shapeOf = (template: string): string => template.replace(/:\w+/g, ":")
