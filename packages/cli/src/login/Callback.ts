/** The listener on this machine that receives the redirect of a sign-in. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Page from "./Page.ts"

export interface Answer {
  /** The path and the query. */
  readonly address: string
  /** Shows a page in the browser, and in every other tab that was redirected. */
  readonly show: (page: Page.Page) => Effect.Effect<void>
}

export interface Callback {
  readonly answer: Effect.Effect<Answer>
}

/** `localhost` is either address, as the browser chooses. */
const hostsOf = ({ hostname }: URL): ReadonlyArray<string> =>
  hostname === "localhost" ? ["127.0.0.1", "::1"] : [hostname.replace(/^\[|\]$/g, "")]

/** Listens until the scope closes, and accepts the first address that ends the sign-in: any web page can cause other requests. */
export const listen = Effect.fnUntraced(
  function*(
    redirect: string,
    isEnd: (address: string) => Effect.Effect<boolean>
  ): Effect.fn.Return<Callback, ErrorReport.Failure, Scope.Scope> {
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
        // The machine may have no IPv6.
        Effect.catchIf(
          (code) => hosts.length > 1 && host === "::1" && (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT"),
          () => Effect.void
        ),
        Effect.catch((code) =>
          ErrorReport.refuse(
            `Cannot listen for ${redirect}: ${reasons[code] ?? `the error is ${code}`}`,
            "Stop the program that listens there, pass another address of the app with --redirect, or use --headless."
          )
        )
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
  title: "This does not complete the sign-in",
  text: "The command still waits. Sign in at the address that it shows.",
  isGood: false
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens on its port",
  EACCES: "this user must not listen on its port",
  EADDRNOTAVAIL: "this machine has no such address"
}

/** Listens on one local address; fails with the code of the system. */
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
    // Browsers keep connections open.
    yield* Effect.addFinalizer(() => Effect.sync(() => http.closeAllConnections()))
    yield* server.serve(handle)
  })
