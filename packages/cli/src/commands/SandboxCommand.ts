/** `postwire sandbox`: the service on a port. */
import { environmentVariable } from "@postwire/core/errors/Errors"
import * as Wire from "@postwire/core/wire/Wire"
import * as ConsolePage from "@postwire/sandbox/Console"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import * as Seed from "@postwire/sandbox/Seed"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Args from "../terminal/Args.ts"
import * as Report from "../terminal/Report.ts"
import { lines } from "./Lines.ts"

/** The environment variables for a client of a sandbox. */
export const environmentOf = (baseUrl: string, seeded: Seed.Seeded): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({
      baseUrl,
      bearerToken: Redacted.value(seeded.userBearerToken),
      appBearerToken: Redacted.value(seeded.appBearerToken),
      consumerKey: seeded.consumerKey,
      consumerSecret: Redacted.value(seeded.consumerSecret),
      accessToken: Redacted.value(seeded.accessToken),
      accessTokenSecret: Redacted.value(seeded.accessTokenSecret),
      clientId: seeded.publicClient.id
    }).map(([setting, value]) => [environmentVariable(setting), value])
  )

/** The variable with the admin token. */
export const adminVariable = environmentVariable("sandboxAdminToken")

/** The admin token, from the environment: other users of the machine can see arguments. */
const adminToken = Config.option(Config.Redacted(adminVariable)).pipe(
  Config.map(Option.filter((token) => Redacted.value(token) !== ""))
)

export const command = Command.make(
  "sandbox",
  {
    port: Args.int("port", 0, 65_535).pipe(Args.withDefault("Port; 0 takes any free one", 8080)),
    host: Args.text("host", "IP address to listen on, such as 0.0.0.0 in a container (default: 127.0.0.1)"),
    posts: Flag.Int("posts").pipe(Flag.filter(Seed.isSize, () => Seed.size), Args.withDefault("Initial posts", 1_000)),
    seed: Flag.Int("seed").pipe(Args.withDefault("The number that decides all data", 1)),
    file: Args.text("file", "SQLite file for the state (default: memory)"),
    start: Flag.Date("start").pipe(Args.optional("The start of the clock, ISO 8601 (default: now)")),
    faults: Flag.Finite("faults").pipe(
      Flag.filter((share) => share >= 0 && share <= 1, () => "0 to 1"),
      Args.withDefault("Share of requests that fail; the seed decides which", 0)
    ),
    load: Flag.Finite("load").pipe(
      Flag.filter((perSecond) => perSecond > 0 && perSecond <= 100_000, () => "more than 0, at most 100000"),
      Flag.withMetavar("POSTS"),
      Args.optional("Add this many posts per second, for streams; the seed decides their texts")
    ),
    spendCap: Flag.Finite("spend-cap").pipe(
      Flag.filter((dollars) => dollars >= 0, () => "dollars: 0 or more"),
      Flag.withMetavar("DOLLARS"),
      Args.optional("The monthly spend limit of each app; more is refused as the service does")
    ),
    plan: Flag.Literals("plan", ["enterprise", "self-serve"]).pipe(
      Args.optional("The plan of all apps: self-serve has the rules of pay-per-use (default: enterprise)")
    ),
    wire: Flag.Literals("wire", Wire.names).pipe(
      Args.optional("Accept only these field names, as the service of one date (default: all)")
    ),
    json: Report.jsonWhenReady
  },
  Effect.fnUntraced(function*({ faults, file, host, json, load, plan, port, posts, seed, spendCap, start, wire }) {
    const givenToken = yield* adminToken
    const options: Sandbox.ServerOptions = {
      port,
      host: Option.getOrUndefined(host),
      posts,
      seed,
      faults,
      spendCap: Option.getOrUndefined(spendCap),
      plan: Option.getOrUndefined(plan),
      wire: Option.getOrUndefined(wire),
      file: Option.getOrUndefined(file),
      start: Option.getOrUndefined(start),
      adminToken: Option.getOrUndefined(givenToken)
    }
    return yield* Effect.scoped(Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { adminToken, baseUrl, seeded } = sandbox
      if (Option.isSome(load)) sandbox.load({ perSecond: load.value, seed })
      const environment = {
        ...environmentOf(baseUrl, seeded),
        ...Option.isNone(givenToken) && { [adminVariable]: Redacted.value(adminToken) }
      }
      yield* Report.part(json, { baseUrl, adminToken: Redacted.value(adminToken), environment }, [
        `The sandbox is ready at ${baseUrl}. Ctrl-C ends it.`,
        "",
        "View it and send requests:",
        "",
        `  ${ConsolePage.urlWith(baseUrl, adminToken)}`,
        "",
        "Calls to /_sandbox (faults, time, journal) accept that token as a bearer token.",
        "",
        "Variables for clients (the tokens are worthless elsewhere):",
        "",
        ...Object.entries(environment).map(([name, value]) => `  export ${name}=${value}`),
        ""
      ])
      return yield* Effect.never
    })).pipe(Effect.provide(Sandbox.layerServer(options)))
  })
).pipe(Args.help("Start the whole service locally: HTTP, authentication, SQLite.", lines.sandbox, {
  "postwire sandbox": "The service on port 8080, in memory",
  "postwire sandbox --port 0 --json --posts 25000": "For scripts: a free port, one JSON line"
}))
