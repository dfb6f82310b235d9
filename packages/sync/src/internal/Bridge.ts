/** The caller's side of the bridge: starts the worker, posts requests and sleeps until the answer is there. */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads"
import { type Answer, place, type Request, type WorkerData } from "./Protocol.ts"

/** Why there is no answer. */
export interface NoAnswer {
  readonly _tag: "NoAnswer"
  readonly reason: string
}

/** How long the event loop of the worker may stand still, and how long it may take to load, in milliseconds. */
const stallLimit = 10_000
const startLimit = 30_000
/** The longest sleep without a look at the worker's state. */
const slice = 200

type Untagged<R> = R extends unknown ? Omit<R, "id"> : never

/** One worker and the memory shared with it. */
export class Bridge {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #shared: Int32Array
  /** Answers that somebody waits for, once they are there: a page may be fetched ahead while another call runs. */
  readonly #awaited = new Map<number, Answer | undefined>()
  #lastId = 0

  constructor() {
    const memory = new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT)
    const { port1, port2 } = new MessageChannel()
    const file = `./worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`
    const workerData: WorkerData = { memory, port: port2 }
    this.#shared = new Int32Array(memory)
    this.#port = port1
    this.#worker = new Worker(new URL(file, import.meta.url), { workerData, transferList: [port2], execArgv: [] })
    // What kills the worker is reported by the call that waits for it; if none does, the next one starts another.
    this.#worker.on("error", () => {})
    this.#worker.on("exit", () => Atomics.store(this.#shared, place.state, 2))
    this.#worker.unref()
    port1.unref()
  }

  /** Whether the worker is gone. */
  get isDead(): boolean {
    return Atomics.load(this.#shared, place.state) === 2
  }

  /** Posts a request that has no answer. */
  post(request: Request): void {
    this.#port.postMessage(request)
  }

  /** Posts a request whose answer is to be waited for. */
  send(request: Untagged<Extract<Request, { readonly _tag: "Send" | "Close" }>>): number {
    const id = ++this.#lastId
    this.#awaited.set(id, undefined)
    this.#port.postMessage({ ...request, id })
    return id
  }

  /** Blocks until the answer is there, the worker is gone, or `timeout` milliseconds have passed. */
  wait(id: number, timeout: number): Answer | NoAnswer {
    const start = performance.now()
    let heartbeat = 0
    let seenAt = start
    for (;;) {
      const answers = Atomics.load(this.#shared, place.answers)
      const answer = this.#take(id)
      if (answer !== undefined) return answer
      const now = performance.now()
      const state = Atomics.load(this.#shared, place.state)
      if (state === 2) return noAnswer("the worker ended")
      const beat = Atomics.load(this.#shared, place.heartbeat)
      if (beat !== heartbeat) [heartbeat, seenAt] = [beat, now]
      if (now - seenAt > (state === 0 ? startLimit : stallLimit)) {
        this.terminate()
        return noAnswer("the worker stopped responding")
      }
      if (now - start >= timeout) {
        this.abandon(id)
        return noAnswer(`nothing came within ${timeout} ms`)
      }
      Atomics.wait(this.#shared, place.answers, answers, Math.min(slice, timeout - (now - start)))
    }
  }

  /** Ends a request whose answer nobody waits for any more. */
  abandon(id: number): void {
    if (this.#awaited.delete(id) && !this.isDead) this.post({ _tag: "Abort", id })
  }

  /** Ends the worker at once. */
  terminate(): void {
    Atomics.store(this.#shared, place.state, 2)
    void this.#worker.terminate()
    this.#port.close()
  }

  #take(id: number): Answer | undefined {
    for (let got = receiveMessageOnPort(this.#port); got !== undefined; got = receiveMessageOnPort(this.#port)) {
      const answer = got.message as Answer
      // Any other answer came after its call had given up.
      if (this.#awaited.has(answer.id)) this.#awaited.set(answer.id, answer)
    }
    const answer = this.#awaited.get(id)
    if (answer !== undefined) this.#awaited.delete(id)
    return answer
  }
}

const noAnswer = (reason: string): NoAnswer => ({ _tag: "NoAnswer", reason })
