/** Processes that share an account whose tokens expire: a refresh token can be used once. */
import { createPost } from "@postwire/core/operations/Posts"
import * as Texts from "@postwire/core/storage/Texts"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { HttpClient, HttpClientError } from "effect/http"
import * as Schedule from "effect/Schedule"
import * as Grants from "../../../packages/core/test/support/Grants.ts"
import * as Files from "./Files.ts"
import type { Place, Scenario, Subject } from "./Schedule.ts"
import type { Process } from "./World.ts"

const processes = 3
const rounds = 3

/** The lease of a lock. */
const leaseMillis = 10_000

/** The service as a process reaches it: a request for tokens may be lost, or its answer. */
const connected = ({ draw, faults, world }: Place, http: HttpClient.HttpClient, actor: Process, onLate: () => void) =>
  HttpClient.transform(http, (response, request) =>
    Effect.suspend(() => {
      const travel = Effect.suspend(() => Effect.sleep(1 + draw.below(50)))
      const fate = faults.at(actor)
      const isCut = request.url.endsWith("/token") && faults.total > 0 && draw.chance(0.05)
      const lost = Effect.suspend(() =>
        Effect.fail(
          new HttpClientError.HttpClientError({
            reason: new HttpClientError.TransportError({
              request,
              cause: Object.assign(new Error("ECONNRESET"), { code: "ECONNRESET" })
            })
          })
        )
      )
      if (!actor.isAlive && fate === "swallowed") return Effect.never
      const left = world.now
      // Nothing but the service can refuse a request that arrives when another process has the lock.
      const arrived = Effect.sync(() => {
        if (request.url.endsWith("/token") && world.now - left > leaseMillis / 2) onLate()
      })
      return Effect.andThen(travel, arrived).pipe(
        Effect.andThen(response),
        Effect.tap(travel),
        Effect.tap(isCut ? lost : Effect.void)
      )
    }))

const prepare = async (place: Place): Promise<Scenario> => {
  const { database, draw, faults, kind, world } = place
  const grants = await Effect.runPromise(Effect.provideService(Grants.make(), Clock.Clock, world.process().clock))
  const files = new Files.Files(place)
  const storeOf = (actor: Process): Texts.ListedTexts =>
    kind === "sqlite"
      ? files.texts(actor, "token store")
      : Texts.fromStorage(database.storage(actor, kind), { place: kind })
  await Effect.runPromise(Effect.flatMap(grants.store.read("ada"), (text = "") =>
    Effect.sync(() => {
      files.put("ada", text)
      database.write({ texts: [`${kind === "redis" ? "postwire:" : ""}account:{ada}`] }, [text])
      database.forget()
    })))
  const failed: Array<string> = []
  let noticed = 0
  let late = 0
  const call = createPost({ text: "a", user_auth: false })
  return {
    processes,
    main: (actor) =>
      Effect.gen(function*() {
        for (let round = 0; round < rounds; round++) {
          yield* Effect.sleep(Grants.lifeMillis - 120_000 + draw.below(200_000))
          if (round === rounds - 1) faults.stop()
          yield* call.pipe(
            Effect.retry({
              schedule: Schedule.upTo(Schedule.spaced(5_000), { times: 40 }),
              while: ({ _tag }) => _tag !== "LoginRequired"
            }),
            Effect.catch((error) =>
              Effect.sync(() => {
                if (error._tag === "LoginRequired") noticed++
                failed.push(`${error._tag}: ${error.message}`)
              })
            )
          )
        }
      }).pipe(
        Effect.provide(
          grants.layer({ store: storeOf(actor), http: connected(place, grants.http, actor, () => void late++) })
        )
      ),
    broken: () => {
      const isSafe = faults.loss === "nothing" && late === 0
      return [
        ...isSafe && grants.state.reuses > 0 ? [`${grants.state.reuses} tokens were used again`] : [],
        ...isSafe ? failed.slice(0, 3) : failed.filter((text) => !text.startsWith("LoginRequired"))
      ]
    },
    lost: () => noticed > 0 ? "noticed" : grants.state.isRevoked ? "unnoticed" : "nothing"
  }
}

export const subject: Subject = {
  name: "token refresh",
  holds:
    "no refresh token is used in a way that kills the login, unless its request leaves after a pause longer than the lease, and every process has tokens at the end",
  turns: true,
  loses: true,
  prepare
}
