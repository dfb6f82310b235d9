/** Checks the options of a stream and fills in the defaults. */
import * as Predicate from "effect/Predicate"
import { invalidParameter, type InvalidParameters } from "../../errors/Errors.ts"
import type { Definition } from "../../schema/Definition.ts"
import type { Recover, SlowConsumer, StreamOptions } from "../StreamOptions.ts"
import type { ConnectionSettings } from "./sharedConnection.ts"

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
): ConnectionSettings | InvalidParameters => {
  const invalid = (option: string, rule: string, value: unknown) => invalidParameter(declared.name, option, rule, value)
  if (live === undefined) return invalid("operation", "must be a streaming operation", undefined)
  if (!Predicate.isObject(parameters)) return invalid("parameters", "must be an object", parameters)
  if (!Predicate.isObject(options)) return invalid("options", "must be an object", options)
  for (const name of Object.keys(options)) {
    if (!streamOptionNames.includes(name)) return invalid(name, `is not an option of ${declared.name}`, undefined)
  }
  const hasRules = live.rules === true
  const {
    bufferSize = defaultBufferSize,
    duplicates = {},
    onEvent,
    reconnects = Infinity,
    recover = hasRules ? "search" : "none",
    resumeFrom,
    silence = defaultSilenceMillis,
    slowConsumer = "fail",
    tags
  }: StreamOptions = options
  const ids = resumeFrom?.ids
  const { age = defaultDuplicatesMillis, size = defaultDuplicates } = duplicates ?? {}
  const rules: ReadonlyArray<readonly [isKept: boolean, option: string, rule: string, value: unknown]> = [
    [recovers.includes(recover), "recover", "must be none, search or recovery", recover],
    [recover !== "search" || hasRules, "recover", noSearch, recover],
    [policies.includes(slowConsumer), "slowConsumer", "must be fail, dropOldest or spill", slowConsumer],
    [slowConsumer !== "spill" || canSpill, "slowConsumer", noSpill, slowConsumer],
    [isCount(bufferSize, 1), "bufferSize", "must be a whole number above 0", bufferSize],
    [tags === undefined || areTexts(tags) && tags.length > 0, "tags", "must be a list of at least one tag", tags],
    [tags === undefined || hasRules, "tags", "must be omitted: the stream has no rules", tags],
    [resumeFrom === undefined || isDate(resumeFrom?.at), "resumeFrom.at", "must be a date", resumeFrom],
    [ids === undefined || areTexts(ids), "resumeFrom.ids", "must be a list of ids", ids],
    [isMillis(silence), "silence", millis, silence],
    [reconnects === Infinity || isCount(reconnects, 0), "reconnects", wholeOrInfinity, reconnects],
    [Predicate.isObject(duplicates), "duplicates", "must be an object", duplicates],
    [isCount(size, 1), "duplicates.size", "must be a whole number above 0", size],
    [isMillis(age), "duplicates.age", millis, age],
    [onEvent === undefined || typeof onEvent === "function", "onEvent", "must be a function", onEvent]
  ]
  for (const [isKept, option, rule, value] of rules) if (!isKept) return invalid(option, rule, value)
  const definition = { ...declared, live }
  return { definition, parameters, recover, silence, reconnects, duplicates: { size, age } }
}

const millis = "must be a number of milliseconds above 0"

const wholeOrInfinity = "must be a whole number from 0, or Infinity"

const noSearch = "must be none or recovery: a stream without rules cannot be searched for"

const noSpill = "cannot be spill: this client has no storage outside of memory (provide a Spill)"

const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(Predicate.isString)

const isDate = (value: unknown): boolean => value instanceof Date && !Number.isNaN(value.getTime())

const isCount = (value: number, least: number): boolean => Number.isSafeInteger(value) && value >= least

const isMillis = (value: number): boolean => typeof value === "number" && value > 0 && value < 2 ** 31
