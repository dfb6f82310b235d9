/** The connections of a client: consumers of the same stream share one. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { Client } from "../../client/Client.ts"
import * as Quota from "../../schema/Quota.ts"
import type { ResumeFrom } from "../StreamOptions.ts"
import { Connects } from "./backoff.ts"
import type { Consumer } from "./consumer.ts"
import * as SharedConnection from "./sharedConnection.ts"

interface Shared {
  readonly hub: SharedConnection.SharedConnection
  fiber: Fiber.Fiber<void> | undefined
  /** Is done when the connection is closed. */
  readonly closed: Deferred.Deferred<void>
  isClosing: boolean
}

interface OfClient {
  readonly hubs: Map<string, Shared>
  /** By operation. A later hub has it as well. */
  readonly pasts: Map<string, SharedConnection.Past>
}

const clients = new WeakMap<Client["Service"], OfClient>()

const ofClient = (client: Client["Service"]): OfClient => {
  let known = clients.get(client)
  if (known === undefined) clients.set(client, known = { hubs: new Map(), pasts: new Map() })
  return known
}

const pastOf = ({ pasts }: OfClient, { limits, name }: SharedConnection.Terms["definition"]): SharedConnection.Past => {
  let known = pasts.get(name)
  if (known === undefined) {
    pasts.set(name, known = { connects: new Connects(Quota.of(limits, "app").perWindow), ended: [] })
  }
  return known
}

/** Adds a consumer to the connection with these terms, which is made where there is none, and closed when the last one has left. */
export const join = (
  terms: SharedConnection.Terms,
  consumer: Consumer,
  resumeFrom: ResumeFrom | undefined
): Effect.Effect<SharedConnection.SharedConnection, never, Client | Scope.Scope> =>
  Effect.flatMap(Client, (client) => {
    const own = ofClient(client)
    const { hubs } = own
    const key = keyOf(terms)
    const enter: Effect.Effect<Shared, never, Client> = Effect.suspend(() => {
      const known = hubs.get(key)
      if (known?.isClosing === true) {
        return Effect.andThen(Effect.interruptible(Deferred.await(known.closed)), enter)
      }
      if (known === undefined) {
        const made = SharedConnection.make(terms, pastOf(own, terms.definition), resumeFrom)
        return Effect.flatMap(made, (hub) => begin(hubs, key, hub))
      }
      return Effect.succeed(known)
    })
    const entered = Effect.map(enter, (shared) => {
      shared.hub.join(consumer, resumeFrom)
      return shared
    })
    const left = (shared: Shared) =>
      Effect.suspend(() => {
        shared.hub.leave(consumer)
        if (shared.hub.consumers > 0 || shared.fiber === undefined) return Effect.void
        shared.isClosing = true
        return Fiber.interrupt(shared.fiber)
      })
    return Effect.map(Effect.acquireRelease(entered, left), ({ hub }) => hub)
  })

const begin = (
  hubs: Map<string, Shared>,
  key: string,
  hub: SharedConnection.SharedConnection
): Effect.Effect<Shared, never, Client> =>
  Effect.gen(function*() {
    const closed = yield* Deferred.make<void>()
    const shared: Shared = { hub, fiber: undefined, closed, isClosing: false }
    hubs.set(key, shared)
    const others = () =>
      [...hubs.values()].flatMap(({ hub: { connectedAt, terms } }) =>
        hub.terms !== terms && connectedAt !== undefined && isSameEndpoint(terms, hub.terms) ? [connectedAt] : []
      )
    const kept = Effect.onExit(Effect.interruptible(hub.run(others)), (exit) => {
      hubs.delete(key)
      hub.end(exit)
      return Deferred.succeed(closed, undefined)
    })
    shared.fiber = yield* Effect.forkDetach(Effect.ignoreCause(kept))
    return shared
  })

const isSameEndpoint = (one: SharedConnection.Terms, other: SharedConnection.Terms): boolean =>
  one.definition.live.endpoint === other.definition.live.endpoint

/** Everything that a connection depends on. */
const keyOf = ({ definition, duplicates, parameters, recover, reconnects, silence }: SharedConnection.Terms): string =>
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
