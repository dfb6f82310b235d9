/** `postwire sandbox`: the service on a loopback port. */
import { environmentVariable } from "@postwire/core/Errors"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import type { Seeded } from "@postwire/sandbox/Seed"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

/** The environment that makes a client use a sandbox. */
export const environmentOf = (baseUrl: string, seeded: Seeded): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({
      baseUrl,
      bearerToken: Redacted.value(seeded.userBearerToken),
      consumerKey: seeded.consumerKey,
      consumerSecret: Redacted.value(seeded.consumerSecret),
      accessToken: Redacted.value(seeded.accessToken),
      accessTokenSecret: Redacted.value(seeded.accessTokenSecret)
    }).map(([setting, value]) => [environmentVariable(setting), value])
  )

/** `postwire sandbox`. */
export const command = Command.make(
  "sandbox",
  {
    port: Flag.Int("port").pipe(
      Flag.filter((port) => port >= 0 && port <= 65_535, () => "0 to 65535"),
      Flag.withDescription("Port on 127.0.0.1; 0 takes any free one"),
      Flag.withDefault(8080)
    ),
    posts: Flag.Int("posts").pipe(
      Flag.filter((posts) => posts >= 0, () => "0 or more"),
      Flag.withDescription("Posts to begin with"),
      Flag.withDefault(1_000)
    ),
    seed: Flag.Int("seed").pipe(Flag.withDescription("The number that decides all data"), Flag.withDefault(1)),
    file: Flag.String("file").pipe(
      Flag.withDescription("SQLite file that keeps the state; else memory"),
      Flag.optional
    ),
    wire: Flag.Literals("wire", ["neutral", "x"]).pipe(
      Flag.withDescription("Words of answers to paths that both wires spell alike"),
      Flag.withDefault("neutral")
    ),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON line when ready"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function*({ file, json, port, posts, seed, wire }) {
    const options: Sandbox.ServerOptions = { port, posts, seed, wire, file: Option.getOrUndefined(file) }
    return yield* Effect.scoped(Effect.gen(function*() {
      const { adminToken, baseUrl, seeded } = yield* Sandbox.Sandbox
      const token = Redacted.value(adminToken)
      const environment = environmentOf(baseUrl, seeded)
      yield* Console.log(
        json ? JSON.stringify({ baseUrl, adminToken: token, environment }) : [
          `The sandbox is ready at ${baseUrl}. Ctrl-C ends it.`,
          "",
          "Clients find it through these variables (the tokens are worth nothing elsewhere):",
          "",
          ...Object.entries(environment).map(([name, value]) => `  export ${name}=${value}`),
          "",
          `Calls to ${baseUrl}/_sandbox (faults, time, journal) take the bearer token`,
          `  ${token}`,
          ""
        ].join("\n")
      )
      return yield* Effect.never
    })).pipe(Effect.provide(Sandbox.layerServer(options)))
  })
).pipe(
  Command.withDescription("Start the whole service locally: real HTTP, real authentication, state in SQLite."),
  Command.withExamples([
    { command: "postwire sandbox", description: "The service on port 8080, in memory" },
    {
      command: "postwire sandbox --port 0 --json --posts 25000",
      description: "For scripts: a free port, one JSON line"
    }
  ])
)
