/** The pages of the reference that are made of types: the settings of clients and calls, and the Layers. */
import * as Credentials from "../../packages/core/src/auth/Credentials.ts"
import { environmentVariable } from "../../packages/core/src/errors/Errors.ts"
import { names } from "../../packages/core/src/wire/Wire.ts"
import { type Member, membersOf, table } from "./Members.ts"
import { docstrings, text } from "./Source.ts"

/** The declarations of settings: those of a Promise client come from several interfaces. */
const settings = [
  {
    title: "The service",
    lead:
      "Where the service is, and what is checked. In Effect these are the settings of `Client.layer`, and `wire` is a value, " +
      "such as `Wire.x`.",
    of: [["packages/core/src/client/Client.ts", "Settings"]]
  },
  {
    title: "Credentials",
    lead: "See [credentials](../credentials.md).",
    of: [["packages/core/src/auth/Credentials.ts", "Settings"]]
  },
  {
    title: "Accounts",
    lead: "For users who [signed in](../sign-in.md). In Effect, `AccountCredentials` takes their place.",
    of: [["packages/core/src/promise/AccountSettings.ts", "AccountSettings"]]
  },
  {
    title: "Tokens that are renewed",
    lead: "The members of `oauth2`. Those of blocking clients have no `save`.",
    of: [["packages/core/src/promise/AccountSettings.ts", "OAuth2Settings"]]
  },
  {
    title: "Return types, rate limits, logs",
    lead: "Of clients of Promises and of blocking ones. In Effect, Layers take their place.",
    of: [["packages/core/src/promise/Settings.ts", "Settings"]]
  },
  {
    title: "Spending",
    lead:
      "What requests are charged, and limits of it; see [spending](../spend.md). In Effect, `Spend.layer` takes these.",
    of: [["packages/core/src/spend/SpendSettings.ts", "Settings"]]
  },
  {
    title: "The members of spendLimit",
    lead: "In dollars. What is in doubt and what requests in flight may cost counts.",
    of: [["packages/core/src/spend/SpendSettings.ts", "Limit"]]
  },
  {
    title: "The members of prices",
    lead: "Omitted members keep their value of `Prices.current`; see [prices](../spend.md#prices).",
    of: [["packages/core/src/spend/internal/priceTable.ts", "Changes"]]
  },
  {
    title: "Connections",
    lead: "Of clients on Node.",
    of: [["packages/node/src/NodeClient.ts", "Settings"]]
  },
  {
    title: "Clients on fetch",
    lead:
      "Of `@postwire/web`, in place of those of clients on Node; see [where there is no Node](../web.md). Accounts are for `@postwire/web/AccountClient`.",
    of: [["packages/web/src/WebClient.ts", "Settings"], ["packages/web/src/AccountClient.ts", "Settings"]]
  },
  {
    title: "Blocking clients",
    lead:
      "Blocking clients have those above, but for `dispatcher`, `logger`, `onRateLimit`, `onRequest` and `onSpend`, and these.",
    of: [["packages/sync/src/Settings.ts", "Settings"]]
  },
  {
    title: "Timeouts",
    lead: "The members of `timeout`, in milliseconds; see [timeouts](../retries.md#timeouts).",
    of: [["packages/core/src/http/Timeouts.ts", "Timeouts"]]
  },
  {
    title: "Options of a call",
    lead: "The second argument of every operation.",
    of: [
      ["packages/core/src/client/CallOptions.ts", "CallOptions"],
      ["packages/core/src/wire/ExtraParameters.ts", "Extras"],
      ["packages/core/src/promise/Calls.ts", "CallOptions"]
    ]
  },
  {
    title: "Options of a run of pages",
    lead: "Of `.pages`, `.items` and `.joined`, besides those of a call; see [pages](../pages.md).",
    of: [["packages/core/src/client/Pagination.ts", "PageOptions"]]
  },
  {
    title: "Options of a stream",
    lead: "The second argument of streams, in place of those of a call.",
    of: [["packages/core/src/streams/StreamOptions.ts", "StreamOptions"]]
  },
  {
    title: "What a stream resumes from",
    lead: "The members of `resumeFrom`.",
    of: [["packages/core/src/streams/StreamOptions.ts", "ResumeFrom"]]
  },
  {
    title: "The window of duplicates",
    lead: "The members of `duplicates`.",
    of: [["packages/core/src/streams/StreamOptions.ts", "DuplicatesWindow"]]
  },
  {
    title: "What onRequest receives",
    lead: "Called after every attempt.",
    of: [["packages/core/src/client/Attempt.ts", "Sent"]]
  },
  {
    title: "What onSpend receives",
    lead: "Called with everything that was charged, or is in doubt.",
    of: [["packages/core/src/spend/SpendSettings.ts", "Spent"], ["packages/core/src/schema/Response.ts", "Cost"]]
  },
  {
    title: "What onRateLimit receives",
    lead:
      "`Announced`, with every response that announces a rate limit, or `Waiting`, as a wait begins, distinguished by `_tag`. Both " +
      "have the `operation` and the kind of `credential`, too.",
    of: [
      ["packages/core/src/rate-limit/Policy.ts", "Announced"],
      ["packages/core/src/rate-limit/Policy.ts", "Waiting"]
    ]
  }
] as const satisfies ReadonlyArray<{
  readonly title: string
  readonly lead: string
  readonly of: ReadonlyArray<readonly [path: string, name: string]>
}>

/** The settings that have a variable of their name. */
const variables: ReadonlyArray<string> = [
  "baseUrl",
  "wire",
  "account",
  "clientId",
  "clientSecret",
  "tokenStore",
  "journal",
  ...Credentials.names
]

/** Whose settings have been named before, or are no settings of their own. */
const unnamed = ["Blocking clients", "Clients on fetch", "Tokens that are renewed"]

/** Types as users would write them, where the source has a name of its own. */
const spelled: Readonly<Record<string, string>> = {
  "Anomaly.Verify": "\"lenient\" | \"strict\"",
  F: "\"response\" | \"dictionary\" | \"raw\"",
  D: "\"forward\" | \"backward\"",
  "Ledger.Reason": "\"window\" | \"refusal\" | \"pace\" | \"in flight\" | \"turn\"",
  Logger: "{ debug, info, warn, error }",
  Members: "{ [name: string]: unknown }",
  "Pick<Dispatcher, \"dispatch\">": "Session | Dispatcher",
  "Prepare.Limits[\"accessLevel\"]": "\"research\" | \"standard\"",
  "Prepare.Limits[\"checks\"]": "\"spec\" | \"identifiers\"",
  Query: "{ [name: string]: unknown }",
  "RateLimit.Change": "Change",
  Secret: "string | Redacted",
  WireName: names.map((name) => `"${name}"`).join(" | ")
}

const typeText = (type: string): string => spelled[type] ?? type.replaceAll(/\b[A-Z]\w+\.(?=[A-Z])/g, "")

/** The members of an interface, without those that another interface of the same client replaces. */
const shown = (path: string, name: string): ReadonlyArray<Member> =>
  membersOf(path, name).filter((member) => path !== "packages/core/src/client/Client.ts" || member.name !== "wire")

const variableOf = (name: string): ReadonlyArray<string> =>
  variables.includes(name) ? [`Variable: \`${environmentVariable(name)}\`.`] : []

/** The page of the settings. */
export const settingsPage = (): ReadonlyArray<string> => [
  "# Settings",
  "What `createClient` and `createClientSync` take. Settings that are not given are read from the environment, " +
  "[credentials](../credentials.md#settings-and-the-environment) only if none is given. A setting that " +
  "breaks its rule, or is misspelt, is [`InvalidSettings`](../errors.md#invalidsettings) when the client is made. " +
  "`POSTWIRE_REDIS_URL` is the variable of `rateLimitStore`.",
  ...settings.flatMap(({ lead, of, title }) => [
    `## ${title}`,
    lead,
    table(
      ["Name", "Type", ""],
      of.flatMap(([path, name]) => shown(path, name)).map(({ doc, name, type }) => [
        `\`${name}\``,
        `\`${typeText(type)}\``,
        [doc, ...(unnamed.includes(title) ? [] : variableOf(name))].join(" ")
      ])
    )
  ])
]

/** The modules whose Layers programs provide. */
const modules = [
  "packages/core/src/client/ClientConfig.ts",
  "packages/core/src/client/Client.ts",
  "packages/core/src/auth/Credentials.ts",
  "packages/core/src/accounts/AccountCredentials.ts",
  "packages/core/src/rate-limit/RateLimit.ts",
  "packages/core/src/rate-limit/RateLimitStore.ts",
  "packages/core/src/storage/TokenStore.ts",
  "packages/core/src/client/Telemetry.ts",
  "packages/node/src/NodeClient.ts",
  "packages/node/src/UndiciHttpClient.ts",
  "packages/node/src/SqliteRateLimitStore.ts",
  "packages/node/src/RedisRateLimitStore.ts",
  "packages/node/src/FileTokenStore.ts",
  "packages/node/src/RedisTokenStore.ts",
  "packages/sandbox/src/Sandbox.ts"
]

interface LayerOf {
  readonly name: string
  readonly type: string
  readonly doc: string
}

/** The Layers that a module exports, with their types as the source has them. */
const layersOf = (path: string): ReadonlyArray<LayerOf> => {
  const docs = docstrings(path)
  return Array.from(
    text(path).matchAll(
      /^export const (layer\w*)(?:: (Layer\.Layer<[^=]+>)| = (\([^]*?\)): (Layer\.Layer<[^=]+?>)) =/gm
    ),
    ([, name = "", value, parameters = "", result]) => ({
      name,
      type: (value ?? `${parameters} => ${result}`).replace(/\s+/g, " ").replaceAll("( ", "(").replaceAll(" )", ")"),
      doc: (docs.get(name) ?? "").replace(/\s+/g, " ")
    })
  )
}

/** The page of the Layers. */
export const layersPage = (): ReadonlyArray<string> => [
  "# Layers",
  "What an [Effect program](../effect.md) provides. A type `Layer<A, E, R>` is a Layer that provides `A`, can fail with `E` when " +
  "it is built, and requires `R`.",
  ...modules.flatMap((path) => {
    const [, packageName = "", file = "", module = ""] = /^packages\/(\w+)\/src\/((?:.+\/)?(\w+))\.ts$/.exec(path) ?? []
    const layers = layersOf(path)
    if (layers.length === 0) throw new Error(`${path} has no Layer`)
    return [
      `## ${module}`,
      `From \`@postwire/${packageName}/${file}\`.`,
      ...layers.flatMap(({ doc, name, type }) => [
        `### ${module}.${name}`,
        `\`\`\`ts\n${type}\n\`\`\``,
        doc
      ])
    ]
  })
]
