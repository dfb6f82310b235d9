/** Who the command speaks for: credentials from the environment or from a file that nobody else can read. */
import type { Client } from "@postwire/core/Client"
import type { InvalidSettings } from "@postwire/core/Errors"
import type { Wire } from "@postwire/core/WireNames"
import * as NodeClient from "@postwire/node/NodeClient"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { open } from "node:fs/promises"
import { parseEnv } from "node:util"

/** The file of credentials cannot be used. */
export class CredentialsUnusable extends Schema.TaggedError<CredentialsUnusable>()("CredentialsUnusable", {
  path: Schema.String,
  reason: Schema.String,
  advice: Schema.String
}) {
  override get message(): string {
    return `${this.path}: ${this.reason}`
  }
}

/** `--credentials FILE`. */
export const flag = Flag.String("credentials").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription("File of mode 0600 with lines as POSTWIRE_BEARER_TOKEN=...; else the environment"),
  Flag.optional
)

/** `--wire`, instead of the environment's. */
export const wire = Flag.Literals("wire", ["neutral", "x"]).pipe(
  Flag.withDescription("The words of the service (default: POSTWIRE_WIRE, else neutral)"),
  Flag.optional
)

/** The variables of the environment, and those of the file, which go first. */
export const variables = (
  file: Option.Option<string>
): Effect.Effect<Readonly<Record<string, string | undefined>>, CredentialsUnusable> =>
  Option.match(file, {
    onNone: () => Effect.succeed(process.env),
    onSome: (path) => Effect.map(read(path), (variables) => ({ ...process.env, ...variables }))
  })

/** The client that the flags and the environment make. It waits when a budget is spent. */
export const layer = (
  file: Option.Option<string>,
  wire: Option.Option<Wire> = Option.none()
): Layer.Layer<Client, InvalidSettings | CredentialsUnusable> =>
  Layer.unwrap(Effect.map(variables(file), (variables) =>
    NodeClient.layer({
      ...NodeClient.fromEnvironment(variables),
      ...Option.match(wire, { onNone: () => ({}), onSome: (wire) => ({ wire }) }),
      waitOnRateLimit: true
    })))

/** The variables in a file that nobody else can read. */
export const read = (path: string): Effect.Effect<Readonly<Record<string, string | undefined>>, CredentialsUnusable> =>
  Effect.flatten(Effect.tryPromise({
    try: async () => {
      // Asked of the open file: what is read is what was looked at.
      await using file = await open(path, "r")
      const { mode } = await file.stat()
      return (mode & 0o077) === 0 || process.platform === "win32"
        ? Effect.succeed(parseEnv(await file.readFile("utf8")))
        : Effect.fail(
          new CredentialsUnusable({
            path,
            reason: `others may read it (mode ${(mode & 0o777).toString(8).padStart(4, "0")})`,
            advice: `Take that right away: chmod 600 ${path}`
          })
        )
    },
    catch: (cause) =>
      new CredentialsUnusable({
        path,
        reason: cause instanceof Error ? cause.message : String(cause),
        advice: "Name a file that exists and that you may read."
      })
  }))
