/**
 * Deliveries in a storage, from their acknowledgement until they are handled. All processes that use the storage share them.
 *
 * Users are divided among lanes. A lane numbers its deliveries, and its text says which of them are left and which process handles
 * them. That process has a lease: if it is killed, another one takes over. All changes that a process makes to a lane are made in
 * order, and those that wait for each other are made together.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Storage from "../../storage/Storage.ts"

/** A delivery. */
export interface Item {
  /** Identifies it if it arrives again. */
  readonly id: string
  readonly user: string
  readonly text: string
  /** The parsed text, if it has just arrived. */
  readonly body?: object | undefined
}

/** What became of a delivery that arrived: it is stored, was stored before, or there is no room for it. */
export type Taken = "taken" | "duplicate" | "full"

/** A delivery that could not be handled. */
export interface Letter {
  readonly id: string
  /** When it was given up, in milliseconds. */
  readonly at: number
  readonly reason: string
  readonly text: string
}

/** Settings of a queue. */
export interface Settings<E> {
  readonly storage: Storage.Storage<E>
  readonly name: string
  readonly lease: number
  /** Reads the item of a stored text. */
  readonly read: (text: string) => Item
  /** Handles a delivery, or fails with the reason why it could not. */
  readonly handle: (item: Item) => Effect.Effect<void, string>
  readonly retry: Schedule.Schedule<unknown>
  /** Called with deliveries that are given up. */
  readonly onDead: (letter: Letter) => Effect.Effect<void>
}

/** A queue. */
export interface Queue<E> {
  /** Stores a delivery, unless it was stored in the last days. */
  readonly take: (item: Item) => Effect.Effect<Taken, E>
  readonly letters: Effect.Effect<ReadonlyArray<Letter>, E>
  /** Queues a delivery again that was given up; false if there is none. */
  readonly replay: (id: string) => Effect.Effect<boolean, E>
  /** Deletes a delivery that was given up; false if there is none. */
  readonly remove: (id: string) => Effect.Effect<boolean, E>
}

const laneCount = 16

/** The most deliveries of a lane. */
const mostWaiting = 50_000

/** The most deliveries of a lane in the memory of its process. */
const mostLoaded = 500

/** The most handlers that run at a time. */
const mostHandlers = 64

/** The most changes of a lane in one step. */
const mostTogether = 100

/** A delivery during which so many processes were killed is given up: it may be the reason. */
const mostDeaths = 10

/** How often to look for deliveries of other processes. */
const pollMillis = 500

/** The text of a lane. */
interface State {
  /** Deliveries before this one were handled. */
  readonly head: number
  /** The last delivery. */
  readonly tail: number
  readonly holder?: string | undefined
  /** The end of the holder's lease, by the storage's clock. */
  readonly until: number
  /** A delivery that was the first one when a lease expired, and how often it was. */
  readonly died?: readonly [number: number, times: number] | undefined
}

interface Append {
  readonly _tag: "Append"
  readonly item: Item
  readonly isReplay: boolean
  taken: Taken
  /** Its number, if it was stored. */
  number?: number | undefined
}

interface End {
  readonly _tag: "End"
  readonly number: number
  /** Given if the delivery was not handled. */
  readonly letter: Letter | undefined
}

/** A change of a lane. */
type Change =
  | Append
  | End
  /** Renews the lease, or takes an expired one. */
  | { readonly _tag: "Claim" }
  | { readonly _tag: "Release" }

interface Lane<E> {
  readonly key: string
  /** Its last known delivery. */
  tail: number
  /** While this process holds the lease. */
  session: Session | undefined
  isBusy: boolean
  waiting: Array<{ readonly change: Change; readonly done: Deferred.Deferred<void, E> }>
}

/** The time for which this process holds a lane. */
interface Session {
  readonly holder: string
  /** The last delivery that was read from the storage, or arrived here. */
  loaded: number
  isLoading: boolean
  /** The numbers of loaded deliveries that were not handled yet, in order. */
  readonly pending: Set<number>
  /** The loaded deliveries of each user. */
  readonly users: Map<string, Array<{ readonly number: number; readonly item: Item }>>
  /** A delivery that is given up. */
  readonly fatal: number | undefined
}

interface Outcome {
  readonly state: State
  /** Nothing was changed, since the lane has more deliveries than this process knows of, or no room for those that arrive. */
  readonly refused?: "behind" | "full"
  readonly isOurs: boolean
  readonly claimed: Session | undefined
}

/** Opens a queue. Deliveries are handled until the scope ends; `watches` if other processes may use the storage. */
export const open = Effect.fnUntraced(function*<E>(settings: Settings<E>, watches: boolean): Effect.fn.Return<
  Queue<E>,
  never,
  Scope.Scope
> {
  yield* Effect.addFinalizer(() => queue.release)
  // Ends all handlers at the same time, so that none begins while another one is waited for.
  const handlers = yield* Scope.fork(yield* Effect.scope, "parallel")
  const queue = new DeliveryQueue(settings, handlers)
  if (watches) yield* Effect.forkScoped(queue.watch)
  return queue
})

class DeliveryQueue<E> implements Queue<E> {
  readonly #settings: Settings<E>
  readonly #scope: Scope.Scope
  readonly #prefix: string
  readonly #lanes: ReadonlyArray<Lane<E>>
  readonly #gate = Semaphore.makeUnsafe(mostHandlers)
  /** Made late: some platforms have no randomness before the first request. */
  #owner: string | undefined
  #sessions = 0

  constructor(settings: Settings<E>, scope: Scope.Scope) {
    this.#settings = settings
    this.#scope = scope
    // The number goes up when the form of a lane changes: processes of two versions may share a storage.
    this.#prefix = `webhook:1:{${settings.name}}`
    this.#lanes = Array.from({ length: laneCount }, (_, index) => ({
      key: `${this.#prefix}:lane:${index}`,
      tail: 0,
      session: undefined,
      isBusy: false,
      waiting: []
    }))
  }

  take(item: Item): Effect.Effect<Taken, E> {
    return Effect.suspend(() => {
      const change: Append = { _tag: "Append", item, isReplay: false, taken: "taken" }
      return Effect.map(this.#commit(this.#laneOf(item.user), change), () => change.taken)
    })
  }

  get letters(): Effect.Effect<ReadonlyArray<Letter>, E> {
    const { storage } = this.#settings
    return storage.keys(this.#letterKey("")).pipe(
      Effect.flatMap((keys) => storage.get(keys)),
      Effect.map(({ texts }) =>
        texts.flatMap((text): ReadonlyArray<Letter> => text === undefined ? [] : [JSON.parse(text)])
          .sort((a, b) => a.at - b.at)
      )
    )
  }

  replay(id: string): Effect.Effect<boolean, E> {
    return Effect.flatMap(this.#settings.storage.get([this.#letterKey(id)]), ({ texts: [text] }) => {
      if (text === undefined) return Effect.succeed(false)
      const letter: Letter = JSON.parse(text)
      const item = this.#settings.read(letter.text)
      const change: Append = { _tag: "Append", item: { ...item, id }, isReplay: true, taken: "taken" }
      return Effect.map(this.#commit(this.#laneOf(item.user), change), () => change.taken === "taken")
    })
  }

  remove(id: string): Effect.Effect<boolean, E> {
    return this.#settings.storage.modify(
      { texts: [this.#letterKey(id)] },
      ({ texts: [text] }) => text === undefined ? { result: false } : { result: true, texts: [""] }
    )
  }

  /** Ends the leases of this process. */
  get release(): Effect.Effect<void> {
    return Effect.forEach(
      this.#lanes.filter(({ session }) => session !== undefined),
      (lane) => Effect.ignore(this.#commit(lane, { _tag: "Release" })),
      { discard: true }
    )
  }

  /** Looks for deliveries of other processes, and renews leases. */
  get watch(): Effect.Effect<never> {
    const { lease, storage } = this.#settings
    const look = Effect.flatMap(
      storage.get(this.#lanes.map(({ key }) => key)),
      ({ now, texts }) =>
        Effect.forEach(this.#lanes, (lane, index) => {
          const { head, holder, tail, until } = stateOf(texts[index])
          const isDue = lane.session === undefined
            ? head <= tail && until <= now
            : tail > lane.tail || holder !== lane.session.holder || until - now < lease / 2
          return isDue ? this.#commit(lane, { _tag: "Claim" }) : Effect.void
        }, { discard: true })
    )
    return Effect.forever(Effect.andThen(Effect.ignore(look), Effect.sleep(Math.min(pollMillis, lease / 4))))
  }

  #letterKey(id: string): string {
    return `${this.#prefix}:dead:${id}`
  }

  #laneOf(user: string): Lane<E> {
    let hash = 0
    for (let at = 0; at < user.length; at++) hash = (Math.imul(hash, 31) + user.charCodeAt(at)) >>> 0
    return this.#lanes[hash % laneCount]!
  }

  /** Makes a change with those that wait by then. */
  #commit(lane: Lane<E>, change: Change): Effect.Effect<void, E> {
    return Effect.uninterruptibleMask((restore) => {
      const done = Deferred.makeUnsafe<void, E>()
      lane.waiting.push({ change, done })
      if (lane.isBusy) return restore(Deferred.await(done))
      lane.isBusy = true
      return Effect.andThen(this.#flush(lane), Deferred.await(done))
    })
  }

  #flush(lane: Lane<E>): Effect.Effect<void> {
    const batch = lane.waiting.splice(0, mostTogether)
    return Effect.flatMap(Effect.exit(this.#step(lane, batch.map(({ change }) => change))), (exit) => {
      for (const { done } of batch) Deferred.doneUnsafe(done, exit)
      if (lane.waiting.length === 0) {
        lane.isBusy = false
        return Effect.void
      }
      // The changes of others are not this caller's to wait for.
      return Effect.asVoid(Effect.forkDetach(Effect.suspend(() => this.#flush(lane))))
    })
  }

  #step(lane: Lane<E>, changes: ReadonlyArray<Change>): Effect.Effect<void, E> {
    const { lease, storage } = this.#settings
    const appends = changes.filter((change) => change._tag === "Append")
    const ends = changes.filter((change) => change._tag === "End")
    const texts = [
      ...new Set([
        lane.key,
        ...appends.map((_, index) => eventKey(lane, lane.tail + 1 + index)),
        ...ends.map(({ number }) => eventKey(lane, number)),
        ...appends.filter(({ isReplay }) => isReplay).map(({ item }) => this.#letterKey(item.id)),
        ...ends.flatMap(({ letter }) => letter === undefined ? [] : [this.#letterKey(letter.id)])
      ])
    ]
    return Effect.flatMap(Clock.currentTimeMillis, (time) => {
      const sets = appends.length === 0 ? [] : seenSets(lane.key, time, appends.map(({ item }) => item.id))
      return Effect.flatMap(
        storage.modify({ texts, sets }, ({ absent, now, texts: [text, ...rest] }): Storage.Step<Outcome> => {
          const state = stateOf(text)
          const isOurs = lane.session !== undefined && state.holder === lane.session.holder
          const nothing: Outcome = { state, isOurs, claimed: undefined }
          if (appends.length > 0) {
            if (state.tail !== lane.tail) return { result: { ...nothing, refused: "behind" } }
            const isFull = state.tail + appends.length - state.head >= mostWaiting
            if (isFull) return { result: { ...nothing, refused: "full" } }
          }
          const after = new Map<string, string>()
          const isHeld = (key: string) => rest[texts.indexOf(key) - 1] !== undefined
          const tail = this.#place(state, appends, absent, isHeld, lane, after)
          if (isOurs) {
            for (const { letter, number } of ends) {
              after.set(eventKey(lane, number), "")
              if (letter !== undefined) after.set(this.#letterKey(letter.id), JSON.stringify(letter))
            }
          }
          const isNew = tail > state.tail
          const isWanted = isNew || changes.some(({ _tag }) => _tag === "Claim")
          const claimed = !isOurs && isWanted && (state.head > state.tail || state.until <= now)
            ? this.#claim(state)
            : undefined
          if (!isOurs && claimed === undefined && !isNew) return { result: nothing }
          const next = changed(state, lane.session, {
            ends: new Set(ends.map(({ number }) => number)),
            claimed,
            isOurs,
            isReleased: changes.some(({ _tag }) => _tag === "Release"),
            tail,
            until: now + lease
          })
          after.set(lane.key, JSON.stringify(next))
          return {
            result: { state: next, isOurs, claimed },
            texts: texts.map((key) => after.get(key))
          }
        }),
        (outcome) => {
          lane.tail = outcome.state.tail
          const { refused } = outcome
          if (refused === "behind") return this.#step(lane, changes)
          if (refused === undefined) return this.#follow(lane, outcome, appends, ends)
          for (const append of appends) append.taken = refused
          // Without them: a step remembers the ids of all deliveries that it is given.
          return this.#step(lane, changes.filter(({ _tag }) => _tag !== "Append"))
        }
      )
    })
  }

  /** Numbers the deliveries that are new, and returns the last number. */
  #place(
    state: State,
    appends: ReadonlyArray<Append>,
    absent: Storage.Before["absent"],
    isHeld: (key: string) => boolean,
    lane: Lane<E>,
    after: Map<string, string>
  ): number {
    let { tail } = state
    const seen = new Set<string>()
    for (const append of appends) {
      const { isReplay, item } = append
      const letter = this.#letterKey(item.id)
      const isNew = !seen.has(item.id) &&
        (isReplay ? isHeld(letter) : absent.every((members) => members.has(item.id)))
      append.taken = isNew ? "taken" : "duplicate"
      append.number = isNew ? ++tail : undefined
      if (!isNew) continue
      seen.add(item.id)
      if (isReplay) after.set(letter, "")
      after.set(eventKey(lane, tail), item.text)
    }
    return tail
  }

  #claim(state: State): Session {
    // The lease of a process that was killed, since others end theirs.
    const [number, times] = state.holder === undefined ? [undefined, 0] : diedOf(state)
    this.#owner ??= globalThis.crypto.randomUUID()
    return {
      holder: `${this.#owner} ${++this.#sessions}`,
      loaded: state.head - 1,
      isLoading: false,
      pending: new Set(),
      users: new Map(),
      fatal: times >= mostDeaths ? number : undefined
    }
  }

  /** Brings the memory of this process to the state of the lane. */
  #follow(
    lane: Lane<E>,
    { claimed, isOurs, state }: Outcome,
    appends: ReadonlyArray<Append>,
    ends: ReadonlyArray<End>
  ): Effect.Effect<void> {
    if (!isOurs) lane.session = claimed
    const { session } = lane
    if (session === undefined) return Effect.void
    for (const { number } of ends) session.pending.delete(number)
    const starts: Array<Effect.Effect<unknown>> = []
    for (const { item, number } of appends) {
      if (number === session.loaded + 1 && session.pending.size < mostLoaded) {
        starts.push(this.#enqueue(lane, session, number, item))
      }
    }
    if (state.holder !== session.holder) lane.session = undefined
    else if (session.loaded < state.tail && session.pending.size < mostLoaded / 2 && !session.isLoading) {
      session.isLoading = true
      starts.push(this.#fork(this.#load(lane, session)))
    }
    return starts.length === 0 ? Effect.void : Effect.all(starts, { discard: true })
  }

  /** Reads deliveries that did not arrive here. */
  #load(lane: Lane<E>, session: Session): Effect.Effect<void> {
    const { read, storage } = this.#settings
    const some = Effect.suspend(() => {
      const from = session.loaded + 1
      const numbers = Array.from({ length: Math.min(mostTogether, lane.tail - session.loaded) }, (_, i) => from + i)
      return Effect.flatMap(
        storage.get(numbers.map((number) => eventKey(lane, number))),
        ({ texts }) =>
          Effect.forEach(numbers, (number, index) => {
            const text = texts[index]
            // Another process may have handled it out of order.
            if (text === undefined) session.loaded = number
            return text === undefined ? Effect.void : this.#enqueue(lane, session, number, read(text))
          }, { discard: true })
      )
    })
    const isDone = () =>
      lane.session !== session || session.loaded >= lane.tail || session.pending.size >= mostLoaded / 2
    return Effect.repeat(some, { until: isDone }).pipe(
      Effect.andThen(
        Effect.suspend(() => session.pending.size === 0 ? this.#commit(lane, { _tag: "Claim" }) : Effect.void)
      ),
      Effect.ignore,
      Effect.ensuring(Effect.sync(() => session.isLoading = false))
    )
  }

  #enqueue(lane: Lane<E>, session: Session, number: number, item: Item): Effect.Effect<unknown> {
    session.loaded = number
    session.pending.add(number)
    const line = session.users.get(item.user)
    if (line !== undefined) return Effect.sync(() => line.push({ number, item }))
    const own = [{ number, item }]
    session.users.set(item.user, own)
    const all = this.#handleAll(lane, session, item.user, own)
    // The next one may end this process, too.
    return number === session.fatal ? all : this.#fork(all)
  }

  #fork(effect: Effect.Effect<unknown>): Effect.Effect<unknown> {
    return Effect.forkIn(effect, this.#scope, { startImmediately: true })
  }

  /** Handles the deliveries of a user, one after the other. */
  #handleAll(
    lane: Lane<E>,
    session: Session,
    user: string,
    line: Array<{ readonly number: number; readonly item: Item }>
  ): Effect.Effect<void> {
    const next: Effect.Effect<void> = Effect.suspend(() => {
      const [first] = line
      if (first === undefined || lane.session !== session) {
        session.users.delete(user)
        return Effect.void
      }
      return Effect.flatMap(this.#handle(lane, session, first.number, first.item), () => {
        line.shift()
        return next
      })
    })
    return next
  }

  #handle(lane: Lane<E>, session: Session, number: number, item: Item): Effect.Effect<void> {
    const { handle, onDead, retry } = this.#settings
    const isHeld = () => lane.session === session
    const end = (letter?: Letter) =>
      Effect.suspend(() => isHeld() ? this.#commit(lane, { _tag: "End", number, letter }) : Effect.void)
    const surely = (letter?: Letter) =>
      // If it fails, its lease ends, and another process handles the rest.
      Effect.catch(retried(end(letter), patience, isHeld), () =>
        Effect.sync(() => isHeld() && (lane.session = undefined)))
    const giveUp = (reason: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (at) => {
        if (!isHeld()) return Effect.void
        const letter = { id: item.id, at, reason, text: item.text }
        return Effect.uninterruptible(Effect.andThen(surely(letter), onDead(letter)))
      })
    if (number === session.fatal) return giveUp(`${mostDeaths} processes ended while they handled it`)
    // A handler that runs is not interrupted, so that its event is not handled again after an orderly end.
    const attempt = this.#gate.withPermit(Effect.uninterruptible(Effect.andThen(handle(item), surely())))
    return Effect.catch(retried(attempt, retry, isHeld), giveUp)
  }
}

/** Retries after a failure only: `Effect.retry` costs as much as an event. */
const retried = <A, E>(effect: Effect.Effect<A, E>, schedule: Schedule.Schedule<unknown>, isWanted: () => boolean) =>
  Effect.catch(effect, (failure) => {
    let next: Effect.Effect<A, E> = Effect.fail(failure)
    const again = Effect.suspend(() => {
      const current = next
      next = effect
      return current
    })
    return Effect.retry(again, { schedule, while: isWanted })
  })

const patience = /*#__PURE__*/ Schedule.upTo(/*#__PURE__*/ Schedule.spaced(250), { duration: 10_000 })

const eventKey = ({ key }: { readonly key: string }, number: number): string => `${key}:${number}`

/** The sets of ids that arrived lately: those of this time and of the one before, so that every id is known for that long. */
export const seenSets = (
  key: string,
  time: number,
  members: ReadonlyArray<string>
): NonNullable<Storage.Target["sets"]> => {
  const period = Math.floor(time / Storage.setMillis)
  return [period, period - 1].map((period) => ({ key: `${key}:seen:${period}`, members }))
}

const empty: State = { head: 1, tail: 0, until: 0 }

const stateOf = (text: string | undefined): State => text === undefined ? empty : JSON.parse(text)

const diedOf = ({ died, head }: State): readonly [number: number, times: number] =>
  died?.[0] === head ? [head, died[1] + 1] : [head, 1]

interface Done {
  readonly ends: ReadonlySet<number>
  readonly claimed: Session | undefined
  readonly isOurs: boolean
  readonly isReleased: boolean
  readonly tail: number
  readonly until: number
}

const changed = (
  state: State,
  session: Session | undefined,
  { claimed, ends, isOurs, isReleased, tail, until }: Done
): State => {
  let { head } = state
  if (isOurs && session !== undefined) {
    head = session.loaded + 1
    for (const number of session.pending) {
      if (ends.has(number)) continue
      head = number
      break
    }
  }
  const died = claimed === undefined || state.holder === undefined ? state.died : diedOf(state)
  const kept = { head, tail, ...(died?.[0] === head ? { died } : {}) }
  if (head > tail || (isOurs && isReleased)) return { ...kept, until: 0 }
  return {
    ...kept,
    holder: claimed === undefined ? state.holder : claimed.holder,
    until: isOurs || claimed !== undefined ? until : state.until
  }
}
