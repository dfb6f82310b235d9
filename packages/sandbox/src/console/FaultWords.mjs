// Faults in words.

/** @import { Behaviour, Rule } from "../faults/Faults.ts" */
/** @import { StreamFault } from "../faults/StreamFaults.ts" */

const bodies = {
  html: "a page of HTML",
  "broken-json": "broken JSON",
  empty: "an empty body",
  huge: "a body of 256 MiB"
}

const pages = {
  empty: "an empty page that has a next one",
  short: "a short page",
  "repeated-token": "a page whose token leads to itself"
}

const processings = {
  failed: "processing has failed",
  absent: "nothing is told of processing",
  "no-wait": "processing tells no time to ask again",
  "zero-wait": "processing tells to ask again at once"
}

const resets = {
  before: "the connection breaks, the work is not done",
  during: "the connection breaks in the middle of the request, the work is not done",
  after: "the connection breaks, the work is done"
}

/** @satisfies {Record<StreamFault["kind"], string>} */
const streams = {
  "no-rules": "the stream is refused: it has no rules",
  "too-many-connections": "the stream is refused: there are too many connections",
  cut: "the connection breaks",
  "cut-in-character": "the connection breaks inside a character",
  stall: "nothing comes, nor a heartbeat",
  slow: "a few bytes come at a time",
  error: "the service says why it ends the connection",
  duplicate: "a line comes twice",
  "out-of-order": "a line comes after the next one",
  garbage: "a line that cannot be read comes first"
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

/**
 * Numbers are milliseconds; texts say their unit themselves.
 * @param {number | string} time
 */
const duration = (time) =>
  typeof time === "string" ? time : time % 1_000 === 0 ? plural(time / 1_000, "second") : `${time} ms`

/**
 * @param {number} count
 * @param {string} noun
 */
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`

/** @param {number} count */
export const times = (count) => count === 1 ? "once" : count === 2 ? "twice" : plural(count, "time")

/** @param {Readonly<Record<string, string | null>>} headers */
const headerWords = (headers) =>
  Object.entries(headers).map(([header, value]) => value === null ? `no ${header} header` : `${header}: ${value}`)

/**
 * What happens to the answer.
 * @param {Behaviour} fault
 */
const behaviour = (
  { after, body, delay, headers = {}, page, pause, processing, rateLimitHeaders, reset, status, stream, truncate }
) =>
  [
    ...(status === undefined ? [] : [`status ${status}${after === true ? " after the work is done" : ""}`]),
    ...(body === undefined ? [] : [bodies[body]]),
    ...headerWords(headers),
    ...(rateLimitHeaders === undefined ? [] : [
      rateLimitHeaders === "missing" ? "no rate limit headers" : "absurd rate limit headers"
    ]),
    ...(page === undefined ? [] : [pages[page]]),
    ...(truncate === true ? ["the body is cut in half"] : []),
    ...(pause === undefined ? [] : [`the body pauses 16 times for ${duration(pause)}`]),
    ...(reset === undefined ? [] : [resets[reset]]),
    ...(processing === undefined ? [] : [processings[processing]]),
    ...(stream === undefined ? [] : [streamWords(stream)]),
    ...(delay === undefined ? [] : [`delayed by ${duration(delay)}`])
  ].join(", ")

/** @param {string} text */
const sentence = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

/** @param {Behaviour} fault */
export const ofBehaviour = (fault) => sentence(behaviour(fault))

/**
 * What happens, and to which requests.
 * @param {Rule} rule
 */
export const ofRule = ({ nth = 1, oneOf, operation, probability, times: count, ...fault }) => {
  const own = behaviour(fault)
  const drawn = oneOf === undefined
    ? own === "" ? "any fault, drawn at random" : own
    : `${own === "" ? "" : `${own}; and `}one of these: ${oneOf.map(behaviour).join("; ")}`
  const most = count ?? (probability === undefined ? 1 : "always")
  const where = operation === undefined
    ? "all operations"
    : typeof operation === "string"
    ? operation
    : operation.join(", ")
  const from = nth === 1 ? "" : most === 1 ? `, at request ${nth}` : `, from request ${nth} on`
  const often = probability === undefined
    ? most === "always" ? "always" : times(most)
    : `${Math.round(probability * 1_000) / 10}% of requests${most === "always" ? "" : `, at most ${times(most)}`}`
  return `${sentence(drawn)}. For ${where}${from}, ${often}.`
}
