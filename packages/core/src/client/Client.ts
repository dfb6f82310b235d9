/**
 * The service that every operation needs, and the Layer that makes it from settings; `ClientConfig` reads them from the
 * environment. Credentials, HttpClient and the rate-limit policy are separate Layers.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http/HttpClient"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as CredentialHash from "../auth/CredentialHash.ts"
import * as Credentials from "../auth/Credentials.ts"
import * as Redaction from "../auth/Redaction.ts"
import * as Errors from "../errors/Errors.ts"
import * as Timeouts from "../http/Timeouts.ts"
import * as Transport from "../http/Transport.ts"
import { RateLimit } from "../rate-limit/RateLimit.ts"
import * as Anomaly from "../schema/Anomaly.ts"
import type { Definition } from "../schema/Definition.ts"
import * as Response from "../schema/Response.ts"
import * as ExtraParameters from "../wire/ExtraParameters.ts"
import * as RequestEncoder from "../wire/RequestEncoder.ts"
import * as ResponseDecoder from "../wire/ResponseDecoder.ts"
import * as Wire from "../wire/Wire.ts"
import type { Sent } from "./Attempt.ts"
import * as CallErrors from "./CallErrors.ts"
import { type CallOptions, checkOptions, requestOptionNames, type RequestOptions } from "./CallOptions.ts"
import * as Authorization from "./internal/authorization.ts"
import * as Call from "./internal/call.ts"
import * as Retry from "./Retry.ts"
import { type Meter, SpendGuard, takeBody } from "./SpendGuard.ts"
import type * as Transfer from "./Transfer.ts"

/** The settings of a client. */
export interface Settings {
  /** URL of the service, with a path prefix if it has one. Default: that of `wire`; the neutral one has none. */
  readonly baseUrl?: string | undefined
  /**
   * The names that the service uses: `Wire.neutral` (`posts`, the default), `Wire.x` (`tweets`, X since August 2026) or
   * `Wire.x202602` (X before).
   */
  readonly wire?: Wire.Wire | undefined
  /** Sent as `user-agent`. */
  readonly userAgent?: string | undefined
  /** `spec` (the default) enforces ranges and lengths before sending; `identifiers` leaves them to the service. */
  readonly checks?: RequestEncoder.Checks["checks"]
  /**
   * How to treat a response that does not match the schema: `lenient` (the default) omits the invalid parts and lists them in
   * `anomalies`; `strict` fails with `UndecodableResponse`.
   */
  readonly verify?: Anomaly.Verify | undefined
  /** The project's access level: recent queries have 512 characters with `standard`, 1,024 with `research` (the default). */
  readonly accessLevel?: RequestEncoder.Checks["accessLevel"]
  /** Timeouts in milliseconds: a number is the total of a call. On by default; see `Timeouts.Timeouts`. */
  readonly timeout?: number | Timeouts.Timeouts | undefined
  /**
   * The maximum number of retries, 0 to 10; default 2. Applies to reads, deletes and toggles: a create is retried only if nothing
   * of it was sent.
   */
  readonly retries?: number | undefined
  /** The longest body of a response in bytes, after decompression; default 64 MiB. */
  readonly maxBodySize?: number | undefined
  /** Records the query and the body of requests in spans; they may contain users' content. Default false. */
  readonly recordContent?: boolean | undefined
  /** Called with every completed request, also with each attempt of one call. Its exceptions and rejections are ignored. */
  readonly onRequest?: ((request: Sent) => void) | undefined
  /** Allows `http:` to hosts other than this machine. Credentials are then sent in clear text. */
  readonly allowInsecureHttp?: boolean | undefined
}

/** The parts of a client that streams need. */
export interface Live {
  readonly wire: Wire.Wire
  readonly verify: Anomaly.Verify
  readonly anomalies: Anomaly.Telemetry
  /**
   * Makes a `request` that sends through `carry`. The caller reads the response and counts its cost with the meter, if `use` was
   * called with one.
   */
  readonly request: (carry: Transport.Carrier, use: (meter: Meter) => void) => Client["Service"]["request"]
}

/** Sends operations. Programs call the operations instead. */
export class Client extends Context.Service<Client, {
  /** Sends a prepared request: any status other than success is an error. */
  readonly send: (
    prepared: RequestEncoder.Prepared,
    options?: CallOptions
  ) => Effect.Effect<HttpClientResponse, CallErrors.SendError>
  /** Checks and sends one call of an operation. */
  readonly request: (
    definition: Definition,
    parameters: unknown,
    options?: CallOptions
  ) => Effect.Effect<HttpClientResponse, Errors.AnyError>
  /** Checks a call of an operation without sending it. */
  readonly check: (
    definition: Definition,
    parameters: unknown
  ) => Effect.Effect<void, Errors.InvalidParameters | Errors.ConflictingIdentifiers>
  /**
   * Sends the request that `check` prepares. If `check` refuses, it is called again with a function that redacts credentials from
   * its message: an argument may be a credential in the wrong place.
   */
  readonly sendChecked: (
    check: (redact?: Redaction.Redact) => RequestEncoder.Prepared | Errors.InvalidParameters,
    options?: RequestOptions
  ) => Effect.Effect<HttpClientResponse, CallErrors.SendError>
  /** Decodes the response to a call. */
  readonly read: (
    definition: CallErrors.CallInfo,
    response: HttpClientResponse
  ) => Effect.Effect<Response.Response<unknown, unknown>, Errors.AnyError>
  /**
   * Identifies the credential of calls with this `user_auth` by a hash; `none` if it is not set. The hash of an account stays the
   * same when its tokens are renewed.
   */
  readonly credential: (userAuth: boolean) => Effect.Effect<string, Errors.CredentialsError>
  /** The parts of a client that transfers need. */
  readonly transfers: Effect.Effect<Transfer.Environment>
  /** The function that redacts credentials from texts. */
  readonly redact: Effect.Effect<Redaction.Redact>
  /** The parts of a client that streams need. */
  readonly live: Live
}>()("@postwire/core/client/Client") {}

/**
 * The client from settings, with the rate-limit policy that it was built with, for `RateLimit.snapshot`. After its scope is
 * closed, calls fail with `TransportFailure`.
 */
export const layer = (
  settings: Settings = {}
): Layer.Layer<Client, Errors.InvalidSettings, Credentials.Credentials | HttpClient> =>
  Layer.effectContext(make(settings))

/** Checked settings. */
export interface Checked {
  /** Scheme, host and path prefix, without a slash at the end. */
  readonly baseUrl: string
  readonly wire: Wire.Wire
  readonly userAgent: string
  readonly verify: Anomaly.Verify
  readonly limits: RequestEncoder.Checks
  readonly exchange: Pick<Call.Environment, "timeouts" | "retries" | "maxBodySize" | "recordContent" | "onRequest">
}

/** Checks settings and fills in the defaults. */
export const check = Effect.fnUntraced(
  function*(settings: Settings): Effect.fn.Return<Checked, Errors.InvalidSettings> {
    const wire = yield* wireOf(settings)
    yield* checkFlag("allowInsecureHttp", settings.allowInsecureHttp)
    yield* checkFlag("recordContent", settings.recordContent)
    return {
      wire,
      baseUrl: yield* baseUrlOf(settings, wire),
      userAgent: yield* userAgentOf(settings),
      verify: (yield* choiceOf("verify", settings.verify, "lenient", "strict")) ?? "lenient",
      limits: {
        checks: yield* choiceOf("checks", settings.checks, "spec", "identifiers"),
        accessLevel: yield* choiceOf("accessLevel", settings.accessLevel, "standard", "research")
      },
      exchange: yield* exchangeOf(settings)
    }
  }
)

const make = Effect.fnUntraced(function*(settings: Settings) {
  const rateLimit = yield* RateLimit
  const spending = yield* SpendGuard
  const credentials = yield* Credentials.Credentials
  const { current } = credentials
  const anomalies = yield* Anomaly.Telemetry
  const checked = yield* check(settings)
  const { baseUrl, exchange, limits, userAgent, verify, wire } = checked
  const fingerprintOf = CredentialHash.make(baseUrl)
  const http = yield* HttpClient
  const spend = spending?.(baseUrl)
  const measuring = yield* Transport.Measuring
  const redact = Redaction.ofCalls(http)
  // Without credentials there is nothing to redact.
  const known = credentials.known ?? Effect.orElseSucceed(current, (): Credentials.Values => ({}))
  const environment: Call.Environment = {
    ...exchange,
    baseUrl,
    wire,
    userAgent,
    credentials,
    redact,
    http,
    rateLimit,
    spend,
    fingerprintOf,
    sign: credentials.sign,
    telemetry: yield* Retry.Telemetry,
    measuring
  }
  const send = Call.make(environment)
  let isClosed = false
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isClosed = true
    })
  )
  /** Fails with the redacted error of `check`: an argument may be a credential in the wrong place. */
  const refused = <E extends Error>(error: E, check: (redact: Redaction.Redact) => RequestEncoder.Prepared | E) =>
    Effect.flatMap(known, (values) => {
      const redacted = check(redact(values))
      return Effect.fail(redacted instanceof Error ? redacted : error)
    })
  const encode = (definition: Definition, parameters: unknown, options?: CallOptions, clean?: Redaction.Redact) => {
    const prepared = RequestEncoder.encode(definition, parameters, wire, limits, clean)
    return options?.extraBody === undefined && options?.extraQuery === undefined
      ? prepared
      : ExtraParameters.add(prepared, definition, wire, options, clean)
  }
  const requestBy = (sender: () => typeof send): Client["Service"]["request"] => (definition, parameters, options) =>
    Effect.withFiber((fiber): Effect.Effect<HttpClientResponse, Errors.AnyError> => {
      if (isClosed) return Effect.fail(CallErrors.closed(definition))
      const invalid = options === undefined ? undefined : checkOptions(definition, options)
      if (invalid !== undefined) return Effect.fail(invalid)
      const prepared = encode(definition, parameters, options)
      return prepared instanceof Error
        ? refused(prepared, (clean) => encode(definition, parameters, options, clean))
        : sender()(fiber, prepared, options)
    })
  const isAllowed = ({ hostname, protocol }: URL) =>
    protocol === "https:" || (protocol === "http:" && baseUrl.startsWith("http:") && isPlainAllowed(hostname, settings))
  const client = Client.of({
    send: (prepared, options) => Effect.withFiber((fiber) => send(fiber, prepared, options)),
    transfers: Effect.succeed({ ...exchange, http, userAgent, measuring, isAllowed, isClosed: () => isClosed }),
    redact: Effect.map(known, (values) => redact(values)),
    credential: (userAuth) =>
      Effect.flatMap(current, (values) => {
        const token = Authorization.holderOf({ userAuth, bearer: undefined }, values)
        const fingerprint = Redacted.value(token) === "" ? "none" : fingerprintOf(token)
        return typeof fingerprint === "string" ? Effect.succeed(fingerprint) : fingerprint
      }),
    request: requestBy(() => send),
    live: {
      wire,
      verify,
      anomalies,
      request: (carry, use) => requestBy(() => Call.make({ ...environment, spend: spend?.metered(use), carry }))
    },
    check: (definition, parameters) =>
      Effect.suspend(() => {
        const prepared = encode(definition, parameters)
        return prepared instanceof Error
          ? refused(prepared, (clean) => encode(definition, parameters, undefined, clean))
          : Effect.void
      }),
    sendChecked: (check, options) =>
      Effect.withFiber((fiber): Effect.Effect<HttpClientResponse, CallErrors.SendError> => {
        const prepared = check()
        if (prepared instanceof Error) return refused(prepared, check)
        const call = { name: prepared.operation, effect: prepared.effect }
        if (isClosed) return Effect.fail(CallErrors.closed(call))
        const invalid = options === undefined ? undefined : checkOptions(call, options, requestOptionNames)
        return invalid === undefined ? send(fiber, prepared, options) : Effect.fail(invalid)
      }),
    read: readerOf(checked, { anomalies, known, redact, isSpendCounted: spend !== undefined })
  })
  return Context.make(Client, client).pipe(Context.add(RateLimit, rateLimit))
})

/** Makes the function that decodes responses, redacts their errors and reports their anomalies. */
const readerOf = (
  { verify, wire }: Checked,
  { anomalies, isSpendCounted, known, redact }: {
    readonly anomalies: Anomaly.Telemetry
    readonly known: Effect.Effect<Credentials.Values>
    readonly redact: Call.Environment["redact"]
    readonly isSpendCounted: boolean
  }
): Client["Service"]["read"] => {
  const settle = (
    definition: CallErrors.CallInfo,
    response: HttpClientResponse,
    decoded: Response.Response<unknown, unknown> | ResponseDecoder.Undecodable,
    text: () => string
  ): Effect.Effect<Response.Response<unknown, unknown>, Errors.AnyError> => {
    if (isSpendCounted && !(decoded instanceof ResponseDecoder.Undecodable)) {
      Response.markCost(decoded, Response.costOf(response))
    }
    if (CallErrors.isClean(decoded)) return Effect.succeed(decoded)
    return Effect.flatMap(known, (values) => {
      const clean = redact(values, response.request.headers["authorization"])
      const read = CallErrors.redactResponse(definition, decoded, response, text(), clean)
      if (read instanceof Error) return Effect.fail(read)
      return read.anomalies.length === 0
        ? Effect.succeed(read)
        : Effect.as(anomalies.found(definition.name, read.anomalies), read)
    })
  }
  const read = (definition: CallErrors.CallInfo, response: HttpClientResponse, text: string) => {
    const parse = isSpendCounted ? (text: string) => takeBody(response, text) : undefined
    const decoded = ResponseDecoder.decode(definition, wire, text, () => response.headers, verify, parse)
    return settle(definition, response, decoded, () => text)
  }
  return (definition, response) => {
    if (definition.result._tag === "Bytes") {
      return Effect.flatMap(CallErrors.bytesOf(definition, response), (bytes) => {
        const decoded = ResponseDecoder.decodeBytes(definition, bytes, response.headers)
        return settle(definition, response, decoded, () => new TextDecoder().decode(bytes))
      })
    }
    const arrived = Transport.arrivedOf(response)
    return arrived === undefined
      ? Effect.flatMap(CallErrors.textOf(definition, response), (text) => read(definition, response, text))
      : read(definition, response, arrived)
  }
}

const invalid = (setting: string, rule: string, advice?: string) =>
  Effect.fail(new Errors.InvalidSettings({ setting, rule, ...advice !== undefined && { advice } }))

/** Checks a flag: other truthy or falsy values are refused. */
export const checkFlag = (setting: string, flag: unknown): Effect.Effect<boolean, Errors.InvalidSettings> =>
  flag === undefined || typeof flag === "boolean"
    ? Effect.succeed(flag === true)
    : invalid(setting, "must be true or false")

const wireOf = ({ wire = Wire.neutral }: Settings): Effect.Effect<Wire.Wire, Errors.InvalidSettings> =>
  Predicate.hasProperty(wire, "problemToNeutral") ? Effect.succeed(wire) : invalid("wire", "must be one of Wire")

const choiceOf = <A extends string>(setting: string, value: A | undefined, one: A, other: A) =>
  value === undefined || value === one || value === other
    ? Effect.succeed(value)
    : invalid(setting, `must be ${one} or ${other}`)

const exchangeOf = (settings: Settings): Effect.Effect<Checked["exchange"], Errors.InvalidSettings> => {
  const {
    maxBodySize = Transport.defaultMaxBodyBytes,
    onRequest,
    recordContent,
    retries = Retry.defaultRetries,
    timeout
  } = settings
  const timeouts = Timeouts.limitsOf(timeout)
  if (timeouts === undefined) return invalid("timeout", Timeouts.timeoutRule)
  if (!Retry.isRetries(retries)) return invalid("retries", Retry.rule)
  if (onRequest !== undefined && typeof onRequest !== "function") return invalid("onRequest", "must be a function")
  return Number.isSafeInteger(maxBodySize) && maxBodySize > 0
    ? Effect.succeed({ timeouts, retries, maxBodySize, recordContent: recordContent === true, onRequest })
    : invalid("maxBodySize", "must be a whole number of bytes above 0")
}

const userAgentOf = ({ userAgent = "postwire" }: Settings): Effect.Effect<string, Errors.InvalidSettings> =>
  typeof userAgent === "string" && /^[\x20-\x7e]{1,256}$/.test(userAgent)
    ? Effect.succeed(userAgent)
    : invalid("userAgent", "must be 1 to 256 printable ASCII characters")

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Tests whether unencrypted requests to a host are allowed. */
const isPlainAllowed = (hostname: string, { allowInsecureHttp }: Settings): boolean =>
  loopback.test(hostname) || allowInsecureHttp === true

const baseUrlOf = (settings: Settings, wire: Wire.Wire): Effect.Effect<string, Errors.InvalidSettings> => {
  const given = settings.baseUrl ?? wire.baseUrl
  if (given === undefined || given === "") {
    return invalid(
      "baseUrl",
      `is missing. For X, set wire: "x"; for a local service, the URL is what \`postwire sandbox\` prints`,
      "Pass it to the client, or set POSTWIRE_BASE_URL."
    )
  }
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return invalid("baseUrl", "must be a URL that begins with https:// or http://")
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    return invalid("baseUrl", "must have no user name, password, query or fragment")
  }
  if (wire.name === "neutral" && /(^|\.)(x|twitter)\.com$/.test(url.hostname)) {
    return invalid("baseUrl", `is X's own, whose names differ from those of the neutral wire: set wire: "x"`)
  }
  if (url.protocol === "http:" && !isPlainAllowed(url.hostname, settings)) {
    return invalid("baseUrl", "must be https: except on this machine (allowInsecureHttp lifts this)")
  }
  return Effect.succeed(url.origin + url.pathname.replace(/\/+$/, ""))
}
