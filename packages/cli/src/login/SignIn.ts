/** The ways to sign in: with the browser of this machine, with another browser, and with a PIN. */
import * as OAuth1Login from "@postwire/core/accounts/OAuth1Login"
import * as OAuth2 from "@postwire/core/accounts/OAuth2"
import type { BadRequest, Unauthorized } from "@postwire/core/errors/Errors"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Variables } from "../connection/Variables.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Prompt from "../terminal/Prompt.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import * as Browser from "./Browser.ts"
import * as Callback from "./Callback.ts"
import type { Page } from "./Page.ts"
import { exactly } from "./Redirect.ts"

/** The service does not accept the code or the PIN. */
export const codeRefused = (what: "code" | "PIN", { detail, message }: BadRequest | Unauthorized) =>
  ErrorReport.refuse(
    `The service does not accept the ${what} of this sign-in (${(detail ?? message).replace(/\.$/, "")})`,
    what === "PIN"
      ? "It is valid once: run the command again, and type what the page shows."
      : "It is valid once, for 30 seconds: run the command again, and be quick."
  )

const patience = "5 minutes"

const accept = { accept: "application/json" }

const Refusal = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ error: Schema.String, error_description: Schema.optionalKey(Schema.String) }))
)

/**
 * Requests the page before a browser does: errors about the app or the redirect address are shown only there. A service that
 * returns pages for everything passes.
 */
const look = Effect.fnUntraced(function*(url: string, redirect: string) {
  const http = yield* HttpClient
  const refusal = yield* http.execute(HttpClientRequest.get(url, { headers: accept })).pipe(
    Effect.catch(({ reason }) =>
      ErrorReport.refuse(
        `${new URL(url).origin} does not respond: ${
          "cause" in reason && reason.cause instanceof Error ? reason.cause.message : reason._tag
        }`,
        "Check the connection and POSTWIRE_BASE_URL (postwire sandbox starts a local service)."
      )
    ),
    Effect.flatMap((response) =>
      response.status === 400 ? Effect.orElseSucceed(response.text, () => "") : Effect.succeed("")
    ),
    Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.succeed("") }),
    Effect.map(Refusal)
  )
  if (Option.isSome(refusal)) {
    const { error, error_description: reason = error } = refusal.value
    return yield* ErrorReport.refuse(
      `The service refuses the sign-in: ${Text.oneLine(reason).replace(/\.$/, "")}`,
      `Check the client id, and that the app has ${redirect}, ${exactly} (--redirect names another).`
    )
  }
})

/** Notes that the service has one login for an app and a user, before the user decides. */
const noteEnds = Report.say(
  "This login ends others of the same user and app, on other machines too.",
  "For several machines, share its store: POSTWIRE_TOKEN_STORE=redis://..."
)

/** Prints the address on a line of its own, unwrapped. */
const showAddress = (url: string) => Console.error(`\n${url}\n`)

/** Opens the browser, or shows that there is none. */
const openBrowser = (url: string, variables: Variables, advice: string) =>
  Effect.catch(
    Effect.flatMap(Browser.Browser, (browser) => browser.open(url, variables)),
    ({ message }) => Report.insist(message, advice)
  )

/** Signs in with the browser of this machine and a local listener. */
export const byBrowser = Effect.fnUntraced(
  function*<A, E, R>(
    authorization: OAuth2.Authorization,
    redirect: string,
    variables: Variables,
    finish: (address: string) => Effect.Effect<A, E, R>,
    messageOf: (done: A) => string
  ) {
    const { url } = authorization
    const callback = yield* Callback.listen(
      redirect,
      (address) =>
        Effect.match(OAuth2.callback(address, authorization), {
          // With the right state, a denial is also from the service.
          onFailure: (error) => error._tag === "AuthorizationDenied" || error.fault === "incomplete",
          onSuccess: () => true
        })
    )
    yield* look(url, redirect)
    yield* noteEnds
    yield* Report.insist("Sign in and allow the app, in the browser, at:")
    yield* showAddress(url)
    yield* Effect.forkScoped(
      openBrowser(url, variables, "Open the address on this machine; elsewhere, pass --headless.")
    )
    const { address, show } = yield* Effect.timeoutOrElse(callback.answer, {
      duration: patience,
      orElse: () =>
        ErrorReport.refuse(
          "Nobody signed in within five minutes",
          `Run it again. If the browser showed an error, the app must have ${redirect}, ${exactly}.`
        )
    })
    const exit = yield* Effect.exit(finish(address))
    yield* show(exit._tag === "Success" ? worked(messageOf(exit.value)) : failed)
    return yield* exit
  },
  Effect.scoped
)

const worked = (who: string): Page => ({
  title: `You are signed in as ${who}`,
  text: "You can close this page; the command continues.",
  isGood: true
})

const failed: Page = {
  title: "You are not signed in",
  text: "The command shows the reason. You can close this page.",
  isGood: false
}

/** Signs in with any browser; the user pastes its last address. */
export const byAddress = Effect.fnUntraced(
  function*<A, E, R>(
    authorization: OAuth2.Authorization,
    redirect: string,
    finish: (address: string) => Effect.Effect<A, E, R>
  ) {
    const { url } = authorization
    yield* look(url, redirect)
    yield* noteEnds
    yield* Report.insist("Sign in and allow the app, in any browser, at:")
    yield* showAddress(url)
    yield* Report.insist(
      `The browser then goes to ${redirect}, which need not load: copy the whole address from the browser.`,
      "Paste it here within 30 seconds: the code in it is valid once, and no longer."
    )
    return yield* finish(yield* Prompt.line("the address", "Address:"))
  }
)

/** Signs in with OAuth 1.0a and a PIN from the service. */
export const byPin = Effect.fnUntraced(
  function*(settings: OAuth1Login.Settings, consumer: OAuth1Login.Consumer, variables: Variables) {
    const requestToken = yield* OAuth1Login.requestToken({ ...settings, ...consumer, callback: "oob" })
    const url = yield* OAuth1Login.authorizeUrl({ ...settings, requestToken })
    yield* Report.insist("Sign in and allow the app, in any browser, at:")
    yield* showAddress(url)
    yield* openBrowser(url, variables, "Open the address yourself.")
    const verifier = yield* Prompt.line("the PIN", "PIN that it shows:")
    return yield* OAuth1Login.accessToken({ ...settings, ...consumer, requestToken, verifier }).pipe(
      // The consumer key and secret were accepted for the first request.
      Effect.catchTag("Unauthorized", (error) => codeRefused("PIN", error))
    )
  }
)
