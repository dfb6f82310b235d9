/** The connections of a client. Consumers of the same stream with the same settings share one. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { Client } from "../../client/Client.ts"
import * as Quota from "../../schema/Quota.ts"
import type { ResumeFrom } from "../StreamOptions.ts"
import { Connects } from "./backoff.ts"
import { StreamClock } from "./clock.ts"
import type { Consumer, Settings } from "./consumer.ts"
import { type ConnectionSettings, type History, SharedConnection } from "./sharedConnection.ts"

interface Shared {
  readonly connection: SharedConnection
  readonly fiber: Fiber.Fiber<void>
  isClosing: boolean
}

class ConnectionPool {
  readonly #shared = new Map<string, Shared>()
  /** By operation. */
  readonly #histories = new Map<string, History>()

  /** The connection with these terms, which is made if there is none. */
  get(terms: ConnectionSettings, resumeFrom: ResumeFrom | undefined): Effect.Effect<Shared, never, Client> {
    const key = keyOf(terms)
    return Effect.suspend(() => {
      const known = this.#shared.get(key)
      if (known === undefined) return this.#open(key, terms, resumeFrom)
      return known.isClosing
        ? Effect.andThen(Effect.interruptible(Fiber.await(known.fiber)), this.get(terms, resumeFrom))
        : Effect.succeed(known)
    })
  }

  #open = Effect.fnUntraced(
    function*(this: ConnectionPool, key: string, terms: ConnectionSettings, resumeFrom: ResumeFrom | undefined) {
      const clock = new StreamClock(yield* Clock.Clock)
      const connection = new SharedConnection(terms, clock, this.#historyOf(terms), resumeFrom)
      const run = Effect.onExit(
        Effect.interruptible(connection.run(() => this.#others(terms))),
        (exit) =>
          Effect.sync(() => {
            this.#shared.delete(key)
            connection.end(exit)
          })
      )
      const fiber = yield* Effect.forkDetach(Effect.ignoreCause(run))
      const shared: Shared = { connection, fiber, isClosing: false }
      this.#shared.set(key, shared)
      return shared
    }
  )

  /** When the client's other connections to the same endpoint were made. */
  #others(terms: ConnectionSettings): ReadonlyArray<number> {
    return [...this.#shared.values()].flatMap(({ connection: { connectedAt, terms: other } }) =>
      other !== terms && connectedAt !== undefined && other.definition.live.endpoint === terms.definition.live.endpoint
        ? [connectedAt]
        : []
    )
  }

  #historyOf({ definition: { limits, name } }: ConnectionSettings): History {
    let known = this.#histories.get(name)
    if (known === undefined) {
      known = { connects: new Connects(Quota.of(limits, "app").perWindow), ended: [] }
      this.#histories.set(name, known)
    }
    return known
  }
}

const pools = new WeakMap<Client["Service"], ConnectionPool>()

/** Adds a consumer to the connection with these terms. The connection is closed when its last consumer has left. */
export const join = (
  terms: ConnectionSettings,
  settings: Settings,
  resumeFrom: ResumeFrom | undefined
): Effect.Effect<Consumer, never, Client | Scope.Scope> =>
  Effect.flatMap(Client, (client) => {
    let pool = pools.get(client)
    if (pool === undefined) pools.set(client, pool = new ConnectionPool())
    const joined = Effect.acquireRelease(
      Effect.map(pool.get(terms, resumeFrom), (shared) => ({
        consumer: shared.connection.join(settings, resumeFrom),
        shared
      })),
      ({ consumer, shared }) =>
        Effect.suspend(() => {
          shared.connection.leave(consumer)
          if (shared.connection.consumers > 0) return Effect.void
          shared.isClosing = true
          return Fiber.interrupt(shared.fiber)
        })
    )
    return Effect.map(joined, ({ consumer }) => consumer)
  })

/** Everything on which a connection depends. */
const keyOf = ({ definition, duplicates, parameters, recover, reconnects, silence }: ConnectionSettings): string =>
  JSON.stringify([
    definition.name,
    Object.entries(parameters).filter(([, value]) => value !== undefined).sort(([one], [other]) =>
      one < other ? -1 : 1
    ),
    recover,
    String(reconnects),
    silence,
    duplicates
  ])
