/** The answer of a tool as the protocol has it: one text within a budget, and links to files. */
import {
  InvalidParameters,
  type LoginRequired,
  type MissingAccessToken,
  type MissingScope,
  reasonsOf,
  type SpendLimitReached,
  statementOf,
  type Unauthorized
} from "@postwire/core/errors/Errors"
import { getUsersPosts } from "@postwire/core/operations/Timelines"
import * as Prices from "@postwire/core/spend/Prices"
import * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import { dollars } from "../money/Dollars.ts"
import type { DryRun } from "../money/Gate.ts"
import * as Ledger from "../money/Ledger.ts"
import { type Place, Session, type Settings } from "../session/Session.ts"
import type { Failure, Listing } from "../session/Tool.ts"
import * as Fence from "../text/Fence.ts"
import { sanitize } from "../text/Sanitize.ts"

/** The tokens of an answer for which the call sets no number. */
const usualTokens = 2_000

const textOf = (text: string) => McpSchema.TextContent.make({ text })

/** The estimated characters of a token. */
const charactersPerToken = 4

/** The lines that fit, from the first on, and the rest. A first line that is too long is cut, so that every answer makes progress. */
const divided = (
  lines: ReadonlyArray<string>,
  rows: number,
  characters: number
): readonly [fitting: ReadonlyArray<string>, left: ReadonlyArray<string>] => {
  let room = characters
  const end = lines.findIndex((line, i) => i >= rows || (room -= line.length + 1) < 0)
  if (end < 0) return [lines, []]
  if (end > 0) return [lines.slice(0, end), lines.slice(end)]
  const [first = "", ...others] = lines
  const [head, tail] = cut(first, characters - 1)
  return [[head], [tail, ...others]]
}

/** Cuts a line in two. A fence that is cut ends there, and begins again with its author. */
const cut = (line: string, characters: number): readonly [head: string, tail: string] => {
  const at = /[\uD800-\uDBFF]/.test(line.charAt(characters - 1)) ? characters - 1 : characters
  const [head, tail] = [line.slice(0, at), line.slice(at)]
  const open = head.lastIndexOf("«")
  return tail === "" || open <= head.lastIndexOf("»")
    ? [head, tail]
    : [`${head}…»`, `${line.slice(open, line.indexOf("|", open) + 1)}…${tail}`]
}

/** The most cursors of a session; the oldest is forgotten first. */
const mostCursors = 200

/** Keeps the rest of an answer under a short name. */
const keep = ({ cursors }: Session["Service"], place: Place): string => {
  const handle = `c${globalThis.crypto.randomUUID().slice(0, 8)}`
  cursors.set(handle, place)
  const [oldest] = cursors.keys()
  if (cursors.size > mostCursors && oldest !== undefined) cursors.delete(oldest)
  return handle
}

/** Fits a listing into an answer; the rest stays behind a cursor. The last line is about money if there were requests. */
export const ofListing = (
  tool: string,
  { hasStrangers = false, lines, link, next, rows }: Listing,
  maxTokens: number = usualTokens,
  cost: Ledger.Cost
): Effect.Effect<McpSchema.CallToolResult, never, Session | Ledger.Ledger> =>
  Effect.gen(function*() {
    const session = yield* Session
    if (hasStrangers) session.hasReadStrangers = true
    const [fitting, left] = rows === undefined ? [lines, []] : divided(lines, rows, maxTokens * charactersPerToken)
    const footer: Array<string> = []
    if (left.length > 0 || next !== undefined) {
      const handle = keep(session, { tool, rest: { lines: left, next, rows, hasStrangers } })
      footer.push(
        `more: cursor ${handle}${left.length > 0 ? ` (${left.length} lines, already paid)` : " (the next page)"}`
      )
    }
    if (cost.requests > 0) footer.push(Ledger.line(cost, yield* (yield* Ledger.Ledger).accounts))
    return new McpSchema.CallToolResult({
      content: [
        textOf([...fitting, ...footer].join("\n")),
        ...link === undefined ? [] : [McpSchema.ResourceLink.make({ ...link })]
      ]
    })
  })

/** The most characters of an error. */
const longestError = 1_000

const neverAgain = ({ prices }: Settings): string =>
  "This server does not send it again. Do not do so either: in a minute, call publish with the same handle, which then only looks for " +
  `the post (up to ${
    dollars(Prices.most(getUsersPosts.definition, { max_results: 20 }, prices))
  } for 20 of the account), or use messages.`

type Mendable = Exclude<Failure, McpSchema.InputRequired | DryRun>

/** The advice for an error, in terms of this server. */
const adviceOf = (failure: Mendable, settings: Settings): string => {
  switch (failure._tag) {
    case "OutcomeUnknown":
      return ` ${neverAgain(settings)}`
    case "MissingAccessToken":
    case "Unauthorized":
    case "LoginRequired":
    case "MissingScope":
      return ` ${signIn(failure, settings)}`
    case "TransportFailure":
      return ` The user can find out why, in a terminal: ${
        settings.command ?? "postwire"
      } doctor, with this server's credentials.`
    case "SpendLimitReached":
      return failure.needed === Infinity
        ? ` The user can state the most that it costs: ${
          settings.command ?? "postwire"
        } config set unknownPrice DOLLARS.`
        : ` The user can raise it with ${limitOf(failure, settings)}.`
    default:
      return ""
  }
}

const limitOf = ({ period }: SpendLimitReached, { command = "postwire" }: Settings): string =>
  period === "total"
    ? "the flag --max-spend of this server"
    : `${command} config set ${period === "day" ? "spendPerDay" : "spendPerMonth"} DOLLARS`

const signIn = (
  failure: MissingAccessToken | Unauthorized | LoginRequired | MissingScope,
  { account, allowWrites = false, command = "postwire" }: Settings
): string => {
  const isOfApp = failure._tag === "Unauthorized"
    ? failure.bearer === "app"
    : failure._tag === "MissingAccessToken" && failure.missing.includes("appBearerToken")
  if (isOfApp) return "It needs the app's token: the user can set POSTWIRE_APP_BEARER_TOKEN for this server."
  const wanted = failure._tag === "MissingScope" ? failure.operation : allowWrites ? "mcp:write" : "mcp:read"
  const login = [command, "login", ...account === undefined ? [] : [account], "--for", wanted].join(" ")
  return account === undefined
    ? "The user can check the credentials of this server (a sandbox has others after a restart), or sign in, in a terminal: " +
      `${login}. This server uses it after a restart.`
    : `The user can sign in, in a terminal: ${login}. Then repeat this call.`
}

/** A failure as a result, which the model can mend. */
export const ofFailure = (failure: Mendable | DryRun, settings: Settings): McpSchema.CallToolResult => {
  if (failure._tag === "DryRun") return new McpSchema.CallToolResult({ content: [textOf(failure.message)] })
  const statement = failure._tag === "Refused" ? failure.message : statementOf(withoutValue(failure))
  const fenced = wordsOfService(failure).map((words) => sanitize(words.replace(/\.$/, ""))).reduce(
    (text, words) => text.replace(words, () => Fence.fence(words, undefined)),
    sanitize(statement)
  )
  return new McpSchema.CallToolResult({
    content: [textOf(`${failure._tag}: ${cut(fenced, longestError)[0]}${adviceOf(failure, settings)}`)],
    isError: true
  })
}

/** The service's own texts in an error, which may contain a text of strangers. */
const wordsOfService = (failure: Mendable): ReadonlyArray<string> =>
  "problems" in failure
    ? reasonsOf(failure)
    : "status" in failure && failure.status !== undefined
    ? [failure.reason]
    : []

/** The error without what the model has passed, which may be a text of strangers. */
const withoutValue = (failure: Mendable) =>
  failure._tag === "InvalidParameters"
    ? new InvalidParameters({
      ...failure,
      parameter: /^[\w.[\]]{1,64}$/.test(failure.parameter) ? failure.parameter : "?",
      value: undefined
    })
    : failure

/** The result of a defect, whose details are only in the log. */
export const ofDefect = new McpSchema.CallToolResult({
  content: [textOf("This server failed. Nothing more is known here; the details are in its log.")],
  isError: true
})
