/** Checks the options of a stream and fills in the defaults. */
import * as Predicate from "effect/Predicate"
import { invalidParameter, type InvalidParameters } from "../../errors/Errors.ts"
import type { Definition } from "../../schema/Definition.ts"
import type { Recover, SlowConsumer, StreamOptions } from "../StreamOptions.ts"
import type { Terms } from "./sharedConnection.ts"

export const streamOptionNames: ReadonlyArray<string> = [
  "recover",
  "slowConsumer",
  "bufferSize",
  "tags",
  "resumeFrom",
  "silence",
  "reconnects",
  "duplicates",
  "onEvent"
]

const recovers: ReadonlyArray<Recover> = ["none", "search", "recovery"]

const policies: ReadonlyArray<SlowConsumer> = ["fail", "dropOldest", "spill"]

const defaultSilenceMillis = 25_000
const defaultDuplicates = 200_000
const defaultDuplicatesMillis = 3_600_000

export const defaultBufferSize = 10_000

/** Returns the settings that consumers of a connection share, or the first violation. */
export const check = (
  { live, ...declared }: Definition,
  parameters: unknown,
  options: StreamOptions,
  canSpill: boolean
): Terms | InvalidParameters => {
  const invalid = (option: string, rule: string, value: unknown) => invalidParameter(declared.name, option, rule, value)
  if (live === undefined) return invalid("operation", "must be a streaming operation", undefined)
  if (!Predicate.isObject(parameters)) return invalid("parameters", "must be an object", parameters)
  if (!Predicate.isObject(options)) return invalid("options", "must be an object", options)
  for (const name of Object.keys(options)) {
    if (!streamOptionNames.includes(name)) return invalid(name, `is not an option of ${declared.name}`, undefined)
  }
  const {
    bufferSize,
    duplicates = {},
    onEvent,
    reconnects = Infinity,
    recover = live.rules === true ? "search" : "none",
    resumeFrom,
    silence = defaultSilenceMillis,
    slowConsumer,
    tags
  }: StreamOptions = options
  if (!recovers.includes(recover)) return invalid("recover", "must be none, search or recovery", recover)
  if (recover === "search" && live.rules !== true) {
    return invalid("recover", "must be none or recovery: a stream without rules cannot be searched for", recover)
  }
  if (slowConsumer !== undefined && !policies.includes(slowConsumer)) {
    return invalid("slowConsumer", "must be fail, dropOldest or spill", slowConsumer)
  }
  if (slowConsumer === "spill" && !canSpill) {
    return invalid(
      "slowConsumer",
      "cannot be spill: this client has no storage outside of memory (provide a Spill)",
      slowConsumer
    )
  }
  if (bufferSize !== undefined && !isCount(bufferSize, 1)) {
    return invalid("bufferSize", "must be a whole number above 0", bufferSize)
  }
  if (tags !== undefined && !(Array.isArray(tags) && tags.length > 0 && tags.every(Predicate.isString))) {
    return invalid("tags", "must be a list of at least one tag", tags)
  }
  if (tags !== undefined && live.rules !== true) {
    return invalid("tags", "must be omitted: the stream has no rules", tags)
  }
  if (resumeFrom !== undefined) {
    if (!Predicate.isObject(resumeFrom) || !(resumeFrom.at instanceof Date) || Number.isNaN(resumeFrom.at.getTime())) {
      return invalid("resumeFrom.at", "must be a date", resumeFrom)
    }
    const { ids } = resumeFrom
    if (ids !== undefined && !(Array.isArray(ids) && ids.every(Predicate.isString))) {
      return invalid("resumeFrom.ids", "must be a list of ids", ids)
    }
  }
  if (!isMillis(silence)) return invalid("silence", "must be a number of milliseconds above 0", silence)
  if (reconnects !== Infinity && !isCount(reconnects, 0)) {
    return invalid("reconnects", "must be a whole number from 0, or Infinity", reconnects)
  }
  if (!Predicate.isObject(duplicates)) return invalid("duplicates", "must be an object", duplicates)
  const { age = defaultDuplicatesMillis, size = defaultDuplicates } = duplicates
  if (!isCount(size, 1)) return invalid("duplicates.size", "must be a whole number above 0", size)
  if (!isMillis(age)) return invalid("duplicates.age", "must be a number of milliseconds above 0", age)
  if (onEvent !== undefined && typeof onEvent !== "function") return invalid("onEvent", "must be a function", onEvent)
  const definition = { ...declared, live }
  return { definition, parameters, recover, silence, reconnects, duplicates: { size, age } }
}

const isCount = (value: unknown, least: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least

const isMillis = (value: unknown): value is number => typeof value === "number" && value > 0 && value < 2 ** 31
