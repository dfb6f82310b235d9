/** What tests of the server share: a sandbox in memory, a client of it, and a host that speaks a revision of the protocol. */
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import * as Prices from "@postwire/core/spend/Prices"
import * as Spend from "@postwire/core/spend/Spend"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import * as Journal from "@postwire/core/storage/Journal"
import * as NodeCrypto from "@postwire/node/NodeCrypto"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Layer, Redacted } from "effect"
import { type McpSchema, McpTest } from "effect/ai"
import { TestClock } from "effect/testing"
import * as Ledger from "../../src/money/Ledger.ts"
import * as Server from "../../src/server/Server.ts"
import type * as Session from "../../src/session/Session.ts"

export const now = Date.UTC(2026, 10, 20, 12)

const baseUrl = "http://localhost"

export interface Options extends Session.Settings {
  readonly posts?: number
  readonly protocolVersion?: typeof Server.protocols[number]["protocolVersion"]
  readonly spendLimit?: Spend.Limit
  /** The journal, which other processes of the user share. */
  readonly journal?: Journal.Entries
}

/** The services of a server whose client acts for ada. */
export const services = ({ journal = Journal.makeMemory(), prices = Prices.current, spendLimit = {} }: Options) =>
  Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ seeded }) =>
    Layer.mergeAll(
      Client.layer({ baseUrl, retries: 0 }),
      Layer.succeed(Journal.Journal, journal),
      Ledger.layer({
        bill: baseUrl,
        limits: {
          session: spendLimit.total && Prices.microsOf(spendLimit.total),
          perDay: spendLimit.perDay && Prices.microsOf(spendLimit.perDay),
          perMonth: spendLimit.perMonth && Prices.microsOf(spendLimit.perMonth)
        }
      })
    ).pipe(
      Layer.provide([
        Credentials.layer({
          bearerToken: Redacted.value(seeded.userBearerToken),
          appBearerToken: Redacted.value(seeded.appBearerToken)
        }),
        NodeCrypto.layer,
        Spend.layer({
          spendLimit,
          prices: { unknown: prices.unknown === undefined ? undefined : Prices.dollarsOf(prices.unknown) }
        })
      ]),
      Layer.provide([Spend.layerTotal, SpendStore.layerMemory])
    )))

/** A host that is connected to a server. */
export interface Host {
  readonly client: McpTest.Client
  readonly call: (
    name: string,
    input?: Record<string, unknown>,
    meta?: Record<string, unknown>
  ) => Effect.Effect<ReturnType<typeof shown>, McpSchema.McpError>
  readonly sandbox: Sandbox.Sandbox["Service"]
}

/** Starts a server, and connects a host to it. */
export const host = Effect.fnUntraced(function*(options: Options = {}) {
  yield* TestClock.setTime(now)
  const context = yield* Layer.build(Sandbox.layer({ posts: options.posts ?? 0, start: now }))
  const registrations = Server.registrations(options).pipe(Layer.provide(services(options)))
  const client = yield* McpTest.makeClient(registrations, {
    protocols: Server.protocols,
    protocolVersion: options.protocolVersion ?? "2025-11-25"
  }).pipe(Effect.provideContext(context))
  const call = (name: string, input: Record<string, unknown> = {}, meta?: Record<string, unknown>) =>
    Effect.map(client.callTool({ name, arguments: input, ...meta !== undefined && { _meta: meta } }), shown)
  const sandbox = yield* Effect.provideContext(Sandbox.Sandbox, context)
  const connected: Host = { client, call, sandbox }
  return connected
})

/** A result as tests compare it: cursors have a name that does not change. */
const shown = ({ content, isError, structuredContent }: McpSchema.CallToolResult) => ({
  text: content.map((block) => block.type === "text" ? block.text : `[${block.type}]`).join("\n"),
  cursor: content.flatMap((block) => block.type === "text" ? [/more: cursor (\w+)/.exec(block.text)?.[1]] : [])[0],
  content,
  isError: isError === true,
  structuredContent
})

/** A text without its cursors. */
export const stable = (text: string): string => text.replace(/cursor c[0-9a-f]{8}/g, "cursor C")

/** The estimated tokens of a text. */
export const tokensOf = (text: string): number => Math.ceil(text.length / 4)
