/**
 * The metrics of the packages and the attributes of metrics and of requests' spans. The documentation and the names in
 * Prometheus derive from the same definitions. Names and units follow OpenTelemetry.
 *
 * @stability experimental
 */
import * as Metric from "effect/Metric"

/** The attributes by name, with their meaning. */
export const attributes = {
  "http.request.method": "the method of the request",
  "http.request.resend_count": "the number of earlier requests of the same call; absent from the first",
  "http.response.status_code": "the status of the response; absent if none arrived",
  "url.full": "the URL without its query, unless `recordContent` is set",
  "url.template": "the path with the names of its parameters: `/2/posts/:id`",
  "server.address": "the host of the service",
  "server.port": "its port",
  "error.type":
    "a status of 400 or more, `timeout`, a code of the platform such as `ECONNREFUSED`, or the kind of the failure; absent from successes and from interrupted requests",
  "network.protocol.version": "`1.1` or `2`, as the connection used it; absent if the transport does not report it",
  "postwire.operation": "the operation: `getPost`",
  "postwire.request.body": "the body of the request, with `recordContent` only",
  "postwire.reason":
    "the reason of a retry (a status, `timeout`, or the phase in which the connection was lost), or of a wait (`window`, `pace` and others)",
  "postwire.credential": "the kind of credential",
  "postwire.rate_limit.bucket": "the rate limit: operation, kind of credential, and a fingerprint of the credential",
  "postwire.anomaly.path": "the path of the part, without indexes: `data[].public_metrics.like_count`",
  "postwire.spend.state": "`spent`, or `in doubt` if no response says whether it was charged",
  "postwire.outcome": "the outcome: of a request `taken`, `duplicate`, `challenge` or the reason of its refusal; " +
    "of an event `handled`, `failed` (an attempt) or `dead`",
  "postwire.gap.filled_by": "how the items were fetched (`backfill`, `recovery`, `search`), or `nothing`",
  "postwire.change": "`added` or `changed`"
} as const

/** The name of an attribute. */
export type Attribute = keyof typeof attributes

/** The attributes of a request's span. */
export const spanAttributes = [
  "http.request.method",
  "url.full",
  "url.template",
  "server.address",
  "server.port",
  "http.response.status_code",
  "error.type",
  "network.protocol.version",
  "http.request.resend_count",
  "postwire.operation",
  "postwire.request.body"
] as const satisfies ReadonlyArray<Attribute>

/** The name of an attribute of a request's span. */
export type SpanAttribute = typeof spanAttributes[number]

/** The values of attributes. A metric omits those that are `undefined`. */
export type Values<A extends Attribute> = { readonly [K in A]: string | undefined }

/** The description of a metric. */
export interface Description<out A extends Attribute = Attribute> {
  readonly name: string
  readonly kind: "counter" | "gauge" | "histogram"
  /** In UCUM, the notation of OpenTelemetry. */
  readonly unit: string
  readonly description: string
  readonly attributes: ReadonlyArray<A>
}

/** The definition of a metric with its attributes. */
export interface Definition<M, A extends Attribute> extends Description<A> {
  /** The metric with these values of its attributes. */
  readonly of: (values: Values<A>) => M
}

type Described<A extends Attribute> = Omit<Description<A>, "kind">

const define = <M, A extends Attribute>(
  kind: Description["kind"],
  described: Described<A>,
  make: (name: string, options: { readonly description: string; readonly attributes: Metric.Metric.Attributes }) => M
): Definition<M, A> => ({
  ...described,
  kind,
  of: (values) => {
    const { description, name, unit } = described
    const attributes = described.attributes.flatMap((attribute): Array<[string, string]> => {
      const value = values[attribute]
      return value === undefined ? [] : [[attribute, value]]
    })
    // Effect's exporters read the unit of a metric from this attribute.
    return make(name, { description, attributes: [...attributes, ["unit", unit]] })
  }
})

const counter = <const A extends Attribute>(described: Described<A>): Definition<Metric.Counter<number>, A> =>
  define("counter", described, (name, options) => Metric.counter(name, { ...options, incremental: true }))

const gauge = <const A extends Attribute>(described: Described<A>): Definition<Metric.Gauge<number>, A> =>
  define("gauge", described, (name, options) => Metric.gauge(name, options))

const histogram = <const A extends Attribute>(
  described: Described<A>,
  boundaries: ReadonlyArray<number>
): Definition<Metric.Histogram<number>, A> =>
  define("histogram", described, (name, options) => Metric.histogram(name, { ...options, boundaries }))

/** The boundaries of the buckets of `requestDuration`, in seconds. */
export const durationBoundaries: ReadonlyArray<number> = [
  0.005,
  0.01,
  0.025,
  0.05,
  0.075,
  0.1,
  0.25,
  0.5,
  0.75,
  1,
  2.5,
  5,
  7.5,
  10
]

export const requestDuration = /*#__PURE__*/ histogram({
  name: "http.client.request.duration",
  unit: "s",
  description: "Duration of HTTP client requests.",
  attributes: [
    "http.request.method",
    "server.address",
    "server.port",
    "http.response.status_code",
    "error.type",
    "network.protocol.version",
    "url.template"
  ]
}, durationBoundaries)

export const retries = /*#__PURE__*/ counter({
  name: "postwire.retries",
  unit: "{retry}",
  description: "Requests that were retried.",
  attributes: ["postwire.operation", "postwire.reason"]
})

export const retryBudgetExhausted = /*#__PURE__*/ counter({
  name: "postwire.retry_budget.exhausted",
  unit: "{retry}",
  description: "Retries that were omitted because the client's retry budget was exhausted.",
  attributes: ["postwire.operation"]
})

export const anomalies = /*#__PURE__*/ counter({
  name: "postwire.response.anomalies",
  unit: "{anomaly}",
  description: "Parts of responses that were omitted because they did not match the schema.",
  attributes: ["postwire.operation", "postwire.anomaly.path"]
})

export const rateLimitRemaining = /*#__PURE__*/ gauge({
  name: "postwire.rate_limit.remaining",
  unit: "{request}",
  description: "Requests remaining in the window, as last announced.",
  attributes: ["postwire.operation", "postwire.credential", "postwire.rate_limit.bucket"]
})

export const rateLimitWaits = /*#__PURE__*/ counter({
  name: "postwire.rate_limit.waits",
  unit: "{wait}",
  description: "Waits for rate limits that began.",
  attributes: ["postwire.operation", "postwire.reason"]
})

export const rateLimitWaitDuration = /*#__PURE__*/ histogram({
  name: "postwire.rate_limit.wait.duration",
  unit: "s",
  description: "Waits of calls at the head of their queue for a rate limit.",
  attributes: ["postwire.operation", "postwire.reason"]
}, [0.1, 1, 2, 5, 15, 60, 300, 900])

export const spend = /*#__PURE__*/ counter({
  name: "postwire.spend",
  unit: "{USD}",
  description: "Dollars that requests were charged, or may have been.",
  attributes: ["postwire.operation", "postwire.spend.state"]
})

export const streamReconnects = /*#__PURE__*/ counter({
  name: "postwire.stream.reconnects",
  unit: "{reconnect}",
  description: "Connections of streams that were made anew.",
  attributes: ["postwire.operation"]
})

export const streamGaps = /*#__PURE__*/ counter({
  name: "postwire.stream.gaps",
  unit: "{gap}",
  description: "Gaps in streams, or parts of them.",
  attributes: ["postwire.operation", "postwire.gap.filled_by"]
})

export const streamItems = /*#__PURE__*/ counter({
  name: "postwire.stream.items",
  unit: "{item}",
  description: "Items that streams received, without repeated ones.",
  attributes: ["postwire.operation"]
})

export const exportPages = /*#__PURE__*/ counter({
  name: "postwire.export.pages",
  unit: "{page}",
  description: "Pages that exports wrote.",
  attributes: ["postwire.operation"]
})

export const exportItems = /*#__PURE__*/ counter({
  name: "postwire.export.items",
  unit: "{item}",
  description: "Items that exports wrote.",
  attributes: ["postwire.operation"]
})

export const archiveRows = /*#__PURE__*/ counter({
  name: "postwire.archive.rows",
  unit: "{row}",
  description: "Rows of copies that were written.",
  attributes: ["postwire.change"]
})

export const webhookRequests = /*#__PURE__*/ counter({
  name: "postwire.webhook.requests",
  unit: "{request}",
  description: "Requests to webhooks.",
  attributes: ["postwire.outcome"]
})

export const webhookEvents = /*#__PURE__*/ counter({
  name: "postwire.webhook.events",
  unit: "{event}",
  description: "Events of webhooks.",
  attributes: ["postwire.outcome"]
})

/** Every definition. */
export const all: ReadonlyArray<Definition<Metric.Metric<number, unknown>, Attribute>> = [
  requestDuration,
  retries,
  retryBudgetExhausted,
  anomalies,
  rateLimitRemaining,
  rateLimitWaits,
  rateLimitWaitDuration,
  spend,
  streamReconnects,
  streamGaps,
  streamItems,
  exportPages,
  exportItems,
  archiveRows,
  webhookRequests,
  webhookEvents
]

/**
 * The name of a metric in Prometheus, by OpenTelemetry's rules: underscores, the unit of a duration, and `_total` for a counter.
 * Effect's `PrometheusMetrics` accepts it as `metricNameMapper`. Metrics of others keep their names.
 */
export const prometheusName = (name: string): string => {
  const definition = all.find((definition) => definition.name === name)
  if (definition === undefined) return name
  const unit = definition.unit === "s" ? "_seconds" : ""
  return name.replaceAll(".", "_") + unit + (definition.kind === "counter" ? "_total" : "")
}
