/** The ways in which a user signs in: by the browser of this machine, by one elsewhere, and with a PIN. */
import * as OAuth1Login from "@postwire/core/accounts/OAuth1Login"
import * as OAuth2 from "@postwire/core/accounts/OAuth2"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Variables } from "../connection/Variables.ts"
import * as Ask from "../terminal/Ask.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import * as Browser from "./Browser.ts"
import * as Callback from "./Callback.ts"
import type { Page } from "./Page.ts"
import { exactly } from "./Redirect.ts"

/** The service does not show its page. */
export class PageRefused extends Schema.TaggedError<PageRefused>()("PageRefused", {
  reason: Schema.String,
  redirect: Schema.String
}) {
  override get message(): string {
    return `The service refuses the sign-in: ${this.reason.replace(/\.$/, "")}`
  }
  get advice(): string {
    return `Check the client id, and that the app has ${this.redirect}, ${exactly} (--redirect names another).`
  }
}

/** There is nobody at the address of the service. */
export class NoService extends Schema.TaggedError<NoService>()("NoService", {
  origin: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.origin} does not answer: ${this.reason}`
  }
  get advice(): string {
    return "Look at the connection, and at POSTWIRE_BASE_URL (postwire sandbox starts a local service)."
  }
}

/** Nobody came back in time. */
export class NobodySignedIn extends Schema.TaggedError<NobodySignedIn>()("NobodySignedIn", {
  redirect: Schema.String
}) {
  override get message(): string {
    return "Nobody signed in within five minutes"
  }
  get advice(): string {
    return `Run it again. If the browser showed an error, the app must have ${this.redirect}, ${exactly}.`
  }
}

/** What was brought from the page of the service is of no use. */
export class CodeRefused extends Schema.TaggedError<CodeRefused>()("CodeRefused", {
  what: Schema.Literals(["code", "PIN"]),
  said: Schema.String
}) {
  override get message(): string {
    return `The service does not take the ${this.what} of this sign-in (${this.said.replace(/\.$/, "")})`
  }
  get advice(): string {
    return this.what === "PIN"
      ? "It is good once: run the command again, and type what the page shows."
      : "It is good for 30 seconds, and once: run the command again, and be quick."
  }
}

/** So long a browser is waited for. */
const patience = "5 minutes"

const accept = { accept: "application/json" }

const Refusal = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ error: Schema.String, error_description: Schema.optionalKey(Schema.String) }))
)

/**
 * Asks for the page before a browser does: of an app or a redirect address that the service does not know, only the page tells.
 * A service that has nothing but pages is believed.
 */
const look = Effect.fnUntraced(function*(url: string, redirect: string) {
  const http = yield* HttpClient
  const refusal = yield* http.execute(HttpClientRequest.get(url, { headers: accept })).pipe(
    Effect.catch(({ reason }) =>
      new NoService({
        origin: new URL(url).origin,
        reason: "cause" in reason && reason.cause instanceof Error ? reason.cause.message : reason._tag
      })
    ),
    Effect.flatMap((response) =>
      response.status === 400 ? Effect.orElseSucceed(response.text, () => "") : Effect.succeed("")
    ),
    Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.succeed("") }),
    Effect.map(Refusal)
  )
  if (Option.isSome(refusal)) {
    const { error, error_description: reason = error } = refusal.value
    return yield* new PageRefused({ reason: Text.oneLine(reason), redirect })
  }
})

/** The address on a line of its own, which no terminal breaks with blanks. */
const showAddress = (url: string) => Console.error(`\n${url}\n`)

/** Opens the browser; where there is none, says so. */
const openBrowser = (url: string, variables: Variables, advice: string) =>
  Effect.catch(
    Effect.flatMap(Browser.Browser, (browser) => browser.open(url, variables)),
    ({ message }) => Report.say(message, advice)
  )

/** Signs in with the browser of this machine, which comes back to a listener here. */
export const byBrowser = Effect.fnUntraced(
  function*<A, E, R>(
    authorization: OAuth2.Authorization,
    redirect: string,
    variables: Variables,
    finish: (address: string) => Effect.Effect<A, E, R>,
    told: (done: A) => string
  ) {
    const { url } = authorization
    const callback = yield* Callback.listen(
      redirect,
      (address) =>
        Effect.match(OAuth2.callback(address, authorization), {
          // With the right state, also a denial comes from the service.
          onFailure: (error) => error._tag === "AuthorizationDenied" || error.fault === "incomplete",
          onSuccess: () => true
        })
    )
    yield* look(url, redirect)
    yield* Report.say("Sign in and allow the app, in the browser, at:")
    yield* showAddress(url)
    yield* Effect.forkScoped(
      openBrowser(url, variables, "Open the address on this machine; elsewhere, pass --headless.")
    )
    const { address, show } = yield* Effect.timeoutOrElse(callback.answer, {
      duration: patience,
      orElse: () => Effect.fail(new NobodySignedIn({ redirect }))
    })
    const exit = yield* Effect.exit(finish(address))
    yield* show(exit._tag === "Success" ? worked(told(exit.value)) : failed)
    return yield* exit
  },
  Effect.scoped
)

const worked = (who: string): Page => ({
  title: `You are signed in as ${who}`,
  text: "You can close this page; the command line goes on.",
  isGood: true
})

const failed: Page = {
  title: "You are not signed in",
  text: "The command line says why. You can close this page.",
  isGood: false
}

/** Signs in with a browser anywhere, whose last address is pasted. */
export const byAddress = Effect.fnUntraced(
  function*<A, E, R>(
    authorization: OAuth2.Authorization,
    redirect: string,
    finish: (address: string) => Effect.Effect<A, E, R>
  ) {
    const { url } = authorization
    yield* look(url, redirect)
    yield* Report.say("Sign in and allow the app, in any browser, at:")
    yield* showAddress(url)
    yield* Report.say(
      `The browser then goes to ${redirect}, which need not load: copy its whole address from there.`,
      "Paste it here within 30 seconds: the code in it is good for no longer, and once."
    )
    return yield* finish(yield* Ask.line("the address", "Address:"))
  }
)

/** Signs in with OAuth 1.0a, by a PIN that the service shows. */
export const byPin = Effect.fnUntraced(
  function*(settings: OAuth1Login.Settings, consumer: OAuth1Login.Consumer, variables: Variables) {
    const requestToken = yield* OAuth1Login.requestToken({ ...settings, ...consumer, callback: "oob" })
    const url = yield* OAuth1Login.authorizeUrl({ ...settings, requestToken })
    yield* Report.say("Sign in and allow the app, in any browser, at:")
    yield* showAddress(url)
    yield* openBrowser(url, variables, "Open the address yourself.")
    const verifier = yield* Ask.line("the PIN", "PIN that it shows:")
    return yield* OAuth1Login.accessToken({ ...settings, ...consumer, requestToken, verifier }).pipe(
      // The consumer key and its secret were good a moment ago.
      Effect.catchTag("Unauthorized", (error) => new CodeRefused({ what: "PIN", said: error.detail ?? error.message }))
    )
  }
)
