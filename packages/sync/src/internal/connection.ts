/**
 * Connects a client to its worker, which starts with the client. The first call opens the client there, and so does the first call
 * after a worker was lost.
 */
import { marker } from "@postwire/core/auth/Redaction"
import type { CallOptions } from "@postwire/core/client/CallOptions"
import { InvalidSettings } from "@postwire/core/errors/Errors"
import type { Form } from "@postwire/core/schema/Definition"
import type { Prepared } from "@postwire/core/wire/RequestEncoder"
import type { Statistics } from "@postwire/node/UndiciHttpClient"
import * as Redacted from "effect/Redacted"
import type { Settings } from "../Settings.ts"
import * as Bridge from "./bridge.ts"
import * as NetworkDefaults from "./networkDefaults.ts"
import type { Job, Spending } from "./protocol.ts"

/** One worker serves all clients of a thread except those with a worker of their own. */
const shared = new Map<string, Bridge.Bridge>()
let lastClient = 0

/** The timeout of closing a client, of its statistics and of redaction. */
const answerTimeoutMillis = 5_000

/** The timeout of closing a client that refreshes tokens: a refresh in flight is saved first. */
const renewalTimeoutMillis = 20_000

/** A request that was posted to the worker. */
export interface Sent {
  readonly _tag: "Sent"
  readonly bridge: Bridge.Bridge
  readonly id: number
}

/** One client. */
export class Connection {
  readonly #client = ++lastClient
  readonly #settings: Settings<Form>
  readonly #ownWorker: boolean
  readonly #isRenewed: boolean
  readonly #workerUrl: string | URL | undefined
  /** The worker of its own. */
  #own: Bridge.Bridge | undefined
  /** The worker that has opened the client. */
  #bridge: Bridge.Bridge | undefined
  #spending: Spending = { total: totalOf(0, 0), bill: new Map() }
  #isClosed = false

  /** `workerUrl` is the address of the worker, if known. */
  constructor({ ownWorker, workerUrl: _, ...settings }: Settings<Form>, workerUrl: string | URL | undefined) {
    this.#settings = plain(settings)
    this.#ownWorker = ownWorker === true
    this.#isRenewed = settings.account !== undefined || settings.oauth2 !== undefined
    this.#workerUrl = workerUrl
    // The first call reports why there is none.
    this.#started()
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Posts a request to the worker. `ahead`: others may be posted before its response is read. */
  send(
    prepared: Prepared,
    options: CallOptions | undefined,
    ahead: boolean
  ): Sent | Bridge.NoAnswer | InvalidSettings {
    const bridge = this.#open()
    if (!(bridge instanceof Bridge.Bridge)) return bridge
    const [own, buffers] = transferable(prepared)
    const id = bridge.send({
      _tag: "Send",
      client: this.#client,
      prepared: own,
      options: options && plain(options),
      ahead
    }, buffers)
    return { _tag: "Sent", bridge, id }
  }

  /** Posts a job of many calls to the worker. */
  run(
    job: Job,
    onProgress: Bridge.OnProgress | undefined
  ): Sent | Bridge.NoAnswer | InvalidSettings {
    const bridge = this.#open()
    if (!(bridge instanceof Bridge.Bridge)) return bridge
    return { _tag: "Sent", bridge, id: bridge.run({ client: this.#client, job }, onProgress) }
  }

  /** Closes a stream, even if the client was closed. */
  leave(stream: number): void {
    if (this.#bridge?.isDead === false) this.#bridge.post({ _tag: "Leave", stream })
  }

  /** Connections and requests by origin; empty if no worker is running. */
  statistics(): Readonly<Record<string, Statistics>> {
    const bridge = this.#openBridge
    if (bridge === undefined) return {}
    const answer = bridge.call({ _tag: "Statistics", client: this.#client }, answerTimeoutMillis)
    if (answer._tag === "Defect") throw new Error(answer.message)
    return answer._tag === "Statistics" ? answer.statistics : {}
  }

  /** Redacts the credentials that only the worker knows. */
  redact(text: string): string {
    const bridge = this.#open()
    const answer = bridge instanceof Bridge.Bridge
      ? bridge.call({ _tag: "Redact", client: this.#client, text }, answerTimeoutMillis)
      : undefined
    return answer?._tag === "Redacted" ? answer.text : marker
  }

  close(): void {
    const bridge = this.#openBridge
    this.#isClosed = true
    bridge?.call({ _tag: "Close", client: this.#client }, this.#isRenewed ? renewalTimeoutMillis : answerTimeoutMillis)
    bridge?.takeBill(this.#client)
    this.#own?.terminate()
  }

  get #openBridge(): Bridge.Bridge | undefined {
    return this.#isClosed || this.#bridge?.isDead === true ? undefined : this.#bridge
  }

  #open(): Bridge.Bridge | Bridge.NoAnswer | InvalidSettings {
    const bridge = this.#started()
    if (!(bridge instanceof Bridge.Bridge) || bridge === this.#bridge) return bridge
    const settings = this.#settings
    const defaults = NetworkDefaults.read({ secure: settings.baseUrl?.startsWith("http:") !== true })
    const spending = this.#spending = this.#earlier
    bridge.post({ _tag: "Open", client: this.#client, settings, defaults, spending })
    return this.#bridge = bridge
  }

  /** The spending with earlier workers. Requests that were in flight when a worker was lost are in doubt. */
  get #earlier(): Spending {
    const { bill, total: [spent = 0, inDoubt = 0, reserved = 0] } = this.#spending
    const changed = this.#bridge?.takeBill(this.#client) ?? []
    return { total: totalOf(spent, inDoubt + reserved), bill: new Map([...bill, ...changed]) }
  }

  #started(): Bridge.Bridge | Bridge.NoAnswer | InvalidSettings {
    const known = this.#ownWorker ? this.#own : shared.get(String(this.#workerUrl))
    return known === undefined || known.isDead ? this.#start() : known
  }

  #start(): Bridge.Bridge | Bridge.NoAnswer | InvalidSettings {
    const invalid = (rule: string) => new InvalidSettings({ setting: "workerUrl", rule })
    if (Bridge.isInside) {
      return invalid(
        "must be the address of @postwire/sync/PostwireWorker, not of a program that makes a client itself"
      )
    }
    if (this.#workerUrl === undefined) {
      return invalid(
        "is missing: the worker is not beside this module. A program that is bundled bundles " +
          "@postwire/sync/PostwireWorker as an entry of its own and gives the address of the result"
      )
    }
    try {
      const bridge = new Bridge.Bridge(this.#workerUrl)
      if (this.#ownWorker) this.#own = bridge
      else shared.set(String(this.#workerUrl), bridge)
      return bridge
    } catch (error) {
      // Node may not allow a worker, for example with --permission.
      return Bridge.unstarted(String(error))
    }
  }
}

const totalOf = (spent: number, inDoubt: number): Spending["total"] => {
  const total = new Float64Array(new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT))
  total.set([spent, inDoubt])
  return total
}

/**
 * Makes a request transferable, and returns the buffers to transfer. Bytes are copied: the caller keeps theirs, which may be a
 * small part of a large buffer.
 */
const transferable = (prepared: Prepared): [prepared: Prepared | string, buffers?: ReadonlyArray<ArrayBuffer>] => {
  if (typeof prepared.body !== "object") return [JSON.stringify(prepared)]
  const buffers: Array<ArrayBuffer> = []
  const parts = prepared.body.parts.map((part) => {
    if (!("bytes" in part) || part.bytes instanceof Blob) return part
    // `slice` of a Buffer copies nothing.
    const bytes = new Uint8Array(part.bytes)
    buffers.push(bytes.buffer)
    return { ...part, bytes }
  })
  return [{ ...prepared, body: { parts } }, buffers]
}

/** Neither redacted values nor proxies can cross threads; objects of frameworks may be proxies. */
const plainOf = (value: unknown): unknown =>
  Redacted.isRedacted(value)
    ? Redacted.value(value)
    : Array.isArray(value)
    ? value.map(plainOf)
    : typeof value === "object" && value !== null
    ? plain(value)
    : value

const plain = <A extends object>(settings: A): A =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, plainOf(value)])) as A
