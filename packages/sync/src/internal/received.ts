/** Decodes responses that came over the bridge. */
import * as CallErrors from "@postwire/core/client/CallErrors"
import type { Form } from "@postwire/core/schema/Definition"
import * as Response from "@postwire/core/schema/Response"
import * as ResponseDecoder from "@postwire/core/wire/ResponseDecoder"
import type { RawResponse } from "../RawResponse.ts"
import type { Context } from "./calls.ts"
import type { Received } from "./protocol.ts"

export type AnyResponse = Response.Response<unknown, unknown>

/** Decodes the response of an operation. */
export const read = (
  { redact, settings, warn, wire }: Context,
  call: CallErrors.CallInfo,
  { body, cost, headers, status }: Received
): AnyResponse | Error => {
  const decoded = call.result._tag === "Bytes"
    ? ResponseDecoder.decodeBytes(call, new Uint8Array(body), headersOf(headers))
    : ResponseDecoder.decode(call, wire, textOf(body), () => headersOf(headers), settings.verify)
  if (!(decoded instanceof ResponseDecoder.Undecodable)) Response.markCost(decoded, cost)
  if (CallErrors.isClean(decoded)) return decoded
  const read = CallErrors.redactResponse(call, decoded, { status, headers: headersOf(headers) }, textOf(body), redact)
  if (!(read instanceof Error)) warn(call.name, read.anomalies)
  return read
}

/** Copies a response for the caller. */
export const rawOf = ({ body, headers, status }: Received): RawResponse => {
  const bytes = new Uint8Array(body)
  const text = () => new TextDecoder().decode(bytes)
  return {
    status,
    ok: status >= 200 && status < 300,
    headers: new Headers(
      Object.entries(parsed(headers)).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, one])
      )
    ),
    bytes: () => bytes.slice(),
    text,
    json: () => JSON.parse(text())
  }
}

export const inForm = (form: Form, received: Received, response: AnyResponse): unknown =>
  form === "raw" ? rawOf(received) : form === "response" ? response : response.body

/** Decodes UTF-8 in shared memory, which a TextDecoder rejects. Drops a byte order mark, as the web does. */
const textOf = ({ buffer, byteLength, byteOffset }: Uint8Array): string => {
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  return bytes.toString("utf8", bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0)
}

/** The headers by name; the values of a repeated one are joined. */
const headersOf = (json: string): Record<string, string> =>
  Object.fromEntries(Object.entries(parsed(json)).map(([name, value]) => [name, [value].flat().join(", ")]))

const parsed = (json: string): Readonly<Record<string, string | ReadonlyArray<string>>> => JSON.parse(json)
