// Writes a recorded request as code. Credentials are variables of the environment.
import { operations, takesUsers } from "./Operations.mjs"

/**
 * @import { Operation, Parameter } from "../admin/Description.ts"
 * @import { Entry } from "../journal/Journal.ts"
 * @typedef {"neutral" | "x" | "x-2026-02"} Wire
 * @typedef {Pick<Entry, "method" | "path" | "query" | "body" | "operation"> & { readonly caller?: { readonly userId?: string } }} Recorded
 */

/** The holder of the token that repeats a request. @param {Pick<Recorded, "caller">} recorded */
export const holderOf = ({ caller }) => caller !== undefined && caller.userId === undefined ? "app" : "user"

/** The address of a recorded request below the base URL. @param {Recorded} recorded */
export const targetOf = ({ path, query }) => {
  const search = new URLSearchParams(query).toString()
  return search === "" ? path : `${path}?${search}`
}

/** @param {string} template @param {string} path */
const pathParameters = (template, path) => {
  const names = [...template.matchAll(/:(\w+)/g)].map(([, name]) => name ?? "")
  const found = new RegExp(`^${template.replace(/:\w+/g, "([^/]+)")}$`).exec(path)
  return found === null ? undefined : Object.fromEntries(names.map((name, i) => [name, found[i + 1] ?? ""]))
}

/** @param {unknown} body @param {string} position */
const memberOf = (body, position) =>
  position.split(".").reduce(
    (inner, step) => typeof inner === "object" && inner !== null ? Reflect.get(inner, step) : undefined,
    body
  )

/** @param {Parameter} parameter @param {string | undefined} text */
const valueOf = ({ kind }, text) =>
  text === undefined
    ? undefined
    : kind === "list"
    ? text.split(",")
    : kind === "integer"
    ? Number(text)
    : kind === "boolean"
    ? text === "true"
    : text

/**
 * The operation, wire and parameters of a recorded request; undefined if its route is unknown.
 * @param {Recorded} recorded
 * @returns {{ readonly operation: Operation; readonly wire: Wire; readonly parameters: Record<string, unknown> } | undefined}
 */
export const callOf = ({ body, method, operation: name, path, query }) => {
  const operation = operations.find((described) => described.name === name)
  if (operation === undefined) return undefined
  const matches = /** @type {const} */ (["x-2026-02", "x", "neutral"]).flatMap((wire) =>
    operation.routes.flatMap((route) => {
      const [routeMethod, template = ""] = route[wire].split(" ")
      const found = routeMethod === method ? pathParameters(template, path) : undefined
      if (found === undefined) return []
      const parameters = Object.fromEntries(
        operation.parameters.flatMap((parameter) => {
          const key = parameter.key[wire]
          const value = parameter.place === "path"
            ? found[parameter.name] ?? found[key]
            : parameter.place === "query"
            ? valueOf(parameter, query[key])
            : memberOf(body, key)
          return value === undefined ? [] : [[parameter.name, value]]
        })
      )
      return [{ operation, wire, parameters }]
    })
  )
  // The wire whose names explain most of the request.
  return matches.sort((a, b) => Object.keys(b.parameters).length - Object.keys(a.parameters).length)[0]
}

/** A literal of JavaScript. @param {unknown} value */
const literal = (value) => {
  const text = JSON.stringify(value, undefined, 1).replace(/(?<=\[)\n\s*|\n\s*(?=\])/g, "").replace(/\n\s*/g, " ")
  return text.replace(/"([A-Za-z_]\w*)":/g, "$1:")
}

/** The argument of a call with the bearer token. @param {NonNullable<ReturnType<typeof callOf>>} call */
const argumentOf = ({ operation, parameters }) => {
  const all = { ...parameters, ...(operation.signs ? { user_auth: false } : {}) }
  return Object.keys(all).length === 0 ? "" : literal(all)
}

const raw = (/** @type {Recorded} */ { body, method, path, query }) =>
  literal({
    method,
    path,
    ...(Object.keys(query).length === 0 ? {} : { query }),
    ...(body === undefined ? {} : { body })
  })

const shell = (/** @type {string} */ text) => `'${text.replaceAll("'", "'\\''")}'`

/** A literal of Python. @param {unknown} value @returns {string} */
const python = (value) =>
  Array.isArray(value)
    ? `[${value.map(python).join(", ")}]`
    : typeof value === "object" && value !== null
    ? `{${Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${python(inner)}`).join(", ")}}`
    : value === null
    ? "None"
    : typeof value === "boolean"
    ? value ? "True" : "False"
    : JSON.stringify(value)

const isStream = (/** @type {Recorded} */ recorded) => callOf(recorded)?.operation.streams === true

/** The environment variable with the token. */
const tokenName = (/** @type {Recorded} */ recorded) =>
  holderOf(recorded) === "app" ? "POSTWIRE_APP_BEARER_TOKEN" : "POSTWIRE_BEARER_TOKEN"

/** A comment about the environment; clients use the app's variable for the operations of apps only. */
const reads = (/** @type {Recorded} */ recorded, baseUrl = "") => {
  const operation = callOf(recorded)?.operation
  const token = operation !== undefined && !takesUsers(operation)
    ? "POSTWIRE_APP_BEARER_TOKEN"
    : `POSTWIRE_BEARER_TOKEN${holderOf(recorded) === "app" ? ", here the app's," : ""}`
  return `// Reads ${baseUrl === "" ? "" : `POSTWIRE_BASE_URL=${baseUrl} and `}${token} from the environment.`
}

/** @type {Readonly<Record<string, (recorded: Recorded) => string>>} */
export const languages = {
  curl: (recorded) =>
    [
      `curl --request ${recorded.method} ${shell(location.origin + targetOf(recorded))}`,
      `--header "Authorization: Bearer $${tokenName(recorded)}"`,
      ...(isStream(recorded) ? ["--no-buffer"] : []),
      ...(recorded.body === undefined ? [] : [`--json ${shell(JSON.stringify(recorded.body))}`])
    ].join(" \\\n  "),
  Promise: (recorded) => {
    const call = callOf(recorded)
    const sent = call === undefined
      ? `client.request(${raw(recorded)})`
      : `client.${call.operation.name}(${argumentOf(call)})`
    return [
      `import { createClient } from "@postwire/node"`,
      "",
      reads(recorded),
      `await using client = createClient({ baseUrl: ${literal(location.origin)} })`,
      isStream(recorded)
        ? `for await (const received of ${sent}) console.log(received)`
        : `console.log(await ${sent})`
    ].join("\n")
  },
  Effect: (recorded) => {
    const call = callOf(recorded)
    const [area, sent] = call === undefined
      ? ["RawRequest", `RawRequest.request(${raw(recorded)})`]
      : [call.operation.area, `${call.operation.area}.${call.operation.name}(${argumentOf(call)})`]
    const program = isStream(recorded) ? `Stream.runForEach(${sent}, Console.log)` : sent
    const run = `await Effect.runPromise(Effect.provide(${program}, client))`
    return [
      `import { ${["ClientConfig", area].sort().join(", ")} } from "@postwire/core"`,
      `import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"`,
      `import { ${isStream(recorded) ? "Console, Effect, Layer, Stream" : "Effect, Layer"} } from "effect"`,
      "",
      reads(recorded, location.origin),
      `const client = ClientConfig.layer.pipe(Layer.provide(UndiciHttpClient.layer()))`,
      isStream(recorded) ? run : `console.log(${run})`
    ].join("\n")
  },
  Python: (recorded) =>
    [
      "import os",
      "import requests",
      "",
      "response = requests.request(",
      `    ${python(recorded.method)},`,
      `    ${python(location.origin + recorded.path)},`,
      ...(Object.keys(recorded.query).length === 0 ? [] : [`    params=${python(recorded.query)},`]),
      ...(recorded.body === undefined ? [] : [`    json=${python(recorded.body)},`]),
      `    headers={"authorization": f"Bearer {os.environ['${tokenName(recorded)}']}"},`,
      ...(isStream(recorded)
        ? ["    stream=True,", ")", "for line in response.iter_lines():", "    print(line.decode())"]
        : [")", "print(response.status_code, response.text)"])
    ].join("\n")
}
