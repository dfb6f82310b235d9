/** The redirect address of a sign-in, which must match the app's settings exactly. */
import * as Effect from "effect/Effect"
import { isLoopback } from "../connection/Loopback.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"

/** The default address; a service on this machine may use the port itself. */
export const usual = (baseUrl: string): string => {
  const { hostname, port } = URL.parse(baseUrl) ?? { hostname: "", port: "" }
  return `http://localhost:${isLoopback(hostname) && port === "8080" ? 8081 : 8080}/callback`
}

/** Checks an address. Only local ones can be listened to; with any other, the user pastes the result. */
export const check = Effect.fnUntraced(function*(redirect: string, isListenedAt: boolean) {
  const parsed = URL.parse(redirect)
  if (parsed === null || redirect.includes("#")) {
    return yield* ErrorReport.refuse(
      `--redirect ${redirect} is not an absolute address without a fragment`,
      `Pass it exactly as in the app's settings, ${exactly}, such as http://localhost:8080/callback.`
    )
  }
  if (isListenedAt && (parsed.protocol !== "http:" || !isLoopback(parsed.hostname))) {
    return yield* ErrorReport.refuse(
      `--redirect ${redirect} does not lead to this machine over http`,
      "Add http://localhost:8080/callback to the app, or pass --headless and paste the last address."
    )
  }
  return parsed
})

/** How the address has to match. */
export const exactly = "character by character"
