// Describes faults in words.

/** @import { Behaviour, Rule } from "../faults/Faults.ts" */
/** @import { StreamFault } from "../faults/StreamFaults.ts" */

const bodies = {
  html: "an HTML page",
  "broken-json": "broken JSON",
  empty: "an empty body",
  huge: "a body of 256 MiB"
}

const pages = {
  empty: "an empty page with a next page",
  short: "a short page",
  "repeated-token": "a page whose token repeats it",
  "ends-early": "a page without its next token"
}

const processings = {
  failed: "processing has failed",
  absent: "no processing info",
  "no-wait": "processing info without a wait time",
  "zero-wait": "processing info with a wait time of zero"
}

const resets = {
  before: "the connection breaks before the request is performed",
  during: "the connection breaks in the middle of the request",
  after: "the connection breaks after the request was performed"
}

/** @satisfies {Record<StreamFault["kind"], string>} */
const streams = {
  "no-rules": "the stream is refused: no rules",
  "too-many-connections": "the stream is refused: too many connections",
  cut: "the connection breaks",
  "cut-in-character": "the connection breaks inside a character",
  stall: "the stream stalls without heartbeats",
  slow: "a few bytes are sent at a time",
  error: "the service sends a disconnect notice",
  duplicate: "a line is sent twice",
  "out-of-order": "a line is sent after the next one",
  garbage: "an invalid line is sent first"
}

/** @satisfies {Record<NonNullable<Behaviour["delivery"]>, string>} */
const deliveries = {
  duplicate: "an event is delivered twice",
  "out-of-order": "an event is delivered after the next one",
  "bad-signature": "an event is signed with another secret",
  lost: "an event is not delivered"
}

/** @param {StreamFault} fault */
const streamWords = ({ after = 0, at, every, for: long, kind, within = 0 }) =>
  [
    streams[kind],
    ...(long === undefined ? [] : [`for ${duration(long)}`]),
    ...(at !== undefined
      ? [`after ${duration(at)}`]
      : within > 0
      ? [`after ${after} to ${plural(after + within, "line")}`]
      : after > 0
      ? [`after ${plural(after, "line")}`]
      : []),
    ...(every === undefined ? [] : [`and every ${plural(every, "line")}`])
  ].join(" ")

/** Numbers are milliseconds; strings contain their unit. @param {number | string} time */
const duration = (time) =>
  typeof time === "string" ? time : time % 1_000 === 0 ? plural(time / 1_000, "second") : `${time} ms`

/** @param {number} count @param {string} noun */
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`

/** @param {number} count */
export const times = (count) => count === 1 ? "once" : count === 2 ? "twice" : plural(count, "time")

/** @param {Readonly<Record<string, string | null>>} headers */
const headerWords = (headers) =>
  Object.entries(headers).map(([header, value]) => value === null ? `no ${header} header` : `${header}: ${value}`)

/** The effect on the response. @param {Behaviour} fault */
const behaviour = (
  {
    after,
    body,
    delay,
    delivery,
    headers = {},
    page,
    pause,
    processing,
    rateLimitHeaders,
    reset,
    status,
    stream,
    truncate
  }
) =>
  [
    ...(status === undefined ? [] : [`status ${status}${after === true ? " after the request is performed" : ""}`]),
    ...(body === undefined ? [] : [bodies[body]]),
    ...headerWords(headers),
    ...(rateLimitHeaders === undefined ? [] : [
      rateLimitHeaders === "missing" ? "no rate-limit headers" : "absurd rate-limit headers"
    ]),
    ...(page === undefined ? [] : [pages[page]]),
    ...(truncate === true ? ["the body is truncated"] : []),
    ...(pause === undefined ? [] : [`the body pauses 16 times for ${duration(pause)}`]),
    ...(reset === undefined ? [] : [resets[reset]]),
    ...(processing === undefined ? [] : [processings[processing]]),
    ...(stream === undefined ? [] : [streamWords(stream)]),
    ...(delivery === undefined ? [] : [deliveries[delivery]]),
    ...(delay === undefined ? [] : [`delayed by ${duration(delay)}`])
  ].join(", ")

/** @param {string} text */
const sentence = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

/** @param {Behaviour} fault */
export const ofBehaviour = (fault) => sentence(behaviour(fault))

/** The effect and the affected requests. @param {Rule} rule */
export const ofRule = ({ nth = 1, oneOf, operation, probability, times: count, ...fault }) => {
  const own = behaviour(fault)
  const drawn = oneOf === undefined
    ? own === "" ? "a random fault" : own
    : `${own === "" ? "" : `${own}; and `}one of these: ${oneOf.map(behaviour).join("; ")}`
  const most = count ?? (probability === undefined ? 1 : "always")
  const where = operation === undefined
    ? fault.delivery === undefined ? "all operations" : "deliveries"
    : typeof operation === "string"
    ? operation
    : operation.join(", ")
  const from = nth === 1 ? "" : most === 1 ? `, at request ${nth}` : `, from request ${nth} on`
  const often = probability === undefined
    ? most === "always" ? "always" : times(most)
    : `${Math.round(probability * 1_000) / 10}% of requests${most === "always" ? "" : `, at most ${times(most)}`}`
  return `${sentence(drawn)}. For ${where}${from}, ${often}.`
}
