/** Where the browser is sent to when a login has ended: an address that the app has, character by character. */
import * as Effect from "effect/Effect"
import * as ErrorReport from "../terminal/ErrorReport.ts"

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** The address that is used where none is named; a service on this machine may have the port itself. */
export const usual = (baseUrl: string): string => {
  const { hostname, port } = URL.parse(baseUrl) ?? { hostname: "", port: "" }
  return `http://localhost:${loopback.test(hostname) && port === "8080" ? 8081 : 8080}/callback`
}

/** Checks an address. Only one on this machine can be listened at; any other is read from what is pasted. */
export const check = Effect.fnUntraced(function*(redirect: string, isListenedAt: boolean) {
  const parsed = URL.parse(redirect)
  if (parsed === null || redirect.includes("#")) {
    return yield* ErrorReport.refuse(
      `--redirect ${redirect} is not an absolute address without a fragment`,
      `Pass it as the settings of the app have it, ${exactly}, such as http://localhost:8080/callback.`
    )
  }
  if (isListenedAt && (parsed.protocol !== "http:" || !loopback.test(parsed.hostname))) {
    return yield* ErrorReport.refuse(
      `--redirect ${redirect} does not lead to this machine over http`,
      "Add http://localhost:8080/callback to the app, or pass --headless and paste where the browser ends."
    )
  }
  return parsed
})

/** How an address has to be that of the app. */
export const exactly = "character by character"
