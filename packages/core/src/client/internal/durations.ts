/**
 * The durations of requests as a histogram. Each request is recorded, whether or not metrics are read. An update of Effect's own
 * histogram allocates several times as much, so the requests are counted here, and Effect reads the counts for its exporters.
 */
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import * as Transport from "../../http/Transport.ts"
import * as Metrics from "../../runtime/Metrics.ts"

/** The durations of requests with the same attributes. */
class Durations {
  // Typed arrays, since every change of another fractional number allocates one.
  readonly #counts = new Float64Array(Metrics.durationBoundaries.length + 1)
  readonly #sum = new Float64Array(1)
  readonly #range = Float64Array.of(Infinity, -Infinity)

  add(seconds: number): void {
    const boundaries = Metrics.durationBoundaries
    let bucket = 0
    while (bucket < boundaries.length && seconds > boundaries[bucket]!) bucket++
    this.#counts[bucket]! += 1
    this.#sum[0]! += seconds
    if (seconds < this.#range[0]!) this.#range[0] = seconds
    if (seconds > this.#range[1]!) this.#range[1] = seconds
  }

  get state(): Metric.HistogramState {
    let count = 0
    const cumulative = Array.from(this.#counts, (inBucket) => count += inBucket)
    const [sum = 0] = this.#sum
    const [min = 0, max = 0] = this.#range
    const buckets = Metrics.durationBoundaries.map((boundary, i): [number, number] => [boundary, cumulative[i] ?? 0])
    return { buckets, count, min, max, sum }
  }
}

/** The durations of all clients with the same registry. */
const byRegistry = /*#__PURE__*/ new WeakMap<Metric.MetricRegistry, Map<string, Durations>>()

/** The durations with these attributes, which the registry of the context has. */
const durationsOf = (values: Parameters<typeof Metrics.requestDuration.of>[0], context: Context.Context<never>) => {
  const registry = Context.get(context, Metric.MetricRegistry)
  const all = byRegistry.get(registry) ?? new Map<string, Durations>()
  byRegistry.set(registry, all)
  const key = JSON.stringify([values, Context.get(context, Metric.CurrentMetricAttributes)])
  const known = all.get(key)
  if (known !== undefined) return known
  const durations = new Durations()
  all.set(key, durations)
  const hooks = { get: () => durations.state, update: () => {}, modify: () => {} }
  Metric.registerUnsafe(Metrics.requestDuration.of(values), context, hooks)
  return durations
}

/** The paths of raw requests may hold names: templates beyond this number are counted without their template. */
const mostTemplates = 1_000

/** The requests with one method and template that ended alike. */
interface Series {
  readonly method: string
  readonly status: number | undefined
  readonly error: string | undefined
  readonly version: string | undefined
  readonly durations: Durations
}

/** Compares without a key: no text is made for a request. */
const seriesOf = (
  all: ReadonlyArray<Series>,
  method: string,
  status: number | undefined,
  error: string | undefined,
  version: string | undefined
): Series | undefined => {
  for (let i = 0; i < all.length; i++) {
    const series = all[i]!
    if (
      series.status === status && series.error === error && series.version === version && series.method === method
    ) return series
  }
  return undefined
}

/** Makes the function that measures the requests to a server, for the registry of a context. */
export const measuring = (context: Context.Context<never>) => (server: string): Transport.Measure => {
  const { "server.address": address, "server.port": port } = Transport.serverOf(new URL(server))
  const known = new Map<string, Array<Series>>()
  const listOf = (template: string): Array<Series> => {
    const name = known.size < mostTemplates ? template : ""
    const list = known.get(name) ?? []
    known.set(name, list)
    return list
  }
  return (method, template, exit, millis) => {
    const status = Transport.statusOf(exit)
    const error = Transport.errorTypeOf(exit)
    const version = Transport.versionOf(exit)
    const list = known.get(template) ?? listOf(template)
    let series = seriesOf(list, method, status, error, version)
    if (series === undefined) {
      const values = {
        "http.request.method": method,
        "http.response.status_code": status === undefined ? undefined : String(status),
        "error.type": error,
        "network.protocol.version": version,
        "server.address": address,
        "server.port": String(port),
        "url.template": known.has(template) ? template : undefined
      }
      list.push(series = { method, status, error, version, durations: durationsOf(values, context) })
    }
    series.durations.add(millis / 1000)
  }
}
