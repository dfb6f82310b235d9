/** Opens an address in the user's browser. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { spawn } from "node:child_process"
import type { Variables } from "../connection/Variables.ts"

/** No browser can be opened. */
export class NoBrowser extends Schema.TaggedError<NoBrowser>()("NoBrowser", { reason: Schema.String }) {
  override get message(): string {
    return `No browser can be opened here: ${this.reason}`
  }
}

/** The program that opens an address, with its arguments. None of them runs a shell. */
export const commandOf = (
  address: string,
  variables: Variables,
  platform: NodeJS.Platform
): readonly [program: string, ...rest: ReadonlyArray<string>] | NoBrowser => {
  const chosen = variables["BROWSER"]?.split(platform === "win32" ? ";" : ":")[0]?.trim() ?? ""
  if (chosen !== "") {
    const [program = "", ...rest] = chosen.split(/\s+/)
    return rest.includes("%s")
      ? [program, ...rest.map((part) => part === "%s" ? address : part)]
      : [program, ...rest, address]
  }
  if (platform === "darwin") return ["open", address]
  // As "start" does, but without a shell, which would interpret &.
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler", address]
  return variables["DISPLAY"] || variables["WAYLAND_DISPLAY"]
    ? ["xdg-open", address]
    : new NoBrowser({ reason: "there is no display" })
}

/** A browser that runs for this long was started successfully, in milliseconds. */
const patience = 2_000

/** Opens an address without waiting for the browser. */
const open = (
  address: string,
  variables: Variables,
  platform: NodeJS.Platform = process.platform
): Effect.Effect<void, NoBrowser> => {
  const command = commandOf(address, variables, platform)
  if (command instanceof NoBrowser) return Effect.fail(command)
  const [program, ...rest] = command
  return Effect.callback<void, NoBrowser>((resume) => {
    const child = spawn(program, rest, { detached: true, stdio: "ignore" })
    const fail = (reason: string) => resume(Effect.fail(new NoBrowser({ reason })))
    child.once(
      "error",
      (error: NodeJS.ErrnoException) =>
        fail(error.code === "ENOENT" ? `there is no ${program}` : `${program}: ${error.message}`)
    )
    child.once("exit", (code) => code === 0 ? resume(Effect.void) : fail(`${program} ended with ${code ?? "a signal"}`))
    child.unref()
  }).pipe(Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.void }))
}

/** The browser of this machine, unless another is provided. */
export const Browser = Context.Reference<{
  readonly open: (address: string, variables: Variables) => Effect.Effect<void, NoBrowser>
}>("@postwire/cli/login/Browser", { defaultValue: () => ({ open }) })
