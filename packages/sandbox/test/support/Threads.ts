/** Threads that are published to a sandbox in process, over a line on which anything may happen. */
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import type { InvalidSettings } from "@postwire/core/errors/Errors"
import { type Post, publish, type PublishOptions } from "@postwire/core/publishing/Publish"
import { publishThread, type ThreadOptions } from "@postwire/core/publishing/Thread"
import * as Monotonic from "@postwire/core/runtime/Monotonic"
import * as Journal from "@postwire/core/storage/Journal"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as Requests from "./Requests.ts"

/** What becomes of a request that creates a post. */
export type Fate =
  | "answered"
  /** It is done, and the answer is lost. */
  | "lost"
  /** Nothing of it leaves. */
  | "unsent"
  /** It is lost on its way. */
  | "vanished"
  /** The service fails, and does nothing. */
  | "failed"
  /** It fails after it has done it. */
  | "failed late"
  | "unreadable"
  /** It is done a while after the connection was lost. */
  | "late"
  | "limited"

/** The longest that a request that counts as lost takes to arrive, and a post to appear: less than what is waited for. */
const lateMillis = 20_000
export const longestLag = 30_000

/** A post as the service shows it. */
export interface Shown {
  readonly id: string
  readonly text: string
  readonly referenced_posts?: ReadonlyArray<{ readonly type: string; readonly id: string }>
  readonly entities?: { readonly urls?: ReadonlyArray<{ readonly url: string; readonly expanded_url: string }> }
}

/** A sandbox, and a line to it. */
export const make = Effect.fnUntraced(function*() {
  const bench = yield* Requests.make({ posts: 0 })
  const userId = bench.seeded.ada.id
  const state = {
    /** Of the next requests that create posts; after these, they are answered. */
    fates: new Array<Fate>(),
    /** How long a post takes to appear among those of its author, in milliseconds. */
    lag: 0,
    /** Whether the posts of an author can be read. */
    isReadable: true,
    /** How long a client waits for its credentials, as it would for a rate limit, in milliseconds. */
    wait: 0,
    /** Names of operations in their order, as `POST /2/posts`. */
    requests: new Array<string>()
  }
  const appeared = new Map<string, number>()

  const fail = (request: HttpClientRequest.HttpClientRequest, requestSent: boolean) =>
    Effect.fail(
      new HttpClientError.HttpClientError({
        reason: new HttpClientError.TransportError({
          request,
          cause: { phase: requestSent ? "headers" : "connect", requestSent, code: "ECONNRESET", message: "gone" }
        })
      })
    )
  const answer = (request: HttpClientRequest.HttpClientRequest, status: number, body: unknown) =>
    HttpClientResponse.fromWeb(
      request,
      new Response(typeof body === "string" ? body : JSON.stringify(body), { status })
    )

  const create = Effect.fnUntraced(function*(request: HttpClientRequest.HttpClientRequest) {
    const fate = state.fates.shift() ?? "answered"
    switch (fate) {
      case "unsent":
        return yield* fail(request, false)
      case "vanished":
        return yield* fail(request, true)
      case "failed":
        return answer(request, 503, "")
      case "limited":
        return answer(request, 429, { title: "Too Many Requests" })
      case "late":
        yield* Effect.forkDetach(Effect.andThen(Effect.sleep(lateMillis), Effect.ignore(done(request))))
        return yield* fail(request, true)
    }
    const response = yield* done(request)
    if (fate === "lost") return yield* fail(request, true)
    if (fate === "failed late") return answer(request, 503, "")
    return fate === "unreadable" && response.status === 201 ? answer(request, 201, "<html>") : response
  })

  const done = Effect.fnUntraced(function*(request: HttpClientRequest.HttpClientRequest) {
    const response = yield* bench.http.execute(request)
    const text = yield* response.text
    const { data }: { readonly data?: { readonly id: string } } = JSON.parse(text)
    if (data !== undefined) appeared.set(data.id, (yield* Monotonic.millis) + state.lag)
    return answer(request, response.status, text)
  })

  const list = Effect.fnUntraced(function*(request: HttpClientRequest.HttpClientRequest) {
    if (!state.isReadable) return answer(request, 403, { title: "Forbidden" })
    const response = yield* bench.http.execute(request)
    const now = yield* Monotonic.millis
    const body: { readonly data?: ReadonlyArray<Shown> } = JSON.parse(yield* response.text)
    const data = body.data?.filter(({ id }) => (appeared.get(id) ?? 0) <= now).map(asOfService)
    return answer(request, response.status, { ...body, data })
  })

  const http = HttpClient.make((request) => {
    const path = request.url.slice(bench.baseUrl.length).replace(/\?.*/s, "")
    state.requests.push(`${request.method} ${path}`)
    return request.method === "POST" && path === "/2/posts"
      ? create(request)
      : /^\/2\/users\/\d+\/posts$/.test(path)
      ? list(request)
      : bench.http.execute(request)
  })

  /** The latest posts of the author that are newer than one, the oldest first. */
  const posts = (since = "1") =>
    Effect.map(
      bench.request(
        "GET",
        `/2/users/${userId}/posts?max_results=100&post.fields=referenced_posts&since_id=${since}`,
        { as: bench.newcomer({ userId }) }
      ),
      ({ body }): ReadonlyArray<Shown> => (body.data ?? []).toReversed()
    )

  return { ...bench, userId, state, http, posts }
})

/** What `make` makes. */
export type Line = Effect.Success<ReturnType<typeof make>>

/** What services do to texts: links are shortened, and some characters are escaped. */
const asOfService = (post: Shown): Shown => {
  let text = post.text
  const urls = (post.entities?.urls ?? []).map(({ expanded_url, url }, i) => {
    const short = `https://t.co/${i}abcdefghi`
    text = text.replace(url, short)
    return { url: short, expanded_url, start: 0, end: 0 }
  })
  text = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
  return { ...post, text, ...(post.entities && { entities: { ...post.entities, urls } }) }
}

/** A process that publishes, with the journal of all. It can be killed: then nothing that it does has an effect any more. */
export const start = Effect.fnUntraced(function*(
  line: Line,
  journal: Journal.Entries,
  credentials: Layer.Layer<Credentials.Credentials, InvalidSettings> = Credentials.layer(line.secrets)
) {
  let isAlive = true
  const scope = yield* Scope.make()
  const locks = new Set<Scope.Closeable>()
  /** What was begun goes on, but a dead process neither begins anything nor hears of its end. */
  const alive = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => isAlive ? Effect.onExit(effect, () => isAlive ? Effect.void : Effect.never) : Effect.never)
  const slow = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    alive(Effect.sleep(5)).pipe(Effect.andThen(alive(effect)), Effect.tap(() => alive(Effect.sleep(5))))
  const entries: Journal.Entries = {
    ...journal,
    read: (key) => slow(journal.read(key)),
    write: (key, text) => slow(journal.write(key, text)),
    lock: (key) =>
      alive(Effect.gen(function*() {
        const lock = yield* Scope.make()
        locks.add(lock)
        yield* Effect.addFinalizer(() => Scope.close(lock, Exit.void))
        yield* Scope.provide(journal.lock(key), lock)
      }))
  }
  const http = HttpClient.make((request) =>
    Effect.gen(function*() {
      yield* alive(Effect.sleep(10))
      // What has left is done, whatever becomes of who sent it.
      const answered = yield* Deferred.make<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>()
      yield* Effect.forkDetach(Deferred.completeWith(answered, line.http.execute(request)))
      return yield* Effect.tap(alive(Deferred.await(answered)), () => alive(Effect.sleep(10)))
    })
  )
  const client = yield* Layer.buildWithScope(
    Client.layer({ baseUrl: line.sandbox.baseUrl }).pipe(
      Layer.provide([
        Layer.effect(
          Credentials.Credentials,
          Effect.map(Credentials.Credentials, (given) => ({
            ...given,
            current: Effect.suspend(() => Effect.andThen(Effect.sleep(line.state.wait), given.current))
          }))
        ).pipe(Layer.provide(credentials)),
        Layer.succeed(HttpClient.HttpClient, http)
      ])
    ),
    scope
  )
  return {
    publishPost: (post: Post, options?: PublishOptions) => Effect.provideContext(publish(post, options), client),
    publish: (posts: ReadonlyArray<Post>, options: ThreadOptions) =>
      publishThread(posts, options).pipe(
        Effect.provideContext(client),
        Effect.provideService(Journal.Journal, entries)
      ),
    kill: Effect.suspend(() => {
      isAlive = false
      return Effect.forEach(locks, (lock) => Scope.close(lock, Exit.void), { discard: true })
    })
  }
})

/** Runs an effect to its end, however long that is. */
export const toEnd = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(Effect.exit(effect))
    while (fiber.pollUnsafe() === undefined) yield* Effect.andThen(Effect.yieldNow, TestClock.adjust(1_000))
    return yield* yield* Fiber.join(fiber)
  })
