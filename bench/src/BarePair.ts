/**
 * The floor of blocking calls: a worker that sends with Undici and writes the body into shared memory, and a caller that
 * sleeps until it is there. No checks, no credentials, no errors: whatever a blocking client adds comes on top.
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads"
import { Agent, request } from "undici"

/** Bytes that a body may have. */
const capacity = 1 << 20

interface Question {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** Makes a blocking GET of JSON. */
export const make = (): (url: string, headers: Question["headers"]) => unknown => {
  const shared = new SharedArrayBuffer(8 + capacity)
  const worker = new Worker(new URL(import.meta.url), { workerData: { barePair: shared } })
  worker.unref()
  const state = new Int32Array(shared, 0, 2)
  const bytes = Buffer.from(shared, 8)
  return (url, headers) => {
    Atomics.store(state, 0, 0)
    worker.postMessage({ url, headers } satisfies Question)
    Atomics.wait(state, 0, 0)
    return JSON.parse(bytes.toString("utf8", 0, state[1]))
  }
}

const serve = (shared: SharedArrayBuffer): void => {
  const state = new Int32Array(shared, 0, 2)
  const bytes = Buffer.from(shared, 8)
  const dispatcher = new Agent({ allowH2: false })
  parentPort?.on("message", async ({ headers, url }: Question) => {
    const { body } = await request(url, { dispatcher, headers })
    const sent = await body.bytes()
    bytes.set(sent)
    state[1] = sent.length
    Atomics.store(state, 0, 1)
    Atomics.notify(state, 0)
  })
}

if (!isMainThread && workerData?.barePair !== undefined) serve(workerData.barePair)
