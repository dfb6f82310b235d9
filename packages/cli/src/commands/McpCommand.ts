/** `postwire mcp`: the service as tools for agents, over standard input and output. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Client from "@postwire/core/client/Client"
import { dollarsOf, microsOf } from "@postwire/core/spend/Prices"
import * as Ledger from "@postwire/mcp/money/Ledger"
import * as Http from "@postwire/mcp/server/Http"
import * as Server from "@postwire/mcp/server/Server"
import { type Toolset, toolsets } from "@postwire/mcp/session/Session"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Cause from "effect/Cause"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as UserDirectories from "effect/persistence/UserDirectories"
import * as Redacted from "effect/Redacted"
import { createServer } from "node:http"
import { join, resolve } from "node:path"
import packageJson from "../../package.json" with { type: "json" }
import * as Accounts from "../connection/Accounts.ts"
import * as Connection from "../connection/Connection.ts"
import * as SpendAccount from "../connection/SpendAccount.ts"
import * as Spending from "../connection/Spending.ts"
import * as Variables from "../connection/Variables.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Report from "../terminal/Report.ts"
import * as HostConfig from "./HostConfig.ts"
import { lines } from "./Lines.ts"

/** The amount in dollars above which a call needs consent, if none is given. */
const usualAskAbove = 0.5

const flags = {
  readOnly: Args.toggle("read-only", "Offer tools that read only: the default, which overrides --allow-writes"),
  allowWrites: Args.toggle("allow-writes", "Offer tools that write, too; each write needs your consent"),
  toolsets: Args.text("toolsets", `Sets of tools, with commas (default: all): ${toolsets.join(", ")}`, "NAMES"),
  trustedOnly: Args.toggle("trusted-only", "Show texts only of those whom you follow, or who are verified"),
  trustedLists: Args.text(
    "trusted-lists",
    "As --trusted-only, and of members of these lists: a cent each, once",
    "ID,..."
  ),
  maxSpend: Spending.flags.maxSpend,
  askAbove: Flag.Finite("ask-above").pipe(
    Flag.filter((dollars) => dollars >= 0, () => "dollars: 0 or more, as 0.50"),
    Flag.withMetavar("DOLLARS"),
    Args.withDefault("Ask before a call that may cost more", usualAskAbove)
  ),
  folder: Args.text("folder", "The folder for large results (default: in your state folder)", "DIR"),
  printConfig: Flag.Literals("print-config", HostConfig.hosts).pipe(
    Args.optional("Print the configuration of a host for these flags, and end")
  ),
  http: Args.optional("Serve on this port of 127.0.0.1 instead, with a token (0: a free one)")(
    Args.int("http", 0, 65_535)
  ),
  wire: Connection.wire,
  ...Connection.flags
}

type Flags = Command.Command.Config.Infer<typeof flags>

export const command = Command.make("mcp", flags, (given) => run(given)).pipe(
  Args.help(
    "Serve X to agents as a few tools, by the Model Context Protocol on standard input and output. It only reads unless " +
      "--allow-writes is given, shows the cost of every answer, and spends a dollar at most unless --max-spend is given.",
    lines.mcp,
    {
      "postwire mcp --print-config claude-code": "What to put into the configuration of a host",
      "postwire mcp --toolsets posts,users --trusted-only": "Fewer tools, and no texts of strangers"
    }
  )
)

const run = Effect.fnUntraced(function*(flags: Flags) {
  const chosen = yield* toolsetsOf(flags.toolsets)
  const lists = yield* listsOf(flags.trustedLists)
  if (Option.isSome(flags.printConfig)) return yield* printConfig(flags.printConfig.value, flags)
  const session = Option.getOrElse(flags.maxSpend, () => microsOf(usualMaxSpend))
  const limits = { maxSpend: Option.some(session), usualLimits, maxWait: maxWaitMillis }
  yield* Connection.use({ ...flags, ...limits }, flags.wire, (speaker) =>
    Effect.gen(function*() {
      const account = yield* accountOf(speaker)
      const settings = {
        version: packageJson.version,
        allowWrites: flags.allowWrites && !flags.readOnly,
        toolsets: chosen,
        scopes: account?.oauth1 === undefined ? account?.oauth2?.scopes : undefined,
        trustedOnly: flags.trustedOnly || lists !== undefined,
        trustedLists: lists,
        userAuth: speaker.userAuth,
        userId: account?.user?.id,
        askAbove: microsOf(flags.askAbove),
        prices: yield* SpendAccount.pricesOf(speaker.variables),
        folder: Option.getOrUndefined(flags.folder) ?? join(yield* UserDirectories.make().state("postwire"), "mcp"),
        account: Option.getOrUndefined(Option.map(speaker.account, ({ name }) => name)),
        command: HostConfig.launcher(speaker.variables["PATH"]).join(" ")
      }
      const services = Layer.merge(layerLedger(speaker, flags, session), Connection.layerJournal(speaker.variables))
      if (Option.isSome(flags.http)) {
        const { token, isNew } = tokenOf(speaker)
        const http = layerHttp({ ...settings, token }, flags.http.value, isNew)
        return yield* Layer.launch(Layer.provide(http, services))
      }
      // The end of standard input interrupts the server, and is how hosts end it.
      const server = yield* Effect.forkChild(Layer.launch(Layer.provide(Server.layerStdio(settings), services)))
      const ended = yield* Fiber.await(server)
      if (Exit.isFailure(ended) && !Cause.hasInterruptsOnly(ended.cause)) return yield* ended
    }))
})

/** The variable with the token of the server over HTTP. */
const tokenVariable = "POSTWIRE_MCP_TOKEN"

const tokenOf = ({ variables }: Connection.Speaker) => {
  const given = Variables.valueOf(variables, tokenVariable)
  return given === undefined
    ? { token: Http.makeToken(), isNew: true }
    : { token: Redacted.make(given), isNew: false }
}

/** Serves on a port of this machine. The token of this run is shown once. */
const layerHttp = (settings: Http.Settings, port: number, isNew: boolean) =>
  Layer.merge(
    HttpRouter.serve(Http.layer(settings), { disableLogger: true, disableListenLog: true }),
    Layer.effectDiscard(Effect.gen(function*() {
      const { address } = yield* HttpServer.HttpServer
      yield* Report.say(`Serving at ${HttpServer.formatAddress(address)}${Http.path}. Stop with Ctrl-C.`)
      if (isNew) {
        yield* Report.say(`The token of this run: ${Redacted.value(settings.token)}`, `${tokenVariable} sets another.`)
      }
    }))
  ).pipe(
    Layer.provide(NodeHttpServer.layer(createServer, { port, host: "127.0.0.1" })),
    Layer.catchTag("ServeError", () =>
      Layer.effectDiscard(ErrorReport.refuse(
        `Cannot listen on port ${port} of 127.0.0.1`,
        "Another program may listen there, or this user must not. Pass another port with --http; 0 takes a free one."
      )))
  )

/** The longest wait for a rate limit: hosts give up on a call after a minute, and the model can do something else meanwhile. */
const maxWaitMillis = 30_000

/** The limits in dollars if no others are set. */
const usualMaxSpend = 1
const usualLimits = { perDay: 5, perMonth: 50 }

const accountOf = ({ account, store }: Connection.Speaker) =>
  Option.isNone(account)
    ? Effect.undefined
    : Effect.flatMap(store, (place) => Accounts.existing(place, account.value.name))

const layerLedger = ({ variables }: Connection.Speaker, { wire }: Flags, session: number) =>
  Layer.unwrap(Effect.gen(function*() {
    const settings = { ...NodeClient.fromEnvironment(variables), ...Option.isSome(wire) && { wire: wire.value } }
    const { baseUrl: bill } = yield* Client.check({
      baseUrl: settings.baseUrl,
      wire: yield* NodeClient.wireOf(settings)
    })
    const limit = yield* SpendAccount.limitOf(variables, usualLimits)
    const micros = (dollars: number | undefined) => dollars === undefined ? undefined : microsOf(dollars)
    return Ledger.layer({
      bill,
      limits: { session, perDay: micros(limit.perDay), perMonth: micros(limit.perMonth) }
    }).pipe(Layer.provide(SpendAccount.layerStore(variables, limit)))
  }))

const isToolset = (name: string): name is Toolset => toolsets.some((known) => known === name)

const toolsetsOf = Effect.fnUntraced(function*(text: Option.Option<string>) {
  if (Option.isNone(text)) return undefined
  const names = text.value.split(",")
  const unknown = names.find((name) => !isToolset(name))
  return unknown === undefined
    ? names.filter(isToolset)
    : yield* ErrorReport.refuse(`--toolsets: there is no set "${unknown}"`, `The sets are ${toolsets.join(", ")}.`)
})

const listsOf = Effect.fnUntraced(function*(text: Option.Option<string>) {
  const ids = Option.getOrUndefined(Option.map(text, (text) => text.split(",")))
  return ids?.every((id) => /^\d{1,19}$/.test(id)) === false
    ? yield* ErrorReport.refuse(
      "--trusted-lists must be ids of lists, with commas",
      "postwire lists shows those that you own."
    )
    : ids
})

/** Prints the configuration of a host, with the flags of this command. Paths become absolute: a host has another folder. */
const printConfig = Effect.fnUntraced(function*(host: HostConfig.Host, { askAbove, printConfig: _, ...flags }: Flags) {
  if (Option.isSome(flags.http)) {
    return yield* ErrorReport.refuse(
      "--print-config is for a server that the host starts, which --http is not",
      "Start the server yourself, and give its address and its token to the host."
    )
  }
  if (Option.exists(flags.tokenStore, Accounts.hasPassword)) {
    return yield* ErrorReport.refuse(
      "--token-store: the configuration would have its password",
      "Put POSTWIRE_TOKEN_STORE=... into a file of mode 0600, and pass that with --credentials."
    )
  }
  const { environment, file } = yield* Variables.places(flags.credentials)
  const args = HostConfig.argsOf({
    ...flags,
    credentials: Option.map(flags.credentials, absolute),
    tokenStore: Option.map(flags.tokenStore, (place) => place.includes("://") ? place : absolute(place)),
    folder: Option.map(flags.folder, absolute),
    maxSpend: Option.map(flags.maxSpend, dollarsOf),
    askAbove: askAbove === usualAskAbove ? undefined : askAbove
  })
  const missing = Object.keys(environment).filter((name) =>
    name.startsWith("POSTWIRE_") && Variables.valueOf(environment, name) !== undefined && file[name] === undefined
  )
  if (missing.length > 0) {
    yield* Report.say(
      `The host may not have ${missing.join(", ")}, which this shell has.`,
      "Put those that the server needs into a file of mode 0600, and pass it with --credentials."
    )
  }
  yield* Report.say(`Put this into ${HostConfig.fileOf[host]}, beside the servers that it has.`)
  const command = HostConfig.launcher(environment["PATH"])
  yield* Console.log(JSON.stringify(HostConfig.of(host, [...command, "mcp", ...args]), undefined, 2))
})

const absolute = (path: string) => resolve(path)
