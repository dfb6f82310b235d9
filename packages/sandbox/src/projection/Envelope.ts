/** Builds the response document of an operation in the field names of a wire. */
import { type Definition, successStatus } from "@postwire/core/schema/Definition"
import { dataOf, envelope } from "@postwire/core/wire/ResponseDecoder"
import * as TextNumbers from "@postwire/core/wire/TextNumbers"
import type { Wire } from "@postwire/core/wire/Wire"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Forms from "../http/Forms.ts"
import * as Problem from "../http/Problem.ts"
import * as PageToken from "./PageToken.ts"
import type { Projected } from "./Projection.ts"
import type { Reply } from "./Reply.ts"

/** The parts of a response. */
export interface Parts {
  readonly reply: Reply
  readonly projected: Projected
  readonly tokens: Tokens
}

/** The tokens of a page. */
export type Tokens = Readonly<Partial<Record<"next_token" | "previous_token", string>>>

export const documentOf = ({ projected, reply, tokens }: Parts): object => {
  const { data, includes } = projected
  const errors = [...reply.errors ?? [], ...projected.errors]
  return {
    ...(data === undefined ? {} : { data }),
    ...(includes === undefined ? {} : { includes }),
    ...(errors.length === 0 ? {} : { errors }),
    ...(reply.meta === undefined ? {} : { meta: { ...reply.meta, ...tokens } })
  }
}

/** A document in the field names of a wire. */
export const spelled = (wire: Wire, definition: Definition, document: object): unknown =>
  Problem.typedFor(
    wire,
    wire.problemFromNeutral(wire.fromNeutral(schemaOf(definition).body)(formOf(wire, definition, document)))
  )

/** The response of a document. */
export const response = (
  wire: Wire,
  definition: Definition,
  document: object
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(spelled(wire, definition, document), { status: successStatus(definition) })

const formOf = ({ name }: Wire, definition: Definition, document: object): object =>
  "data" in document
    ? { ...document, data: schemaOf(definition).toText(Forms.dataOf(name, definition.name, document.data)) }
    : document

/** The tokens of the adjacent pages. */
export const tokensOf = (
  definition: Definition,
  listing: PageToken.Listing,
  page: Reply["page"]
): Tokens => ({
  ...(page?.next === undefined ? {} : { next_token: PageToken.encode(listing, page.next) }),
  ...(page?.previous === undefined || definition.paging?.directions !== "both"
    ? {}
    : { previous_token: PageToken.encode(listing, page.previous) })
})

const schemas = new WeakMap<Definition, ReturnType<typeof compiled>>()

const schemaOf = (definition: Definition) => {
  let schema = schemas.get(definition)
  if (schema === undefined) schemas.set(definition, schema = compiled(definition))
  return schema
}

const compiled = ({ result }: Definition) => {
  const write = TextNumbers.writer(dataOf(result))
  return {
    body: envelope(result),
    /** Writes the numbers that the service sends as text. */
    toText: (data: unknown): unknown => write === undefined ? data : write(structuredClone(data))
  }
}
