/** Where the browser comes back to: a listener on this machine that waits for the answer of the service. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"
import * as Page from "./Page.ts"

/** The port of the redirect address is not to be had. */
export class NotListening extends Schema.TaggedError<NotListening>()("NotListening", {
  redirect: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `Cannot listen for ${this.redirect}: ${this.reason}`
  }
  get advice(): string {
    return "End what listens there, pass another address of the app with --redirect, or use --headless."
  }
}

/** What the browser brought. */
export interface Answer {
  /** From the path on. */
  readonly address: string
  /** Shows a page in the browser, and in every other tab that came with an answer. */
  readonly show: (page: Page.Page) => Effect.Effect<void>
}

/** A listener. */
export interface Callback {
  readonly answer: Effect.Effect<Answer>
}

/** `localhost` is either of the two, as the browser likes. */
const hostsOf = ({ hostname }: URL): ReadonlyArray<string> =>
  hostname === "localhost" ? ["127.0.0.1", "::1"] : [hostname.replace(/^\[|\]$/g, "")]

/** Listens until the scope closes, and takes the first address that ends the sign-in: any page can have a browser request others. */
export const listen = Effect.fnUntraced(
  function*(
    redirect: string,
    isEnd: (address: string) => Effect.Effect<boolean>
  ): Effect.fn.Return<Callback, NotListening, Scope.Scope> {
    const expected = new URL(redirect)
    const arrived = yield* Deferred.make<string>()
    const shown = yield* Deferred.make<Page.Page>()
    const handle = Effect.gen(function*() {
      const { method, url } = yield* HttpServerRequest.HttpServerRequest
      if (method !== "GET" || URL.parse(url, redirect)?.pathname !== expected.pathname) {
        return HttpServerResponse.empty({ status: 404 })
      }
      if (!(yield* isEnd(url))) return Page.respond(elsewhere)
      yield* Deferred.succeed(arrived, url)
      return Page.respond(yield* Deferred.await(shown))
    })
    const hosts = hostsOf(expected)
    for (const host of hosts) {
      yield* at(host, Number(expected.port || 80), handle).pipe(
        // A machine may have no IPv6.
        Effect.catchIf(
          (code) => hosts.length > 1 && host === "::1" && (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT"),
          () => Effect.void
        ),
        Effect.mapError((code) => new NotListening({ redirect, reason: reasons[code] ?? `the system says ${code}` }))
      )
    }
    return {
      answer: Effect.map(Deferred.await(arrived), (address) => ({
        address,
        show: (page) => Effect.asVoid(Deferred.succeed(shown, page))
      }))
    }
  }
)

const elsewhere: Page.Page = {
  title: "This is not the end of the sign-in",
  text: "The command line still waits. Sign in at the address that it shows.",
  isGood: false
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens on its port",
  EACCES: "this user may not listen on its port",
  EADDRNOTAVAIL: "this machine has no such address"
}

/** Listens on one address of this machine; fails with the code of the system. */
const at = <R>(
  host: string,
  port: number,
  handle: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>
) =>
  Effect.gen(function*() {
    const http = createServer()
    const server = yield* NodeHttpServer.make(() => http, { port, host, gracefulShutdownTimeout: "1 second" }).pipe(
      Effect.mapError(({ cause }) => Predicate.hasProperty(cause, "code") ? String(cause.code) : "no reason")
    )
    // A browser keeps its connections open.
    yield* Effect.addFinalizer(() => Effect.sync(() => http.closeAllConnections()))
    yield* server.serve(handle)
  })
