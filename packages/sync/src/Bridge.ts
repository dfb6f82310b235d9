/** The caller's side of the bridge: starts the worker, posts requests and sleeps until the answer is there. */
import { InvalidSettings } from "@postwire/core/Errors"
import { existsSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { Script } from "node:vm"
import {
  isMainThread,
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  SHARE_ENV,
  Worker,
  workerData as ownData
} from "node:worker_threads"
import * as NetworkDefaults from "./internal/NetworkDefaults.ts"
import {
  type Answer,
  bootstrap,
  ownName,
  place,
  type Request,
  share,
  type Shared,
  State,
  type WorkerData
} from "./internal/Protocol.ts"

/** Why there is no answer. */
export interface NoAnswer {
  readonly _tag: "NoAnswer"
  readonly reason: string
  /** Whether any of the request may have left. */
  readonly sent: boolean
  /** Whether time was up. */
  readonly late: boolean
}

/** How long the event loop of the worker may stand still, and how long it may take to load, in milliseconds. */
const stallLimit = 3_000
const startLimit = 30_000
/** The longest sleep without a look at the worker's state. */
const slice = 200
/** How long a call sleeps before it prepares for an interruption, which takes longer than a short call. */
const patience = 50

type Asking = Extract<Request, { readonly id: number; readonly client: number }>

type Untagged<R> = R extends unknown ? Omit<R, "id"> : never

/** Starts a bridge, unless it cannot be or would never end. */
export const start = (workerUrl: string | URL | undefined): Bridge | InvalidSettings | NoAnswer => {
  const invalid = (rule: string) => new InvalidSettings({ setting: "workerUrl", rule })
  if (isOwnWorker(ownData)) {
    return invalid("must be the address of @postwire/sync/PostwireWorker, not of a program that makes a client itself")
  }
  const url = workerUrl ?? besideThis()
  if (url === undefined) {
    return invalid(
      "is missing: the worker is not beside this module. A program that is bundled bundles " +
        "@postwire/sync/PostwireWorker as an entry of its own and gives the address of the result"
    )
  }
  try {
    return new Bridge(url)
  } catch (error) {
    // Node may refuse a worker, for one to a program that runs with --permission.
    return noAnswer(unloadable(String(error)), { sent: false })
  }
}

const isOwnWorker = (data: unknown): boolean => typeof data === "object" && data !== null && ownName in data

const addressOf = (url: string | URL): string =>
  typeof url === "string" && !/^(file|data):/.test(url) ? pathToFileURL(url).href : String(url)

/** In a bundle this module is another one, which may not know its address. */
const besideThis = (): URL | undefined => {
  const here: string | undefined = import.meta.url
  if (here === undefined) return undefined
  const url = new URL(`./PostwireWorker${here.endsWith(".ts") ? ".ts" : ".js"}`, here)
  return url.protocol === "file:" && existsSync(url) ? url : undefined
}

/** One worker and the memory shared with it. */
export class Bridge {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #shared: Shared
  /** Answers that somebody waits for, once they are there: a page may be fetched ahead while another call runs. */
  readonly #awaited = new Map<number, Answer | undefined>()
  #lastId = 0

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
    // What kills the worker is reported by the call that waits for it; if none does, the next one starts another.
    this.#worker.on("error", () => {})
    this.#worker.on("exit", () => this.#end())
    this.#worker.unref()
    port1.unref()
  }

  /** Whether the worker is gone. */
  get isDead(): boolean {
    return this.#state >= State.ended
  }

  /** Posts a request that has no answer. */
  post(request: Request): void {
    this.#port.postMessage(request)
  }

  /** Posts a request whose answer is to be waited for. */
  send(request: Untagged<Asking>): number {
    const id = this.#lastId = this.#lastId % 0x7fffffff + 1
    this.#awaited.set(id, undefined)
    Atomics.store(this.#shared.places, place.answer, 0)
    this.post({ ...request, id })
    return id
  }

  /**
   * Blocks until the answer is there, the worker is gone, or `timeout` milliseconds have passed. The body of the answer
   * may lie in the shared memory: it is good until the next request.
   */
  wait(id: number, timeout: number): Answer | NoAnswer {
    const wait = this.#waiting(id, timeout)
    return wait(patience) ?? (isMainThread && process.listenerCount("SIGINT") > 0
      ? interruptible(wait) ?? this.#giveUp(id, "interrupted by SIGINT")
      : wait(Infinity)!)
  }

  /** Sends and waits. */
  call(request: Untagged<Asking>, timeout: number): Answer | NoAnswer {
    return this.wait(this.send(request), timeout)
  }

  /** Ends a request whose answer nobody waits for any more. */
  abandon(id: number): void {
    if (this.#awaited.delete(id) && !this.isDead) this.post({ _tag: "Abort", id })
  }

  /** Ends the worker at once. */
  terminate(): void {
    this.#end()
    void this.#worker.terminate()
    this.#port.close()
  }

  get #state(): number {
    return Atomics.load(this.#shared.places, place.state)
  }

  #end(): void {
    if (!this.isDead) Atomics.store(this.#shared.places, place.state, State.ended)
  }

  /** What the worker ended with, in words. */
  get #reason(): string {
    const { places, reason } = this.#shared
    return reason.toString("utf8", 0, places[place.reason])
  }

  #waiting(id: number, timeout: number): Wait {
    const start = performance.now()
    let now = start
    let heartbeat = 0
    let stalled = 0
    return (most) => {
      const limit = Math.min(most, timeout)
      for (;;) {
        const answers = Atomics.load(this.#shared.places, place.answers)
        const answer = this.#take(id)
        if (answer !== undefined) return answer
        const state = this.#state
        if (state === State.unloadable) return noAnswer(unloadable(this.#reason), { sent: false })
        if (state === State.ended) return noAnswer(["the worker ended", this.#reason].filter(Boolean).join(": "))
        if (stalled > (state === State.loading ? startLimit : stallLimit)) {
          const given = this.#giveUp(id, "the worker stopped responding")
          this.terminate()
          return given
        }
        if (now - start >= limit) {
          return limit === timeout ? this.#giveUp(id, "time is up", true) : undefined
        }
        Atomics.wait(this.#shared.places, place.answers, answers, Math.min(slice, limit - (now - start)))
        const woken = performance.now()
        const beat = Atomics.load(this.#shared.places, place.heartbeat)
        // A wait counts for little more than it was to take: a machine that slept has not stalled.
        if (beat === heartbeat) stalled += Math.min(woken - now, 2 * slice)
        else [heartbeat, stalled] = [beat, 0]
        now = woken
      }
    }
  }

  #giveUp(id: number, reason: string, late = false): NoAnswer {
    const { places } = this.#shared
    let sent = this.#state !== State.loading
    if (!sent) {
      // Each side writes before it reads what the other writes: either the worker sees this or it is seen to be ready.
      Atomics.store(places, place.withdrawn, id)
      sent = this.#state !== State.loading
    }
    this.abandon(id)
    return noAnswer(reason, { late, sent })
  }

  #take(id: number): Answer | undefined {
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
    // An answer to another call is one that came after its call had given up.
    if (answered !== 0) Atomics.store(places, place.answer, 0)
    for (let got = receiveMessageOnPort(this.#port); got !== undefined; got = receiveMessageOnPort(this.#port)) {
      const answer = got.message as Answer
      if (this.#awaited.has(answer.id)) this.#awaited.set(answer.id, answer)
    }
    const answer = this.#awaited.get(id)
    if (answer !== undefined) this.#awaited.delete(id)
    return answer
  }
}

const noAnswer = (reason: string, { late = false, sent = true } = {}): NoAnswer => ({
  _tag: "NoAnswer",
  reason,
  late,
  sent
})

const unloadable = (reason: string): string => `the worker could not be started: ${reason}`

/** Waits for at most so many milliseconds in all; `undefined` when they are over and the call is not. */
type Wait = (most: number) => Answer | NoAnswer | undefined

/** A script can be interrupted and reaches nothing but globals. */
const handover = Symbol.for("@postwire/sync/wait")
const script = /*#__PURE__*/ new Script(`globalThis[Symbol.for("@postwire/sync/wait")]()`)

/**
 * Waits to the end, or until SIGINT. Node ends a program without a listener at once; a listener would have to wait for
 * the event loop, which is blocked. So a script that SIGINT breaks does the waiting, and the listener runs right after.
 */
const interruptible = (wait: Wait): Answer | NoAnswer | undefined => {
  Reflect.set(globalThis, handover, () => wait(Infinity))
  try {
    return script.runInThisContext({ breakOnSigint: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_INTERRUPTED") throw error
    process.kill(process.pid, "SIGINT")
    return undefined
  } finally {
    Reflect.deleteProperty(globalThis, handover)
  }
}
