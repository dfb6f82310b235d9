/** The caller's side of the bridge: starts the worker, posts requests and sleeps until the answer is there. */
import { pathToFileURL } from "node:url"
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  SHARE_ENV,
  Worker,
  workerData as ownData
} from "node:worker_threads"
import { bootstrap } from "./bootstrap.ts"
import * as Interruption from "./interruption.ts"
import * as NetworkDefaults from "./networkDefaults.ts"
import * as Protocol from "./protocol.ts"
import { type Answer, ownName, place, type Request, share, type Shared, State, type WorkerData } from "./protocol.ts"
import { Pulse } from "./pulse.ts"

/** The reason why there is no answer. */
export interface NoAnswer {
  readonly _tag: "NoAnswer"
  readonly reason: string
  /** True if any of the request may have been sent. */
  readonly sent: boolean
  /** True if any of a create may have been sent. */
  readonly isOut: boolean
  /** True if the call timed out. */
  readonly late: boolean
}

/** A request that has an answer. */
type AnsweredRequest = Extract<Request, { readonly id: number; readonly client: number }>

type RunRequest = Extract<Request, { readonly _tag: "Run" }>

/** Receives progress. It does not throw. */
export type OnProgress = (progress: unknown) => void

interface RunningJob {
  readonly gate: RunRequest["gate"]
  readonly onProgress: OnProgress | undefined
  /** Progress that was not reported yet. */
  readonly unreported: Array<unknown>
}

type Untagged<R> = R extends unknown ? Omit<R, "id"> : never

/** The longest sleep without checking the worker's state. */
const longestSleepMillis = 200
/** The sleep of a call before it prepares for SIGINT, which takes longer than a short call. */
const shortCallMillis = 50

/** True if this thread is such a worker. A client in it would start another worker, and so on. */
export const isInside: boolean = typeof ownData === "object" && ownData !== null && ownName in ownData

const none: ReadonlyArray<never> = []

/** One worker and the memory shared with it. */
export class Bridge {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #shared: Shared
  /** Expected answers, once they have arrived: a page may be fetched ahead while another call runs. */
  readonly #awaited = new Map<number, Answer | undefined>()
  /** Running jobs: more than one only if a call is made while another reports progress. */
  readonly #jobs = new Map<number, RunningJob>()
  /** The bills of clients without a spend store. */
  readonly #bills = new Map<number, Map<string, string>>()
  #lastId = 0
  /** The number of answers when the port was last read. */
  #read = 0

  /** Starts the worker. Throws if Node does not allow one. */
  constructor(workerUrl: string | URL) {
    const shared = share()
    const { port1, port2 } = new MessageChannel()
    const workerData: WorkerData = { [ownName]: { memory: shared.memory, port: port2, url: addressOf(workerUrl) } }
    this.#shared = shared
    this.#port = port1
    this.#worker = new Worker(bootstrap, {
      eval: true,
      workerData,
      transferList: [port2],
      execArgv: NetworkDefaults.flagsFrom(process.execArgv),
      env: SHARE_ENV
    })
    // An error that ends the worker is reported by the call that waits for it; without one, the next call starts another worker.
    this.#worker.on("error", () => {})
    this.#worker.on("exit", () => this.#end())
    this.#worker.unref()
    port1.unref()
  }

  /** True if the worker has ended. */
  get isDead(): boolean {
    return isOver(this.#state)
  }

  /** Posts a request that has no answer; the buffers change hands. */
  post(request: Request, buffers: ReadonlyArray<ArrayBuffer> = none): void {
    this.#port.postMessage(request, buffers)
  }

  /** Posts a request that has an answer, and transfers the buffers. */
  send(request: Untagged<AnsweredRequest>, buffers?: ReadonlyArray<ArrayBuffer>): number {
    const id = this.#lastId = this.#lastId % 0x7fffffff + 1
    // Ids start over: those withdrawn before are no longer smaller.
    if (id === 1) Atomics.store(this.#shared.places, place.withdrawn, 0)
    Atomics.store(this.#shared.places, place.answer, 0)
    this.post({ ...request, id }, buffers)
    this.#awaited.set(id, undefined)
    return id
  }

  /** Posts a job. Its progress is reported during `wait`. */
  run(request: Omit<RunRequest, "_tag" | "id" | "gate" | "isWatched">, onProgress: OnProgress | undefined): number {
    const gate = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
    const id = this.send({ _tag: "Run", ...request, gate, isWatched: onProgress !== undefined })
    this.#jobs.set(id, { gate, onProgress, unreported: [] })
    return id
  }

  /**
   * Blocks until the answer has arrived, the worker has ended, or `timeout` milliseconds have passed. The body of the answer may be
   * in the shared memory: it is valid until the next request. `isEndless`: one of many waits that may all be short; listeners do
   * not run between them either.
   */
  wait(id: number, timeout: number, isEndless = false): Answer | NoAnswer {
    const waiting = new Waiting(id, timeout)
    try {
      return this.#until(waiting, isEndless ? 0 : shortCallMillis) ??
        (Interruption.isListenedTo() ? Interruption.interruptible(() => this.#until(waiting)) : this.#until(waiting)) ??
        this.#giveUp(id, "interrupted by SIGINT")
    } finally {
      this.#jobs.delete(id)
    }
  }

  /** Posts a request and waits for its answer. */
  call(request: Untagged<AnsweredRequest>, timeout: number): Answer | NoAnswer {
    return this.wait(this.send(request), timeout)
  }

  /** Aborts a request whose answer is no longer needed. */
  abandon(id: number): void {
    if (this.#awaited.delete(id) && !this.isDead) this.post({ _tag: "Abort", id })
  }

  /** Takes the texts of a client's bill that the worker has changed. */
  takeBill(client: number): Protocol.BillChange["texts"] {
    this.#receive(this.#read)
    const bill = this.#bills.get(client)
    this.#bills.delete(client)
    return bill ?? new Map()
  }

  /** Ends the worker immediately. */
  terminate(): void {
    this.#end()
    void this.#worker.terminate()
    // A closed port loses its messages.
    this.#receive(this.#read)
    this.#port.close()
  }

  get #state(): number {
    return Atomics.load(this.#shared.places, place.state)
  }

  /** Sets the state: a terminated worker does not do so itself. */
  #end(): void {
    if (!this.isDead) Atomics.store(this.#shared.places, place.state, State.ended)
  }

  /** Waits until there is an answer or there will be none; returns `undefined` after `most` milliseconds. */
  #until(waiting: Waiting, most = Infinity): Answer | NoAnswer | undefined {
    const { places } = this.#shared
    const { id, timeout } = waiting
    for (;;) {
      const answers = Atomics.load(places, place.answers)
      // Read before the answers: a worker may end right after its last answer.
      const state = this.#state
      const answer = this.#take(id, answers)
      if (answer !== undefined) return answer
      if (isOver(state)) return this.#afterEnd(id, state)
      const isLoading = state === State.loading
      if (waiting.pulse.hasStopped(isLoading)) {
        const unanswered = this.#giveUp(id, isLoading ? "the worker did not start" : "the worker stopped responding")
        this.terminate()
        return unanswered
      }
      if (waiting.elapsed >= timeout) return this.#giveUp(id, "time is up", true)
      if (waiting.elapsed >= most) return undefined
      Atomics.wait(
        places,
        place.answers,
        answers,
        Math.min(longestSleepMillis, Math.min(most, timeout) - waiting.elapsed)
      )
      waiting.pulse.feel(Atomics.load(places, place.heartbeat), waiting.woke())
    }
  }

  #afterEnd(id: number, state: number): NoAnswer {
    const { places, reason } = this.#shared
    const words = reason.toString("utf8", 0, places[place.reason])
    return state === State.unloadable
      ? unstarted(words)
      : noAnswer(words === "" ? "the worker ended" : `the worker ended: ${words}`, { isOut: this.#isOut(id) })
  }

  #giveUp(id: number, reason: string, late = false): NoAnswer {
    // Each side writes before it reads what the other writes. Either the worker sees this and sends nothing more, or this side sees
    // that the worker is ready, and that a create is out.
    const gate = this.#jobs.get(id)?.gate
    if (gate === undefined) Atomics.store(this.#shared.places, place.withdrawn, id)
    else Atomics.store(gate, Protocol.gate.withdrawn, 1)
    const [sent, isOut] = [this.#state !== State.loading, this.#isOut(id)]
    this.abandon(id)
    return noAnswer(reason, { late, sent, isOut })
  }

  #isOut(id: number): boolean {
    const gate = this.#jobs.get(id)?.gate
    return gate !== undefined
      ? Atomics.load(gate, Protocol.gate.out) > 0
      : Atomics.load(this.#shared.places, place.out) === id
  }

  #take(id: number, answers: number): Answer | undefined {
    const { places, room } = this.#shared
    const answered = Atomics.load(places, place.answer)
    if (answered === id) {
      this.#awaited.delete(id)
      const [headers, body] = [places[place.headers]!, places[place.body]!]
      return {
        _tag: "Response",
        id,
        status: places[place.status]!,
        headers: room.toString("utf8", 0, headers),
        body: room.subarray(headers, headers + body)
      }
    }
    // Another id belongs to a call that was abandoned before its answer came.
    if (answered !== 0) Atomics.store(places, place.answer, 0)
    if (answers !== this.#read) this.#receive(answers)
    this.#report(id)
    const answer = this.#awaited.get(id)
    if (answer !== undefined) this.#awaited.delete(id)
    return answer
  }

  /** Receives the messages of the worker, which counts an answer after it has posted it. */
  #receive(answers: number): void {
    this.#read = answers
    for (let got = receiveMessageOnPort(this.#port); got !== undefined; got = receiveMessageOnPort(this.#port)) {
      const answer = got.message as Answer | Protocol.BillChange
      if (answer._tag === "BillChange") this.#changeBill(answer)
      else if (answer._tag === "Progress") this.#jobs.get(answer.id)?.unreported.push(answer.progress)
      else if (this.#awaited.has(answer.id)) this.#awaited.set(answer.id, answer)
    }
  }

  #changeBill({ client, texts }: Protocol.BillChange): void {
    const bill = this.#bills.get(client) ?? new Map<string, string>()
    for (const [key, text] of texts) bill.set(key, text)
    this.#bills.set(client, bill)
  }

  /**
   * Reports the progress of the awaited job only: a callback of another job could make calls, whose answers overwrite this one's.
   */
  #report(id: number): void {
    const watched = this.#jobs.get(id)
    if (watched === undefined) return
    const { onProgress, unreported } = watched
    while (unreported.length > 0) onProgress?.(unreported.shift())
  }
}

/** The wait of one call. */
class Waiting {
  readonly id: number
  readonly timeout: number
  readonly pulse = new Pulse()
  readonly #start = performance.now()
  #now = this.#start

  constructor(id: number, timeout: number) {
    this.id = id
    this.timeout = timeout
  }

  /** In milliseconds. */
  get elapsed(): number {
    return this.#now - this.#start
  }

  /** Returns how long the call slept. */
  woke(): number {
    const before = this.#now
    this.#now = performance.now()
    return this.#now - before
  }
}

const isOver = (state: number): boolean => state === State.ended || state === State.unloadable

const addressOf = (url: string | URL): string =>
  typeof url === "string" && !/^(file|data):/.test(url) ? pathToFileURL(url).href : String(url)

const noAnswer = (reason: string, { isOut = false, late = false, sent = true } = {}): NoAnswer => ({
  _tag: "NoAnswer",
  reason,
  isOut,
  late,
  sent
})

/** The result if the worker could not be started: nothing was sent. */
export const unstarted = (reason: string): NoAnswer =>
  noAnswer(`the worker could not be started: ${reason}`, { sent: false })
