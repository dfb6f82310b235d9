/** Reads exchanges that others have recorded. Of ids and texts the facts keep only that they are there. */
import { readFileSync } from "node:fs"
import { x202602 } from "../../packages/core/src/wire/Wire.ts"
import { endpoints } from "../drift/Endpoint.ts"
import { type Exchange, isObject, membersOf } from "./Exchange.ts"

/** A recording before it is reduced to facts. */
interface Recording {
  readonly from: string
  readonly method: string
  readonly url: string
  readonly sent: unknown
  readonly status: number | undefined
  readonly body: unknown
}

/** The exchanges in files: collections of Postman (`.json`), and pages of documentation with requests of curl (`.mdx`). */
export const read = (files: ReadonlyArray<string>): ReadonlyArray<Exchange> => {
  const exchanges = files.flatMap((file) => {
    const text = readFileSync(file, "utf8")
    return file.endsWith(".json") ? ofCollection(JSON.parse(text)) : ofPage(text, nameOf(file))
  }).flatMap((recording) => reduced(recording) ?? [])
  const factsOf = (exchange: Exchange) => JSON.stringify({ ...exchange, from: "" })
  return [...new Map(exchanges.toReversed().map((exchange) => [factsOf(exchange), exchange])).values()].reverse()
}

const nameOf = (file: string): string => file.replace(/^.*\/docs\/|\.mdx$/g, "")

interface Item {
  readonly name: string
  readonly item?: ReadonlyArray<Item>
  readonly response?: ReadonlyArray<{
    readonly code: number
    readonly body?: string
    readonly originalRequest: {
      readonly method: string
      readonly url: { readonly raw: string }
      readonly body?: { readonly raw?: string }
    }
  }>
}

const ofCollection = ({ item = [], name, response = [] }: Item): ReadonlyArray<Recording> => [
  ...item.flatMap(ofCollection),
  ...response.map(({ body, code, originalRequest: { body: sent, method, url } }) => ({
    from: `Postman: ${name}`,
    method,
    url: url.raw,
    sent: parsed(sent?.raw),
    status: code,
    body: parsed(body)
  }))
]

/** Each request of curl with the next answer below it, and all that are shown before another request. */
const ofPage = (text: string, page: string): ReadonlyArray<Recording> => {
  const found: Array<Recording> = []
  let request: Pick<Recording, "method" | "url" | "sent"> | undefined
  for (const [, language = "", code = ""] of text.matchAll(/^[ \t]*```(\w*)[^\n]*\n([^]*?)^[ \t]*```/gm)) {
    const url = /https:\/\/api\.(?:x|twitter)\.com\/2\/[^"'\s]*/.exec(code.replaceAll(/\\\n\s*/g, ""))?.[0]
    if (code.includes("curl") && url !== undefined) {
      const sent = parsed(/(?:-d|--data|--data-raw) '([^']*)'/.exec(code)?.[1])
      const isUnread = sent === undefined && /\s(-d|-F|--data|--form)\b/.test(code)
      const method = /(?:-X|--request) (\w+)/.exec(code)?.[1] ?? (sent === undefined ? "GET" : "POST")
      request = isUnread ? undefined : { method, url, sent }
    }
    const body = language === "json" ? parsed(code) : undefined
    if (request !== undefined && isAnswer(body)) {
      const status = typeof body["status"] === "number" ? body["status"] : undefined
      found.push({ from: `Documents: ${page}`, ...request, status, body })
      request = undefined
    }
  }
  return found
}

const isAnswer = (body: unknown): body is Readonly<Record<string, unknown>> =>
  isObject(body) && ["data", "errors", "meta", "title"].some((name) => name in body)

const parsed = (text: string | undefined): unknown => {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

const reduced = ({ body, from, method, sent, status, url }: Recording): Exchange | undefined => {
  const [path = "", search = ""] = url.replace(/^.*?(?=\/2\/)/, "").split("?")
  // Collections that are made of a document have its types for values.
  if (search.includes("<string>")) return undefined
  const { states, unseen } = statesOf(body)
  const route = routes.find((route) => route.method === method && route.pattern.test(path))
  if (route?.isStream === true) return undefined
  const template = route?.template ?? templateOf(path)
  const query = [...new URLSearchParams(search)].filter(([name, value]) => value !== "" && !isPosition(name))
  return {
    from,
    method,
    path: template.replaceAll(/\{\w*\}/g, `{${query.some(([name]) => isList(name)) ? "" : unseen}}`),
    query: Object.fromEntries(query.map(([name, value]) => [name, factOf(name, value, states)])),
    ...(sent === undefined ? {} : { body: withoutTexts(sent) }),
    ...(status === undefined ? {} : { status }),
    members: membersOf(body)
  }
}

const isList = (name: string): boolean => /^(ids|usernames|user_ids)$/.test(name)

/** Checks whether a parameter is a place in what there was then. */
const isPosition = (name: string): boolean => /_time$|^(since|until)_id$|token$/.test(name)

const factOf = (name: string, value: string, states: ReadonlyMap<string, string>): string => {
  if (name === "query") return "{}"
  if (!isList(name)) return value
  const items = value.split(",")
  // Examples may name others in their answers: the last ones are meant.
  const others = [...states].filter(([item]) => !items.includes(item)).map(([, state]) => state)
  const known = items.length - others.length
  return items.map((item, i) => `{${states.get(item) ?? others[i - known] ?? ""}}`).join()
}

/** Which of the things that a request named are not shown, and why; `unseen` if there is but one. */
const statesOf = (body: unknown): { readonly states: ReadonlyMap<string, string>; readonly unseen: string } => {
  const errors: ReadonlyArray<unknown> = isObject(body) && Array.isArray(body["errors"]) ? body["errors"] : []
  const states = new Map(
    errors.filter(isObject).flatMap((error, i) =>
      "resource_type" in error ? [[String(error["value"] ?? error["resource_id"] ?? i), stateOf(error)] as const] : []
    )
  )
  const isShown = isObject(body) && "data" in body
  return { states, unseen: isShown ? "" : [...states.values()][0] ?? "" }
}

const stateOf = ({ detail, type }: Readonly<Record<string, unknown>>): string =>
  String(detail).includes("suspended")
    ? "suspended"
    : String(type).includes("not-authorized")
    ? "protected"
    : "missing"

const routes = endpoints(x202602).map(({ definition, method, path }) => ({
  method,
  isStream: definition.live !== undefined,
  template: path.replaceAll(/:\w+/g, "{}"),
  pattern: RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`)
})).sort((a, b) => a.template.split("{}").length - b.template.split("{}").length)

/** The template of a path; of unknown routes, segments with digits or of another form are variable. */
const templateOf = (path: string): string => path.replaceAll(/\/(?=[^/]*[\d:A-Z{])(?!2\/)[^/]+/g, "/{}")

/** A body in which ids and texts have no content. */
const withoutTexts = (sent: unknown): unknown =>
  JSON.parse(
    JSON.stringify(sent),
    (_, value: unknown) =>
      typeof value !== "string" ? value : /^\d+(_\d+)?$/.test(value) ? "{}" : /^[\w.]+$/.test(value) ? value : "text"
  )
