/** Everything that a program may be told of a request, over services that quote all of it. */
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { HttpClient } from "effect/http"
import * as Recorder from "./Recorder.ts"
import { assertNoSecret, make, type Received, transportError } from "./Service.ts"
import { inMinute } from "./Test.ts"

/** What a service, or a proxy before it, may say of a request that it quotes. */
const quoted = ({ body, headers, url }: Received): string => {
  const authorization = String(headers["authorization"])
  return [
    url,
    body,
    authorization,
    Buffer.from(authorization.replace("Basic ", ""), "base64").toString(),
    ...authorization.split("\"").map(decodeURIComponent),
    ...new URLSearchParams(body).values(),
    Buffer.from(body).toString("base64")
  ].join("\n")
}

const wraps: ReadonlyArray<(text: string) => unknown> = [
  (text) => text,
  (text) => ({ error: text, error_description: text }),
  (text) => ({ errors: [{ message: text, [text]: text }], title: text, detail: text, type: text })
]

/** Each of the first two is quoted in every way. */
const statuses = [200, 200, 200, 400, 400, 400, 302, 401, 429, 503]

/** Fails where an error, an exit, a span or a log line holds a canary, whatever the service answers. */
export const assertTellsNoSecret = <A, E>(request: Effect.Effect<A, E, HttpClient.HttpClient>) =>
  Effect.gen(function*() {
    const { layer, lines, spans } = Recorder.all()
    const tell = (answer: Parameters<typeof make>[0]) =>
      Effect.gen(function*() {
        const { http, requests } = make(answer)
        const provided = Effect.provide(Effect.provideService(request, HttpClient.HttpClient, http), layer)
        const exit = yield* inMinute(Effect.exit(provided))
        assert.isAbove(requests.length, 0)
        assertNoSecret(exit)
        if (Exit.isFailure(exit)) assertNoSecret(Cause.squash(exit.cause))
      })
    for (const [index, status] of statuses.entries()) {
      const wrap = wraps[index % wraps.length]!
      yield* tell((received) => ({
        status,
        headers: { "x-request-id": encodeURIComponent(quoted(received)) },
        body: wrap(quoted(received))
      }))
    }
    yield* tell((received) => transportError({ message: quoted(received), received, code: "EPIPE" }))
    yield* tell((received) => transportError({ message: quoted(received), received, code: "ECONNREFUSED" }))
    assert.isAbove(spans.length, 10)
    assertNoSecret([lines, spans.map(({ attributes, events, name }) => [name, [...attributes], events.map(String)])])
  })
