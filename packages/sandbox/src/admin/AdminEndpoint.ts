/** Building blocks of admin calls. */
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { closestMatch } from "leven"
import * as Problem from "../http/Problem.ts"
import * as RequestBody from "../journal/RequestBody.ts"
import type { Controls } from "./Controls.ts"

/** Path and query parameters. */
type Parameters = Readonly<Record<string, string | undefined>>

/** The schema of a payload. */
type Payload = Schema.Codec<unknown, unknown>

export interface Endpoint {
  readonly summary: string
  /** Undefined for calls without a JSON body. */
  readonly payload?: Payload
  readonly answer: (
    sandbox: Controls,
    request: HttpServerRequest.HttpServerRequest,
    parameters: Parameters
  ) => Effect.Effect<unknown, Problem.Problem>
}

/** Endpoints by method and path below the root; `?` precedes the names of query parameters. */
export type Endpoints = Readonly<Record<string, Endpoint>>

/** A call without a body. */
export const call = (
  summary: string,
  answer: (sandbox: Controls, parameters: Parameters) => unknown
): Endpoint => ({
  summary,
  answer: (sandbox, _request, parameters) => Effect.sync(() => answer(sandbox, parameters))
})

/** A call without a body that may fail. */
export const fallible = (
  summary: string,
  answer: (
    sandbox: Controls,
    parameters: Parameters
  ) => Effect.Effect<unknown, Problem.Problem>
): Endpoint => ({
  summary,
  answer: (sandbox, _request, parameters) => Effect.suspend(() => answer(sandbox, parameters))
})

/** A call with a body; a missing body counts as an empty object. */
export const withBody = <S extends Payload>(
  summary: string,
  schema: S,
  answer: (sandbox: Controls, payload: S["Type"], parameters: Parameters) => unknown
): Endpoint => {
  const decode = Schema.decodeUnknownEffect(schema, { onExcessProperty: "error" })
  return {
    summary,
    payload: schema,
    answer: Effect.fnUntraced(function*(sandbox, request, parameters) {
      const body = hasBody(request) ? yield* RequestBody.json(request) : {}
      const payload = yield* Effect.mapError(decode(body), ({ issue }) => invalid(issue, body))
      return yield* Effect.try({
        try: () => answer(sandbox, payload, parameters),
        catch: (error) => {
          // Values that only the state can prove invalid.
          if (error instanceof RangeError) return Problem.invalidRequest(error.message)
          throw error
        }
      })
    })
  }
}

/** A positive integer query parameter, limited to `maximum`. */
export const numberOf = (text: string | undefined, otherwise: number, maximum: number): number => {
  const number = Math.trunc(Number(text))
  return number > 0 ? Math.min(number, maximum) : otherwise
}

/** A time in milliseconds in ISO 8601. */
export const iso = (millis: number | undefined) => millis === undefined ? undefined : new Date(millis).toISOString()

const hasBody = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["content-type"] !== undefined || headers["transfer-encoding"] !== undefined ||
  Number(headers["content-length"] ?? 0) > 0

const excess = "Expected no excess property"

/** Lists the members that an object may have, as the default format lists the values of an enumeration. */
const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "UnexpectedKey" && issue.ast._tag === "Objects"
      ? `${excess} but ${issue.ast.propertySignatures.map(({ name }) => `"${String(name)}"`).join(" | ")}`
      : SchemaIssue.defaultLeafHook(issue)
})

/** More names are not listed. */
const maxListed = 16

/** The problem of an invalid payload: the position of each mistake, and the name that was probably meant. */
export const invalid = (issue: SchemaIssue.Issue, body: unknown): Problem.Problem => {
  const found = (format(issue).issues ?? []).map(({ message, path = [] }) => ({
    message,
    steps: path.map((step) => typeof step === "object" ? step.key : step)
  }))
  const byPlace = Map.groupBy(found, ({ steps }) => steps.map((step) => `[${JSON.stringify(step)}]`).join(""))
  return Problem.invalidRequest(
    [...byPlace].map(([place, issues]) => {
      const steps = issues[0]?.steps ?? []
      // A member that is wrong in one form of the payload, and unknown in another, is wrong.
      const wrong = issues.filter(({ message }) => !message.startsWith(excess))
      const isUnknown = wrong.length === 0
      const messages = (isUnknown ? issues : wrong).map(({ message }) => message)
      const known = messages.flatMap((message) => [...message.matchAll(/"([^"]+)"/g)].flatMap(([, name]) => name ?? []))
      const given = isUnknown ? steps.at(-1) : valueAt(body, steps)
      const meant = typeof given === "string" ? closestMatch(given, known, { maxDistance: 3 }) : undefined
      const listed = known.length > maxListed
        ? `Expected one of ${known.length} names`
        : isUnknown
        ? `Expected one of ${known.map((name) => JSON.stringify(name)).join(", ")}`
        : messages.join("\n")
      return `${listed}${meant === undefined ? "" : ` (did you mean ${meant}?)`}${
        place === "" ? "" : `\n  at ${place}`
      }`
    }).join("\n")
  )
}

const valueAt = (body: unknown, [step, ...steps]: ReadonlyArray<PropertyKey>): unknown =>
  step === undefined
    ? body
    : typeof body === "object" && body !== null
    ? valueAt(Reflect.get(body, step), steps)
    : undefined
