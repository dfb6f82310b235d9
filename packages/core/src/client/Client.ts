/**
 * The service that every operation needs, and the Layer that makes it of settings; `ClientConfig` reads them from the
 * environment. Credentials, HttpClient and the rate-limit policy are Layers of their own.
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
import { type Meter, SpendGuard } from "./SpendGuard.ts"
import * as Transfer from "./Transfer.ts"

/** Where and how the client speaks. */
export interface Settings {
  /** Address of the service, with a path prefix if it has one. Default: that of the wire, which the neutral one has not. */
  readonly baseUrl?: string | undefined
  /**
   * The words that the service uses: `Wire.neutral` (`posts`, the default), `Wire.x` (`tweets`, as X speaks since August
   * 2026) or `Wire.x202602` (as before).
   */
  readonly wire?: Wire.Wire | undefined
  /** Sent as `user-agent`. */
  readonly userAgent?: string | undefined
  /** `spec` (the default) enforces ranges and lengths before sending; `identifiers` leaves them to the service. */
  readonly checks?: RequestEncoder.Checks["checks"]
  /**
   * What becomes of an answer of which a part is not as the interface has it: `lenient` (the default) leaves that part out and
   * lists it in `anomalies`; `strict` fails with `UndecodableResponse`.
   */
  readonly verify?: Anomaly.Verify | undefined
  /** What the project may use: recent queries have 512 characters with `standard`, 1,024 with `research` (the default). */
  readonly accessLevel?: RequestEncoder.Checks["accessLevel"]
  /** Limits in milliseconds: a number is the total of a call. On by default; see `Timeouts.Timeouts`. */
  readonly timeout?: number | Timeouts.Timeouts | undefined
  /**
   * How often a failed request is sent again, 0 to 10; default 2. Reads, deletes and toggles only: a create is repeated
   * only when nothing of it left.
   */
  readonly retries?: number | undefined
  /** The longest body of a response in bytes, after decompression; default 64 MiB. */
  readonly maxBodySize?: number | undefined
  /** Puts the query and the body of requests into spans, which may hold what people wrote. Default false. */
  readonly recordContent?: boolean | undefined
  /** Called with every request that has ended, tries of one call each on their own. What it throws or rejects with is ignored. */
  readonly onRequest?: ((request: Sent) => void) | undefined
  /** Allows `http:` to hosts other than this machine. Credentials would travel in clear text. */
  readonly allowInsecureHttp?: boolean | undefined
}

/** What opens and reads answers that have no end; `internal/LiveConnection` does so. */
export interface Live {
  readonly wire: Wire.Wire
  readonly verify: Anomaly.Verify
  readonly anomalies: Anomaly.Telemetry
  /**
   * What sends requests as `request` does, where something else takes them to the service. What it brings is for the caller to
   * read, and to count with the meter that is to be used, if there is one.
   */
  readonly request: (carry: Transport.Carrier, use: (meter: Meter) => void) => Client["Service"]["request"]
}

/** Sends operations. Programs call the operations instead. */
export class Client extends Context.Service<Client, {
  /** Sends a prepared request: any status but success is an error. */
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
  /** What keeps a call of an operation from being sent; nothing is sent. */
  readonly check: (
    definition: Definition,
    parameters: unknown
  ) => Effect.Effect<void, Errors.InvalidParameters | Errors.ConflictingIdentifiers>
  /**
   * Sends what `check` prepares. When it refuses, it is asked again with what keeps credentials out of what it says: what was
   * passed may be one in the wrong place.
   */
  readonly sendChecked: (
    check: (redact?: Redaction.Redact) => RequestEncoder.Prepared | Errors.InvalidParameters,
    options?: RequestOptions
  ) => Effect.Effect<HttpClientResponse, CallErrors.SendError>
  /** Reads the answer to a call. */
  readonly read: (
    definition: CallErrors.CallInfo,
    response: HttpClientResponse
  ) => Effect.Effect<Response.Response<unknown, unknown>, Errors.AnyError>
  /**
   * Tells the credential of calls with this `user_auth` from others without giving it away; `none` where it is not set. That of
   * an account stays the same when its tokens are renewed.
   */
  readonly credential: (userAuth: boolean) => Effect.Effect<string, Errors.CredentialsError>
  /** Sends a file to an address that the service has given out, or fetches one, without any credential. */
  readonly transfer: Transfer.Send
  /** What keeps the credentials out of what is told of calls elsewhere. */
  readonly redact: Effect.Effect<Redaction.Redact>
  /** What opens and reads answers that have no end. */
  readonly live: Live
}>()("@postwire/core/client/Client") {}

/**
 * The client from settings, and with it the rate-limit policy that it was built with, for
 * `RateLimit.snapshot`. When its scope is closed, calls fail with `TransportFailure`.
 */
export const layer = (
  settings: Settings = {}
): Layer.Layer<Client, Errors.InvalidSettings, Credentials.Credentials | HttpClient> =>
  Layer.effectContext(make(settings))

/** Settings that were checked. */
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
      verify: yield* verifyOf(settings),
      limits: yield* limitsOf(settings),
      exchange: yield* exchangeOf(settings)
    }
  }
)

const make = Effect.fnUntraced(function*(settings: Settings) {
  const rateLimit = yield* RateLimit
  const spending = yield* SpendGuard
  const credentials = yield* Credentials.Credentials
  const { current, sign } = credentials
  const anomalies = yield* Anomaly.Telemetry
  const { baseUrl, exchange, limits, userAgent, verify, wire } = yield* check(settings)
  const fingerprintOf = CredentialHash.make(baseUrl)
  const http = yield* HttpClient
  const spend = spending?.(baseUrl)
  const redact = Redaction.ofCalls(http)
  // Without credentials, there is none to tell.
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
    sign,
    telemetry: yield* Retry.Telemetry
  }
  const send = Call.make(environment)
  const encode = (
    definition: Definition,
    parameters: unknown,
    options: CallOptions | undefined,
    clean?: Redaction.Redact
  ) =>
    ExtraParameters.add(
      RequestEncoder.encode(definition, parameters, wire, limits, clean),
      definition,
      wire,
      options,
      clean
    )
  /** Fails with what `check` says without credentials: what was passed may be one in the wrong place. */
  const refused = <E extends Error>(error: E, check: (redact: Redaction.Redact) => RequestEncoder.Prepared | E) =>
    Effect.flatMap(known, (values) => {
      const told = check(redact(values))
      return Effect.fail(told instanceof Error ? told : error)
    })
  const requestBy = (sender: () => typeof send): Client["Service"]["request"] => (definition, parameters, options) =>
    Effect.suspend((): Effect.Effect<HttpClientResponse, Errors.AnyError> => {
      if (isClosed) return Effect.fail(CallErrors.closed(definition))
      const invalid = options === undefined ? undefined : checkOptions(definition, options)
      if (invalid !== undefined) return Effect.fail(invalid)
      const prepared = encode(definition, parameters, options)
      return prepared instanceof Error
        ? refused(prepared, (clean) => encode(definition, parameters, options, clean))
        : sender()(prepared, options)
    })
  let isClosed = false
  const isAllowed = ({ hostname, protocol }: URL) =>
    protocol === "https:" || (protocol === "http:" && baseUrl.startsWith("http:") && isPlainAllowed(hostname, settings))
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isClosed = true
    })
  )
  const client = Client.of({
    send,
    transfer: Transfer.make({ ...exchange, http, userAgent, isAllowed, isClosed: () => isClosed }),
    redact: Effect.map(known, (values) => redact(values)),
    credential: (userAuth) =>
      Effect.flatMap(current, (values) => {
        const token = Authorization.holderOf({ userAuth }, values)
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
        const check = (clean?: Redaction.Redact) => RequestEncoder.encode(definition, parameters, wire, limits, clean)
        const prepared = check()
        return prepared instanceof Error ? refused(prepared, check) : Effect.void
      }),
    sendChecked: (check, options) =>
      Effect.suspend((): Effect.Effect<HttpClientResponse, CallErrors.SendError> => {
        const prepared = check()
        if (prepared instanceof Error) return refused(prepared, check)
        const call = { name: prepared.operation, effect: prepared.effect }
        if (isClosed) return Effect.fail(CallErrors.closed(call))
        const invalid = options === undefined ? undefined : checkOptions(call, options, requestOptionNames)
        return invalid === undefined ? send(prepared, options) : Effect.fail(invalid)
      }),
    read: (definition, response) => {
      const settle = (
        decoded: Response.Response<unknown, unknown> | ResponseDecoder.Undecodable,
        text: () => string
      ): Effect.Effect<Response.Response<unknown, unknown>, Errors.AnyError> => {
        if (spend !== undefined && !(decoded instanceof ResponseDecoder.Undecodable)) {
          Response.markCost(decoded, Response.costOf(response))
        }
        if (CallErrors.isClean(decoded)) return Effect.succeed(decoded)
        return Effect.flatMap(known, (values) => {
          const told = redact(values, response.request.headers["authorization"])
          const read = CallErrors.reread(definition, decoded, response, text(), told)
          if (read instanceof Error) return Effect.fail(read)
          return read.anomalies.length === 0
            ? Effect.succeed(read)
            : Effect.as(anomalies.found(definition.name, read.anomalies), read)
        })
      }
      return definition.result._tag === "Bytes"
        ? Effect.flatMap(
          CallErrors.bytesOf(definition, response),
          (bytes) =>
            settle(
              ResponseDecoder.decodeBytes(definition, bytes, response.headers),
              () => new TextDecoder().decode(bytes)
            )
        )
        : Effect.flatMap(
          CallErrors.textOf(definition, response),
          (text) => settle(ResponseDecoder.decode(definition, wire, text, () => response.headers, verify), () => text)
        )
    }
  })
  return Context.make(Client, client).pipe(Context.add(RateLimit, rateLimit))
})

const invalid = (setting: string, rule: string) => Effect.fail(new Errors.InvalidSettings({ setting, rule }))

/** A truthy something is not taken for `true`, nor for `false`. */
export const checkFlag = (setting: string, flag: unknown): Effect.Effect<boolean, Errors.InvalidSettings> =>
  flag === undefined || typeof flag === "boolean"
    ? Effect.succeed(flag === true)
    : invalid(setting, "must be true or false")

const wireOf = ({ wire = Wire.neutral }: Settings): Effect.Effect<Wire.Wire, Errors.InvalidSettings> =>
  Predicate.hasProperty(wire, "problemToNeutral") ? Effect.succeed(wire) : invalid("wire", "must be one of Wire")

const verifyOf = ({ verify = "lenient" }: Settings): Effect.Effect<Anomaly.Verify, Errors.InvalidSettings> =>
  verify === "lenient" || verify === "strict" ? Effect.succeed(verify) : invalid("verify", "must be lenient or strict")

const limitsOf = ({ accessLevel, checks }: Settings): Effect.Effect<RequestEncoder.Checks, Errors.InvalidSettings> => {
  if (checks !== undefined && checks !== "spec" && checks !== "identifiers") {
    return invalid("checks", "must be spec or identifiers")
  }
  return accessLevel !== undefined && accessLevel !== "standard" && accessLevel !== "research"
    ? invalid("accessLevel", "must be standard or research")
    : Effect.succeed({ checks, accessLevel })
}

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

/** Whether what travels in clear text may go there. */
const isPlainAllowed = (hostname: string, { allowInsecureHttp }: Settings): boolean =>
  loopback.test(hostname) || allowInsecureHttp === true

const baseUrlOf = (settings: Settings, wire: Wire.Wire): Effect.Effect<string, Errors.InvalidSettings> => {
  const given = settings.baseUrl ?? wire.baseUrl
  if (given === undefined || given === "") {
    return invalid(
      "baseUrl",
      "is missing: the neutral wire has no default address, but `postwire sandbox` starts a local service and prints " +
        "one. Pass it to the client, or set POSTWIRE_BASE_URL (read where no settings are given, or with " +
        "fromEnvironment())"
    )
  }
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return invalid("baseUrl", "must be an address that begins with https:// or http://")
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    return invalid("baseUrl", "must have no user name, password, query or fragment")
  }
  if (url.protocol === "http:" && !isPlainAllowed(url.hostname, settings)) {
    return invalid("baseUrl", "must be https: except on this machine (allowInsecureHttp lifts this)")
  }
  return Effect.succeed(url.origin + url.pathname.replace(/\/+$/, ""))
}
