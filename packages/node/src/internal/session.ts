/** The connections of a client. */
import { secrets } from "@postwire/core/auth/Redaction"
import type { Agent, Dispatcher } from "undici"

/**
 * Settings of connections. Times are in milliseconds, and 0 disables one. Requests of Postwire have their own time limits, except
 * the one for connecting.
 */
export interface Options {
  /** The number of connections per origin, beyond which requests wait for one; 64 unless given. */
  readonly connections?: number | undefined
  /** The time for DNS, TCP and TLS together; 10 seconds unless given. */
  readonly connectTimeout?: number | undefined
  /** The time from the end of the request to the headers of the response; 60 seconds unless given. */
  readonly headersTimeout?: number | undefined
  /** The time between two pieces of a body; 60 seconds unless given. */
  readonly bodyTimeout?: number | undefined
  /** The address of a proxy, or `environment` to take it from `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
  readonly proxy?: string | undefined
  /** Certificates (PEM) that are trusted instead of those that come with Node. */
  readonly ca?: string | ReadonlyArray<string> | undefined
}

/** The connections to one origin, and the requests on them. */
export interface Statistics {
  /** Open connections, and those of them that carry no request. */
  readonly connected: number
  readonly free: number
  /** Requests that wait for a connection, that are under way, and both. */
  readonly queued: number
  readonly running: number
  readonly size: number
}

/**
 * Connections with `close` and statistics: an Undici Agent that is loaded at the first request, since its import takes longer than
 * all the rest.
 */
export class Session {
  // Truly private, so that printing a client does not show the password of its proxy.
  readonly #options: Options
  #loading: Promise<Connections> | undefined
  #connections: Connections | undefined
  #closed = false

  constructor(options: Options = {}) {
    this.#options = options
  }

  /** The secrets of its connections, for redaction. */
  [secrets](): ReadonlyArray<string> {
    return secretsOfProxy(this.#options.proxy)
  }

  /** The `dispatch` of an Undici dispatcher. */
  dispatch(
    request: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler & { onResponseError: (controller: undefined, error: Error) => void }
  ): boolean {
    if (this.#connections !== undefined) return this.#connections.dispatch(request, handler)
    this.#loading ??= this.#load()
    this.#loading.then((connections) => connections.dispatch(request, handler)).catch((error) =>
      handler.onResponseError(undefined, error)
    )
    return true
  }

  /** By origin; empty before the first request, and through a proxy. */
  statistics(): Readonly<Record<string, Statistics>> {
    return Object.fromEntries(
      Object.entries(this.#connections?.stats ?? {}).map(([origin, stats]) => {
        const { connected, running, size } = stats
        // An origin with a single connection has a `connected` flag.
        return "free" in stats
          ? [origin, { connected: stats.connected, free: stats.free, queued: stats.queued, running, size }]
          : [origin, {
            connected: Number(connected),
            free: Number(connected && running === 0),
            queued: stats.pending,
            running,
            size
          }]
      })
    )
  }

  /** Ends requests in flight and closes the connections. */
  async close(): Promise<void> {
    this.#closed = true
    const connections = await this.#loading
    await connections?.destroy()
  }

  async #load(): Promise<Connections> {
    const { ca, proxy } = this.#options
    const tls = ca === undefined ? {} : { ca: typeof ca === "string" ? ca : [...ca] }
    const options = {
      // With HTTP/1.1 only, a connection carries one exchange, whose outcome is certain.
      allowH2: false,
      connections: this.#options.connections ?? 64,
      connectTimeout: this.#options.connectTimeout ?? 10_000,
      headersTimeout: this.#options.headersTimeout ?? 60_000,
      bodyTimeout: this.#options.bodyTimeout ?? 60_000,
      ...(ca === undefined ? {} : { connect: tls })
    }
    const connections = await connect(options, tls, proxy)
    this.#connections = connections
    if (this.#closed) await connections.destroy()
    return connections
  }
}

/** User name and password of a proxy, plain and as in a header; of all proxies in the environment, if that names the proxy. */
export const secretsOfProxy = (proxy: string | undefined): ReadonlyArray<string> => {
  const addresses = proxy === "environment"
    ? ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"].map((name) => process.env[name])
    : [proxy]
  return addresses.flatMap((address) => {
    if (address === undefined || !URL.canParse(address)) return []
    const { password, username } = new URL(address)
    // A header has both in one base64.
    return password === "" ? [username] : [password, `${username}:${password}`]
  })
}

/** A dispatcher of Undici; only an Agent has statistics. */
type Connections = Pick<Dispatcher, "dispatch" | "destroy"> & { readonly stats?: Agent["stats"] | undefined }

const connect = async (
  options: Agent.Options,
  tls: { readonly ca?: string | Array<string> },
  proxy: string | undefined
): Promise<Connections> => {
  if (proxy === undefined) {
    const { default: Agent } = await import("#undici/agent")
    return new Agent(options)
  }
  const { EnvHttpProxyAgent, ProxyAgent } = await import("#undici")
  return proxy === "environment"
    ? new EnvHttpProxyAgent({ ...options, requestTls: tls, proxyTls: tls })
    : new ProxyAgent({ ...options, uri: proxy, requestTls: tls, proxyTls: tls })
}
