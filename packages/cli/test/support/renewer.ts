/**
 * One of the processes that share an account. It makes calls round by round, under a clock that it is told, and tells how they
 * ended.
 */
import * as AccountCredentials from "@postwire/core/accounts/AccountCredentials"
import * as Client from "@postwire/core/client/Client"
import { createPost } from "@postwire/core/operations/Posts"
import { getUsersPosts } from "@postwire/core/operations/Timelines"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Effect, Layer, Result } from "effect"
import { HttpClient } from "effect/http"
import { type StoreName, stores } from "./AccountStores.ts"
import type { Order, Told } from "./Renewals.ts"

const [baseUrl = "", account = "", user = "", store = "", place = "", label = ""] = process.argv.slice(2)

const tell = (told: Told) => process.send?.(told)

/** The clocks of the machine. */
const [now, elapsed] = [Date.now, performance.now.bind(performance)]
const setClocks = ({ aheadMillis, passedMillis }: Order) => {
  Date.now = () => now() + aheadMillis
  performance.now = () => elapsed() + passedMillis
}

/** Tells of requests for tokens, so that the process can be killed in the midst of one. */
const Telling = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.tapRequest(({ url }) => Effect.sync(() => url.endsWith("/oauth2/token") && tell({ _tag: "Renewing" })))
  )
).pipe(Layer.provide(UndiciHttpClient.layer()))

const AsAccount = Client.layer({ baseUrl }).pipe(
  Layer.provide(AccountCredentials.layer({ account, baseUrl })),
  Layer.provide([Telling, stores[store as StoreName](place)])
)

let posts = 0
const read = Effect.asVoid(getUsersPosts({ id: user, max_results: 5 }))
// Sent twice, it would be refused: nobody may say the same again.
const create = Effect.suspend(() => Effect.asVoid(createPost({ text: `${label} ${++posts}` })))

const round = Effect.fnUntraced(function*(reads: number, creates: number) {
  const calls = [...Array.from({ length: reads }, () => read), ...Array.from({ length: creates }, () => create)]
  const outcomes = yield* Effect.all(calls.map(Effect.result), { concurrency: "unbounded" })
  const failed = outcomes.flatMap((outcome) =>
    Result.isFailure(outcome) ? [`${outcome.failure._tag}: ${outcome.failure.message}`] : []
  )
  return { ok: outcomes.length - failed.length, failed }
})

/** What it was told last. */
const inbox = { order: undefined as Order | undefined, notice: () => {} }
process.on("message", (order: Order) => {
  inbox.order = order
  inbox.notice()
})
// Who is not wanted any more ends.
process.on("disconnect", () => process.exit())

await Effect.gen(function*() {
  while (inbox.order?.isLast !== true) {
    const { order } = inbox
    // No call is under way.
    if (order !== undefined) setClocks(order)
    if (order?.calls !== undefined) {
      const { creates, isOnce, reads } = order.calls
      tell({ _tag: "Round", order: order.number, ...(yield* round(reads, creates)) })
      if (isOnce !== true) {
        yield* Effect.sleep(50)
        continue
      }
    } else if (order !== undefined) tell({ _tag: "Paused", order: order.number })
    yield* Effect.promise(() =>
      new Promise<void>((resolve) => inbox.order === order ? inbox.notice = resolve : resolve())
    )
  }
}).pipe(Effect.provide(AsAccount), Effect.runPromise)
process.disconnect()
