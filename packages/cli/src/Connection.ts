/** Who the command speaks for: credentials from the environment or from a file that nobody else can read. */
import type { Client } from "@postwire/core/Client"
import type { InvalidSettings } from "@postwire/core/Errors"
import type * as RateLimit from "@postwire/core/RateLimit"
import { names } from "@postwire/core/Wire"
import type { Wire } from "@postwire/core/WireNames"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { open } from "node:fs/promises"
import { parseEnv } from "node:util"
import * as ErrorReport from "./ErrorReport.ts"
import * as Report from "./Report.ts"
import * as Text from "./Text.ts"

/** `--credentials FILE`. */
export const flag = Flag.String("credentials").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription("File of mode 0600 with lines as POSTWIRE_BEARER_TOKEN=...; else the environment"),
  Flag.optional
)

/** `--wire`, instead of the environment's. */
export const wire = Flag.Literals("wire", names).pipe(
  Flag.withDescription("The words of the service (default: POSTWIRE_WIRE, else neutral)"),
  Flag.optional
)

type Variables = Readonly<Record<string, string | undefined>>

/** The variables of the environment, and those of the file, which go first. */
export const variables = (file: Option.Option<string>): Effect.Effect<Variables, ErrorReport.FileUnusable> =>
  Option.match(file, {
    onNone: () => Effect.succeed(process.env),
    onSome: (path) => Effect.map(read(path), (variables) => ({ ...process.env, ...variables }))
  })

/**
 * Gives a command the client that the flags and the environment make. It waits when a budget is spent, and says so; what
 * goes wrong is told with the place of the credentials.
 */
export const provide =
  (file: Option.Option<string>, wire: Option.Option<Wire> = Option.none()) =>
  <A, E, R>(command: Effect.Effect<A, E, R>) =>
    Effect.gen(function*() {
      const own = Option.isSome(file) ? yield* read(file.value) : {}
      return yield* command.pipe(
        Effect.provide(layer({ ...process.env, ...own }, wire)),
        ErrorReport.within({
          credentials: Option.isSome(file) ? { path: file.value, names: Object.keys(own) } : undefined
        })
      )
    })

const layer = (variables: Variables, wire: Option.Option<Wire>): Layer.Layer<Client, InvalidSettings> =>
  Layer.unwrap(Effect.map(Report.speaker, (speak) =>
    NodeClient.layer({
      ...NodeClient.fromEnvironment(variables),
      ...Option.match(wire, { onNone: () => ({}), onSome: (wire) => ({ wire }) }),
      waitOnRateLimit: true,
      onRateLimit: (change) => {
        const waits = waiting(change)
        if (waits !== undefined) speak(waits)
      },
      logger: {
        debug: () => {},
        // Waits are told by the hook above.
        info: () => {},
        warn: (...line) => speak(line.join(" ")),
        error: (...line) => speak(line.join(" "))
      }
    })))

/** Shorter waits are no news. */
const noteworthy = 5_000

const because: Readonly<Record<RateLimit.Waiting["reason"], string>> = {
  window: "its rate limit is exhausted",
  refusal: "the service asked for a pause",
  pace: "one request per second is allowed",
  "in flight": "requests in flight may use the rest of its rate limit",
  turn: "calls of other processes came first"
}

/** A long wait in words: how long, until when, why. Each is announced once, as it begins. */
const waiting = (change: RateLimit.Change): string | undefined =>
  change._tag === "Waiting" && change.millis >= noteworthy
    ? `${change.operation} waits ${Text.duration(change.millis / 1000)}, until ${Text.clock(change.until.getTime())}: ${
      because[change.reason]
    }.`
    : undefined

/** The variables in a file that nobody else can read. */
export const read = (path: string): Effect.Effect<Variables, ErrorReport.FileUnusable> =>
  Effect.flatten(Effect.tryPromise({
    try: async () => {
      // Asked of the open file: what is read is what was looked at.
      await using file = await open(path, "r")
      const found = await file.stat()
      // With the advice for a file nobody could enter it any more.
      if (found.isDirectory()) throw new Error("it is a folder")
      const { mode } = found
      return (mode & 0o077) === 0 || process.platform === "win32"
        ? Effect.succeed(parseEnv(await file.readFile("utf8")))
        : Effect.fail(
          new ErrorReport.FileUnusable({
            path,
            reason: `others may read it (mode ${(mode & 0o777).toString(8).padStart(4, "0")})`,
            advice: `Take that right away: chmod 600 ${path}`
          })
        )
    },
    catch: (cause) =>
      new ErrorReport.FileUnusable({
        path,
        reason: cause instanceof Error ? cause.message : String(cause),
        advice: "Name a file that exists and that you may read."
      })
  }))
