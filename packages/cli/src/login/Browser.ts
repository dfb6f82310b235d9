/** Opens an address in the user's browser. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import type { Variables } from "../connection/Variables.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"

/** The program that opens an address, with its arguments. None of them runs a shell. */
export const commandOf = (
  address: string,
  variables: Variables,
  platform: NodeJS.Platform
): readonly [program: string, ...rest: ReadonlyArray<string>] | undefined => {
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
    : undefined
}

/** A browser that runs for this long was started successfully, in milliseconds. */
const patience = 2_000

/** Opens an address without waiting for the browser. */
const open = (
  address: string,
  variables: Variables,
  platform: NodeJS.Platform = process.platform
): Effect.Effect<void, ErrorReport.Failure> => {
  const command = commandOf(address, variables, platform)
  const refused = (reason: string) => ErrorReport.refuse(`No browser can be opened here: ${reason}`)
  if (command === undefined) return refused("there is no display")
  const [program, ...rest] = command
  return Effect.callback<void, ErrorReport.Failure>((resume) => {
    const child = spawn(program, rest, { detached: true, stdio: "ignore" })
    const fail = (reason: string) => resume(refused(reason))
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
  readonly open: (address: string, variables: Variables) => Effect.Effect<void, ErrorReport.Failure>
}>("@postwire/cli/login/Browser", { defaultValue: () => ({ open }) })
