// Type tests of requests to any path: what they take, return and fail with.
import type { CallOptions } from "@postwire/core/client/CallOptions"
import type { Client } from "@postwire/core/client/Client"
import * as RawRequest from "@postwire/core/client/RawRequest"
import { getPost } from "@postwire/core/operations/Posts"
import type { Dictionary, Response } from "@postwire/core/schema/Response"
import type * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const assertType = <T extends true>(): T | void => undefined
type Sent<A> = Effect.Effect<A, RawRequest.RequestError, Client>

interface Widget {
  readonly at: Date
}

const get = { method: "GET", path: "/2/widgets/1" } as const
const schema = Schema.Struct({ at: Schema.DateFromString })
declare const standard: StandardSchemaV1<string, Widget>

// Without a schema nothing is known; with one, what it makes of data.
const unknown = RawRequest.request(get)
assertType<Equal<typeof unknown, Sent<Response<unknown, RawRequest.Included>>>>()
const read = RawRequest.request({ ...get, schema })
assertType<Equal<typeof read, Sent<Response<{ readonly at: Date }, RawRequest.Included>>>>()
const validated = RawRequest.request({ ...get, schema: standard })
assertType<Equal<typeof validated, Sent<Response<Widget, RawRequest.Included>>>>()
const dictionary = RawRequest.request.as("dictionary")({ ...get, schema })
assertType<Equal<typeof dictionary, Sent<Dictionary<{ readonly at: Date }, RawRequest.Included>>>>()
const raw = RawRequest.request.as("raw")({ ...get, schema })
assertType<Equal<typeof raw, Sent<HttpClientResponse>>>()

// @ts-expect-error no such method
RawRequest.request({ method: "TRACE", path: "/" })
// @ts-expect-error headers are the client's
RawRequest.request({ ...get, headers: {} })
// @ts-expect-error no value of a query
RawRequest.request({ ...get, query: { a: {} } })
// @ts-expect-error no JSON
RawRequest.request({ method: "POST", path: "/", body: () => 1 })
// @ts-expect-error no such form
RawRequest.request.as("json")
// @ts-expect-error what is added to a request is in it
RawRequest.request(get, { extraQuery: {} })
RawRequest.request(get, { timeout: 1, retries: 0 })

// What is not declared yet.
getPost({ id: "1" }, { extraQuery: { "a.b": ["c", 1, true], d: undefined }, extraBody: { e: { f: [null] } } })
// @ts-expect-error no value of a query
export const query: CallOptions = { extraQuery: { a: { b: 1 } } }
// @ts-expect-error no JSON
export const body: CallOptions = { extraBody: { a: 1n } }
