/**
 * One of the processes that spend from one account. It notes every call before it makes it and after it has ended, so that
 * of one that is killed it is known what was under way.
 */
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import * as Spend from "@postwire/core/spend/Spend"
import * as NodeCrypto from "@postwire/node/NodeCrypto"
import * as SqliteSpendStore from "@postwire/node/SqliteSpendStore"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import { Effect, Layer } from "effect"
import { openSync, readFileSync, writeSync } from "node:fs"
import { type Call, draw, randomOf, run } from "./PaidCalls.ts"
import type { Noted, Order } from "./Spenders.ts"

const order: Order = JSON.parse(readFileSync(process.argv[2]!, "utf8"))
const { atOnce, baseUrl, calls, label, limit, log, owner, own, scene, seed, store } = order

const notes = openSync(log, "a")
const note = (noted: Noted): void => void writeSync(notes, `${JSON.stringify(noted)}\n`)

const bill = Spend.layer({ appOwner: scene.owner, ...limit !== undefined && { spendLimit: { perDay: limit } } }).pipe(
  Layer.provide(SqliteSpendStore.layer({ path: store }))
)
const clientOf = (secrets: Credentials.Settings) =>
  // Near a limit a call waits for what others have reserved, also for those that were killed.
  Client.layer({ baseUrl, retries: 0, ...limit !== undefined && { timeout: { total: 3_000 } } }).pipe(
    Layer.provide([Credentials.layer(secrets), NodeCrypto.layer, http, bill])
  )
const http = UndiciHttpClient.layer()

const random = randomOf(seed)
let number = 0

await Effect.gen(function*() {
  const [asOwn, asOwner] = yield* Effect.all([Layer.build(clientOf(own)), Layer.build(clientOf(owner))])
  const make = (call: Call) => Effect.provide(run(call), call.isOwner === true ? asOwner : asOwn)
  yield* Effect.all(
    Array.from({ length: atOnce }, (_, i) =>
      Effect.gen(function*() {
        while (number < calls) {
          const id = ++number
          // Of one write at a time it can be told what became of it.
          const call = draw(random, scene, `${label}-${id}`, i === 0)
          note({ id, call })
          const made = yield* Effect.exit(make(call))
          const error = made._tag === "Success" ? undefined : made.cause.reasons[0]
          const ended = error === undefined ? "ok" : error._tag === "Fail" ? error.error._tag : error._tag
          note({ id, ended })
        }
      })),
    { concurrency: "unbounded" }
  )
}).pipe(Effect.scoped, Effect.runPromise)
