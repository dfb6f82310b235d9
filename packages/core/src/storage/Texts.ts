/**
 * Texts by name, with a lock for each: the contract of token stores and journals. `fromStorage` makes them of a `Storage`;
 * `@postwire/node` keeps them in files.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { StorageFailure } from "../errors/StorageErrors.ts"
import type { Storage, StorageUnavailable } from "./Storage.ts"

/** Texts with a lock each. */
export interface Texts {
  /** The text of a name, or `undefined`. */
  readonly read: (name: string) => Effect.Effect<string | undefined, StorageFailure>
  /**
   * Replaces the whole text of a name, or removes it with `undefined`. The change is durable when this ends. Waits while another
   * client has the lock, and fails if this client has lost its lock: another may have written a newer text.
   */
  readonly write: (name: string, text: string | undefined) => Effect.Effect<void, StorageFailure>
  /**
   * Holds the lock of a name until the scope ends. It excludes all other fibers and processes. A process that ends without
   * releasing it loses it soon. Waits at most half a minute for it, in memory without limit.
   */
  readonly lock: (name: string) => Effect.Effect<void, StorageFailure, Scope.Scope>
  /** The location of a text, for messages: a path, or an address without its password. */
  readonly describe: (name: string) => string
}

/** Texts whose names can be listed. */
export interface ListedTexts extends Texts {
  /** The names that have a text, sorted. */
  readonly names: Effect.Effect<ReadonlyArray<string>, StorageFailure>
}

/** The steps of a backend. */
export interface Backend<Lock> extends Pick<Texts, "read" | "describe"> {
  readonly kind: StorageFailure["kind"]
  /** Acquires a free lock until the scope ends. Returns `undefined` if another client has it. */
  readonly acquire: (name: string) => Effect.Effect<Lock | undefined, StorageFailure, Scope.Scope>
  /** Writes as the holder of the lock, or fails if that is lost. */
  readonly write: (name: string, text: string | undefined, lock: Lock) => Effect.Effect<void, StorageFailure>
}

/** The longest wait for a lock. */
const lockTimeoutMillis = 30_000

const betweenAttemptsMillis = 20

/** Locks by name among the fibers of this process, which wait for them as long as it takes. */
const makeTurns = () => {
  const turns = new Map<string, { readonly turn: Semaphore.Semaphore; users: number }>()
  return Effect.fnUntraced(function*(name: string) {
    const queue = turns.get(name) ?? { turn: Semaphore.makeUnsafe(1), users: 0 }
    turns.set(name, queue)
    queue.users++
    yield* Effect.addFinalizer(() => Effect.sync(() => --queue.users === 0 && turns.delete(name)))
    yield* Semaphore.takeScoped(queue.turn, 1)
  })
}

/** Texts of a backend. Only one fiber of a client at a time requests the lock of a name. */
export const make = <Lock extends {}>({ acquire, describe, kind, read, write }: Backend<Lock>): Texts => {
  const held = new Map<string, Lock>()
  const takeTurn = makeTurns()
  const lock = (name: string) =>
    Effect.timeoutOrElse(
      Effect.gen(function*() {
        yield* takeTurn(name)
        let own: Lock | undefined
        while ((own = yield* acquire(name)) === undefined) yield* Effect.sleep(betweenAttemptsMillis)
        const lock = own
        // Uninterruptible, so that no lock is listed as held after its scope has ended.
        yield* Effect.acquireRelease(
          Effect.sync(() => held.set(name, lock)),
          () => Effect.sync(() => held.delete(name))
        )
      }),
      {
        duration: lockTimeoutMillis,
        orElse: () =>
          Effect.fail(
            new StorageFailure({
              kind,
              place: describe(name),
              action: "lock",
              fault: "locked",
              detail: `for ${lockTimeoutMillis / 1000} s`
            })
          )
      }
    )
  const writeHeld = (name: string, text: string | undefined): Effect.Effect<void, StorageFailure> =>
    Effect.suspend(() => {
      const own = held.get(name)
      return own === undefined
        ? Effect.scoped(Effect.andThen(lock(name), writeHeld(name, text)))
        : write(name, text, own)
    })
  return { read, write: writeHeld, lock, describe }
}

/** Texts in memory, with initial ones. The holder of a lock cannot be dead, so that the wait for it has no limit. */
export const makeMemory = (initial: Readonly<Record<string, string>> = {}): ListedTexts => {
  const texts = new Map(Object.entries(initial))
  return {
    describe: () => "in memory",
    read: (name) => Effect.sync(() => texts.get(name)),
    write: (name, text) => Effect.sync(() => void (text === undefined ? texts.delete(name) : texts.set(name, text))),
    lock: makeTurns(),
    names: Effect.sync(() => [...texts.keys()].sort())
  }
}

/** The time after which a holder that does not renew its lock loses it. Shorter than the longest wait for a lock. */
const defaultLeaseMillis = 10_000

/** An idle connection is often broken: the next one works. */
const again = /*#__PURE__*/ Schedule.upTo(/*#__PURE__*/ Schedule.spaced(100), { times: 2 })

/** Retries a write for longer: an unwritten refresh token is lost, since the previous one cannot be used again. */
const insistently = /*#__PURE__*/ Schedule.upTo(/*#__PURE__*/ Schedule.spaced(250), { duration: 10_000 })

/**
 * The texts of a token store in a storage. A lock is a text beside: its holder, the time of its renewal, and its lease. A write
 * checks in the same step that its lock still has the same holder, so that a late one never replaces a newer text.
 */
export const fromStorage = (
  storage: Storage,
  { lease = defaultLeaseMillis, place }: { readonly place: string; readonly lease?: number | undefined }
): ListedTexts => {
  const kind = "token store"
  const describe = (name: string) => `account ${name} in ${place}`
  const step = <A>(
    place: string,
    action: StorageFailure["action"],
    step: Effect.Effect<A, StorageUnavailable>,
    schedule: Schedule.Schedule<unknown> = again
  ) =>
    Effect.mapError(
      Effect.retry(step, { schedule, while: ({ fault }) => fault === undefined }),
      ({ fault = "unavailable", reason }) => new StorageFailure({ kind, place, action, fault, detail: reason })
    )
  /** Changes a lock, if it is of this holder or, for a new holder, free. */
  const changeLock = (name: string, holder: string, change: "acquire" | "renew" | "release") =>
    storage.modify({ texts: [lockKey(name)] }, ({ now, texts: [lock] }) => {
      const isOurs = holderOf(lock) === holder
      return isOurs || (change === "acquire" && isFree(lock, now))
        ? { result: true, texts: [change === "release" ? "" : `${holder} ${now} ${lease}`] }
        : { result: false }
    })
  const texts = make<string>({
    kind,
    describe,
    read: (name) => Effect.map(step(describe(name), "read", storage.get([textKey(name)])), ({ texts: [text] }) => text),
    acquire: (name) =>
      Effect.uninterruptibleMask(Effect.fnUntraced(function*(restore) {
        const holder = globalThis.crypto.randomUUID()
        const release = Effect.ignore(changeLock(name, holder, "release"))
        const isAcquired = yield* restore(step(describe(name), "lock", changeLock(name, holder, "acquire"))).pipe(
          // It may have been acquired all the same.
          Effect.onError(() => release)
        )
        if (!isAcquired) return undefined
        yield* Effect.addFinalizer(() => release)
        const renew = Effect.andThen(Effect.sleep(lease / 5), Effect.ignore(changeLock(name, holder, "renew")))
        yield* Effect.forkScoped(restore(Effect.forever(renew)))
        return holder
      })),
    write: (name, text, holder) => {
      const write = storage.modify(
        { texts: [lockKey(name), textKey(name)] },
        ({ texts: [lock] }) =>
          holderOf(lock) === holder ? { result: true, texts: [undefined, text ?? ""] } : { result: false }
      )
      return Effect.flatMap(
        step(describe(name), "write", write, insistently),
        (isWritten) =>
          isWritten ? Effect.void : Effect.fail(
            new StorageFailure({
              kind,
              place: describe(name),
              action: "write",
              fault: "locked",
              detail: `our lock lapsed after ${lease / 1000} s without news of us, and another may have it`
            })
          )
      )
    }
  })
  return {
    ...texts,
    names: Effect.map(
      step(place, "read", storage.keys(prefix)),
      (keys) => keys.map((key) => key.slice(prefix.length, -1)).sort()
    )
  }
}

const prefix = "account:{"

const textKey = (name: string) => `${prefix}${name}}`

const lockKey = (name: string) => `lock:{${name}}`

const holderOf = (lock: string | undefined) => lock?.split(" ")[0]

/** Free if it has no holder, or was not renewed in time. A time in the future was written before the clock was set back. */
const isFree = (lock: string | undefined, now: number): boolean => {
  const [, renewed, lease] = lock?.split(" ") ?? []
  return lock === undefined || Math.abs(now - Number(renewed)) > Number(lease)
}
