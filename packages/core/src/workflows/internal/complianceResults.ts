/** Fetches the results of a compliance job in parts of the file, to resume after a lost connection and to hold little in memory. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Client } from "../../client/Client.ts"
import * as Transfer from "../../client/Transfer.ts"
import { ComplianceExpired, ComplianceRefused, ComplianceUnreadable } from "../../errors/ComplianceErrors.ts"
import type { TransportFailure } from "../../errors/Errors.ts"
import { Lines } from "../../internal/lineSplitter.ts"
import * as Model from "../../schema/Model.ts"
import * as Json from "../../wire/Json.ts"

/** The errors of fetching results. */
export type ResultsError = TransportFailure | ComplianceExpired | ComplianceRefused | ComplianceUnreadable

/** The location of a job's results. */
export interface Place {
  readonly id: string
  readonly download_url: string
  readonly download_expires_at?: string | undefined
}

const text = /*#__PURE__*/ Schema.optionalKey(Schema.String)

/** The schema of a line. */
export const Result = /*#__PURE__*/ Schema.Struct({
  id: Schema.String,
  action: /*#__PURE__*/ Model.known("delete"),
  reason: /*#__PURE__*/ Schema.optionalKey(
    /*#__PURE__*/ Model.known("deleted", "deactivated", "protected", "suspended", "scrub_geo", "bounced")
  ),
  created_at: text,
  redacted_at: text
})

const isResult = /*#__PURE__*/ Schema.is(Result)

/** Bytes per request. */
const partBytes = 1_048_576

/** Longest line in characters, above any of the service. */
const longestLine = 16_384

/** Reads the results of a job from the beginning. */
export const read = (job: Place): Stream.Stream<typeof Result.Type, ResultsError, Client> =>
  Stream.suspend(() => {
    const { id: jobId } = job
    const lines = new Lines(longestLine)
    let line = 0
    let version: string | undefined
    const unreadable = (reason: string, at?: number) => new ComplianceUnreadable({ jobId, line: at, reason })

    /** Adds the results in lines, up to the first invalid one. */
    const add = (results: Array<typeof Result.Type>, texts: ReadonlyArray<string>) => {
      for (const text of texts) {
        line++
        if (text === "") continue
        const result = parse(text)
        if (result === undefined) return unreadable("it is not a result", line)
        results.push(result)
      }
      return lines.isTooLong ? unreadable(`it is longer than ${longestLine} characters`, line + 1) : undefined
    }

    /** Adds the last line, which may be complete without a line end. */
    const addLast = (results: Array<typeof Result.Type>) => {
      const rest = lines.end()
      return rest === "" || parse(rest) !== undefined ? add(results, [rest]) : unreadable("it was cut", line + 1)
    }

    // Results before an invalid line are emitted first.
    return Stream.paginate<number | ComplianceUnreadable, typeof Result.Type, ResultsError, Client>(0, (at) =>
      Effect.gen(function*() {
        if (typeof at !== "number") {
          return yield* at
        }
        const client = yield* Client
        const response = yield* Transfer.send(yield* client.transfers, {
          operation: "Compliance.results",
          method: "GET",
          url: job.download_url,
          headers: { range: `bytes=${at}-${at + partBytes - 1}` }
        })
        const total = totalOf(response)
        // An empty file has no parts.
        if (response.status === 416 && total === at) {
          return [[], Option.none()] as const
        }
        if (response.status !== 206 && response.status !== 200) {
          return yield* refusal(jobId, "download", job.download_expires_at, response)
        }
        const bytes = new Uint8Array(yield* Effect.orDie(response.arrayBuffer))
        const isWhole = response.status === 200
        if (isWhole ? at > 0 : total === undefined || !isPart(response, at, bytes.length)) {
          return yield* unreadable("a part of the file is not the one that was requested")
        }
        const etag = response.headers["etag"] ?? String(total)
        if (at > 0 && etag !== version) {
          return yield* unreadable("the file changed while it was read")
        }
        version = etag
        const next = at + bytes.length
        const isLast = isWhole || next === total
        const results: Array<typeof Result.Type> = []
        const fault = add(results, lines.push(bytes)) ?? (isLast ? addLast(results) : undefined)
        return [results, fault !== undefined ? Option.some(fault) : isLast ? Option.none() : Option.some(next)] as const
      }))
  })

const parse = (line: string): typeof Result.Type | undefined => {
  try {
    const value = Json.parse(line)
    return isResult(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** `bytes 0-1048575/5000000`: first byte, last byte and total. */
const range = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(\d{1,15})$/

const totalOf = ({ headers }: HttpClientResponse): number | undefined => {
  const total = range.exec(headers["content-range"] ?? "")?.[3]
  return total === undefined ? undefined : Number(total)
}

const isPart = ({ headers }: HttpClientResponse, offset: number, length: number): boolean => {
  const [, from, to] = range.exec(headers["content-range"] ?? "") ?? []
  return length > 0 && Number(from) === offset && Number(to) === offset + length - 1
}

/** The error of a signed URL that refuses a request: expired, or refused for another reason. */
export const refusal = (
  jobId: string,
  what: "upload" | "download",
  expiry: string | undefined,
  response: HttpClientResponse
): Effect.Effect<never, ComplianceExpired | ComplianceRefused, Client> =>
  Effect.gen(function*() {
    if (isOver(expiry, yield* Clock.currentTimeMillis)) return yield* new ComplianceExpired({ jobId, what })
    const text = yield* Effect.orElseSucceed(response.text, () => "")
    const redact = yield* (yield* Client).redact
    // File stores quote the signed URL in their errors.
    const own = Transfer.redactOf(response.request.url)
    const excerpt = own(redact(text)).slice(0, 2000)
    return yield* new ComplianceRefused({ jobId, what, status: response.status, excerpt })
  })

/** Checks that a time has passed. */
export const isOver = (instant: string | undefined, now: number): boolean => Date.parse(instant ?? "") <= now
