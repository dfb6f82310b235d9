/**
 * A database that processes reach over a network: SQLite's file, Redis and PostgreSQL as far as storages use them. It can lose what
 * it acknowledged, and answers in time, late or never.
 */
import { type Snapshot, type Storage, StorageUnavailable, type Target } from "@postwire/core/storage/Storage"
import * as Effect from "effect/Effect"
import type * as RedisConnection from "../../../packages/node/src/internal/redisConnection.ts"
import * as RedisStorage from "../../../packages/node/src/internal/redisStorage.ts"
import type { Faults, Loss } from "./Faults.ts"
import { epoch, type Process, type World } from "./World.ts"

/** A client gives up a step of a database after this time, as the real ones do. */
const stepTimeoutMillis = 2_000

/** PostgreSQL ends a transaction whose client is silent for so long. */
const idleTimeoutMillis = 4_000

/** The kinds of storages. */
export const kinds = ["sqlite", "redis", "postgres"] as const

export type Kind = (typeof kinds)[number]

interface Transaction {
  readonly key: string
  isOpen: boolean
}

/** A database. */
export class Database {
  offset = 0
  readonly #world: World
  readonly #faults: Faults
  readonly #texts = new Map<string, string>()
  readonly #members = new Map<string, Set<string>>()
  readonly #undo: Array<{ readonly at: number; readonly undo: () => void }> = []
  readonly #locks = new Map<string, Transaction>()
  readonly #waiting = new Map<string, Array<{ readonly transaction: Transaction; readonly granted: () => void }>>()

  constructor(world: World, faults: Faults) {
    this.#world = world
    this.#faults = faults
  }

  get now(): number {
    return Math.floor(epoch + this.#world.now + this.offset)
  }

  /** Notes how to undo a change, which a failover or a snapshot may do. */
  changed(undo: () => void): void {
    this.#undo.push({ at: this.#world.now, undo })
  }

  /** Makes all writes so far safe from a loss. */
  forget(): void {
    this.#undo.length = 0
  }

  lose(loss: Loss): void {
    const { draw, now } = this.#world
    const since = now - (loss === "failover" ? 50 + draw.below(1_000) : draw.below(Math.ceil(now) + 1))
    while (this.#undo.length > 0 && this.#undo.at(-1)!.at >= since) this.#undo.pop()?.undo()
    for (const transaction of this.#locks.values()) this.#end(transaction)
  }

  /** Sends a request, which the database serves when it arrives. */
  ask<A>(actor: Process, serve: (reply: (answer: A) => void) => void): Effect.Effect<A, StorageUnavailable> {
    const { draw } = this.#world
    return Effect.timeoutOrElse(
      Effect.callback<A, StorageUnavailable>((resume) => {
        const fate = this.#faults.at(actor, this)
        const travel = () => draw.chance(0.02) ? draw.below(300) : draw.below(4)
        const arrive = () =>
          serve((answer) => {
            if (fate === "unanswered" || fate === "late") return
            actor.after(travel(), () =>
              resume(
                fate === "cut"
                  ? Effect.fail(new StorageUnavailable({ reason: "the connection was cut" }))
                  : Effect.succeed(answer)
              ))
          })
        if (fate === "swallowed") return
        const there = fate === "late" ? 1_000 + draw.below(20_000) : travel()
        const send = () => this.#world.at(this.#world.now + there, arrive)
        // A message of a paused process leaves either before or after the pause.
        if (actor.isPaused && draw.chance(0.5)) actor.after(0, send)
        else send()
      }),
      {
        duration: stepTimeoutMillis,
        orElse: () => Effect.fail(new StorageUnavailable({ reason: "it takes too long" }))
      }
    )
  }

  /** A storage of this database, as a process has it. */
  storage(actor: Process, kind: Kind): Storage {
    return kind === "redis"
      ? RedisStorage.make(this.#evaluator(actor))
      : kind === "postgres"
      ? this.#postgres(actor)
      : this.#file(actor)
  }

  snapshot(keys: ReadonlyArray<string>): Snapshot {
    return { texts: keys.map((key) => this.#texts.get(key)), now: this.now }
  }

  absent(key: string, members: Iterable<string>): ReadonlySet<string> {
    const held = this.#members.get(key)
    return new Set([...members].filter((member) => held?.has(member) !== true))
  }

  keys(prefix: string): ReadonlyArray<string> {
    return [...this.#texts.keys()].filter((key) => key.startsWith(prefix))
  }

  #put(key: string, text: string): void {
    const before = this.#texts.get(key)
    this.changed(() => before === undefined ? this.#texts.delete(key) : this.#texts.set(key, before))
    if (text === "") this.#texts.delete(key)
    else this.#texts.set(key, text)
  }

  write(target: Target, texts: ReadonlyArray<string | undefined>): void {
    target.texts.forEach((key, index) => {
      const text = texts[index]
      if (text !== undefined) this.#put(key, text)
    })
    for (const { key, members } of target.sets ?? []) {
      const held = this.#members.get(key) ?? new Set()
      this.#members.set(key, held)
      for (const member of members) {
        if (held.has(member)) continue
        held.add(member)
        this.changed(() => held.delete(member))
      }
    }
  }

  /** A file on the machine of all processes: a step takes a moment, and is done or not. */
  #file(actor: Process): Storage {
    const local = <A>(step: () => A) =>
      Effect.callback<A>((resume) => {
        if (this.#faults.at(actor) === "swallowed" && !actor.isAlive) return
        actor.after(this.#world.draw.below(3), () => resume(Effect.sync(step)))
      })
    return {
      get: (keys) => local(() => this.snapshot(keys)),
      keys: (prefix) => local(() => this.keys(prefix)),
      modify: (target, f) =>
        local(() => {
          const absent = (target.sets ?? []).map(({ key, members }) => this.absent(key, members))
          const step = f({ ...this.snapshot(target.texts), absent })
          if (step.texts !== undefined) this.write(target, step.texts)
          return step.result
        })
    }
  }

  /** Redis, whose scripts the real storage sends. */
  #evaluator(actor: Process): RedisConnection.Evaluate {
    const serve = (lua: string, values: ReadonlyArray<string | number>, count: number): unknown => {
      if (lua.includes("SCAN")) return this.keys(String(values[0]).slice(0, -1))
      const keys = values.slice(0, count).map(String)
      const [texts = 0, ...rest] = values.slice(count)
      const names = keys.slice(0, Number(texts))
      const sets = (from: number) => {
        let at = from
        return keys.slice(Number(texts)).map((key) => {
          const members = rest.slice(at + 1, at + 1 + Number(rest[at])).map(String)
          at += members.length + 1
          return { key, members }
        })
      }
      if (lua.includes("SISMEMBER")) {
        const absent = sets(0).map(({ key, members }) => [...this.absent(key, members)])
        return [String(this.now), names.map((key) => this.#texts.get(key) ?? null), absent]
      }
      if (names.some((key, index) => (this.#texts.get(key) ?? "") !== rest[index])) return 0
      const changes = rest.slice(names.length, 2 * names.length).map(String)
      this.write(
        { texts: names, sets: sets(2 * names.length) },
        changes.map((change) => change === "" ? undefined : change.slice(1))
      )
      return 1
    }
    return ({ lua, numberOfKeys, params }) => (...values) =>
      // The type of an answer is that of its script.
      this.ask<never>(actor, (reply) =>
        reply(
          serve(
            lua,
            params(...values),
            typeof numberOfKeys === "number" ? numberOfKeys : numberOfKeys(...values)
          ) as never
        ))
  }

  /** PostgreSQL: a transaction with a lock, the texts, and a commit, each a round trip. */
  #postgres(actor: Process): Storage {
    return {
      get: (keys) => this.ask(actor, (reply) => reply(this.snapshot(keys))),
      keys: (prefix) => this.ask(actor, (reply) => reply(this.keys(prefix))),
      modify: (target, f) =>
        Effect.suspend(() => {
          const transaction: Transaction = { key: target.texts[0] ?? "", isOpen: true }
          actor.onKill.push(() => this.#world.at(this.#world.now + 1, () => this.#end(transaction)))
          const begun = this.ask<Snapshot & { readonly absent: ReadonlyArray<ReadonlySet<string>> }>(actor, (reply) =>
            this.#lock(transaction, () =>
              reply({
                ...this.snapshot(target.texts),
                absent: (target.sets ?? []).map(({ key, members }) =>
                  this.absent(key, members)
                )
              })))
          return Effect.flatMap(begun, (before) => {
            const step = f(before)
            const commit = this.ask<boolean>(actor, (reply) => {
              const isCommitted = transaction.isOpen
              if (isCommitted && step.texts !== undefined) this.write(target, step.texts)
              this.#end(transaction)
              reply(isCommitted)
            })
            return Effect.flatMap(commit, (isCommitted) =>
              isCommitted
                ? Effect.succeed(step.result)
                : Effect.fail(new StorageUnavailable({ reason: "the transaction was ended" })))
          })
        })
    }
  }

  #lock(transaction: Transaction, granted: () => void): void {
    const holder = this.#locks.get(transaction.key)
    if (!transaction.isOpen) return
    if (holder !== undefined) {
      const line = this.#waiting.get(transaction.key) ?? []
      this.#waiting.set(transaction.key, line)
      line.push({ transaction, granted })
      // The client cancels a statement that it has given up.
      this.#world.at(this.#world.now + stepTimeoutMillis, () => {
        const index = line.findIndex((waiting) => waiting.transaction === transaction)
        if (index !== -1) line.splice(index, 1)
      })
      return
    }
    this.#locks.set(transaction.key, transaction)
    this.#world.at(this.#world.now + idleTimeoutMillis, () => this.#end(transaction))
    granted()
  }

  #end(transaction: Transaction): void {
    transaction.isOpen = false
    if (this.#locks.get(transaction.key) !== transaction) return
    this.#locks.delete(transaction.key)
    const next = this.#waiting.get(transaction.key)?.shift()
    if (next !== undefined) this.#lock(next.transaction, next.granted)
  }
}
