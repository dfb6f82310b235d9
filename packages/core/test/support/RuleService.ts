/** The rules of a filtered stream as the service keeps them, for requests that take their time. */
import { Clock, Effect } from "effect"
import type { Answer, Received } from "./Service.ts"

export interface Kept {
  readonly id: string
  readonly value: string
  readonly tag?: string | undefined
  /** When a stream surely follows it. */
  readonly effectiveAt: number
}

export interface Options {
  readonly cap: number
  /** Whether values that differ in parentheses around them only are the same. */
  readonly normalizes: boolean
  /** Whether it tells how many rules there may be. */
  readonly counts: boolean
  readonly invalid: ReadonlyArray<string>
  /** Milliseconds that the next request takes to come, or its answer. */
  readonly delay: () => number
}

const problem = (kind: string, more: object) => ({
  type: `https://api.example.com/2/problems/${kind}`,
  title: kind,
  ...more
})

export const make = (
  initial: ReadonlyArray<{ readonly value: string; readonly tag?: string | undefined }>,
  options: Partial<Options>
) => {
  const { cap = 1_000, counts = true, delay = () => 0, invalid = [], normalizes = false } = options
  let made = 0
  let rules: ReadonlyArray<Kept> = initial.map((rule) => ({ ...rule, id: String(++made), effectiveAt: -Infinity }))
  /** Told what is in effect after each deletion. */
  const deletions: Array<ReadonlyArray<string>> = []
  let most = rules.length
  const keyOf = (value: string) => normalizes ? value.replace(/^\((.*)\)$/, "$1") : value

  const add = (wanted: ReadonlyArray<{ value: string; tag?: string }>, isDry: boolean, now: number): Answer => {
    const before = rules
    const data: Array<object> = []
    const errors: Array<object> = []
    for (const { tag, value } of wanted) {
      const same = rules.find((rule) => keyOf(rule.value) === keyOf(value))
      if (invalid.includes(value)) {
        errors.push(problem("invalid-rules", { value, details: [`${value} is refused (at position 1)`] }))
      } else if (same !== undefined) errors.push(problem("duplicate-rules", { id: same.id, value }))
      else if (rules.length >= cap && !isDry) errors.push(problem("rule-cap", { detail: "too many rules" }))
      else {
        const rule = { id: String(++made), value, ...(tag === undefined ? {} : { tag }), effectiveAt: now + 20_000 }
        rules = [...rules, rule]
        const { effectiveAt: _, id, ...said } = rule
        data.push(isDry ? said : { id, ...said })
      }
    }
    if (isDry) rules = before
    most = Math.max(most, rules.length)
    return { status: 201, body: { ...(data.length > 0 && { data }), ...(errors.length > 0 && { errors }), meta: {} } }
  }

  const remove = (ids: ReadonlyArray<string>, now: number): Answer => {
    const gone = ids.filter((id) => !rules.some((rule) => rule.id === id))
    // One that is unknown spoils the request.
    if (gone.length > 0) return { status: 400, body: { title: "Invalid Request", errors: [{ message: "unknown id" }] } }
    rules = rules.filter(({ id }) => !ids.includes(id))
    deletions.push(rules.filter(({ effectiveAt }) => effectiveAt <= now).map(({ value }) => value))
    return { body: { meta: { summary: { deleted: ids.length, not_deleted: 0 } } } }
  }

  const answer = ({ body, method, path, query }: Received, now: number): Answer => {
    if (path.endsWith("/counts")) {
      return counts
        ? {
          body: {
            data: {
              cap_per_client_app: cap,
              cap_per_project: "100000",
              client_app_rules_count: { rule_count: rules.length },
              project_rules_count: String(rules.length)
            }
          }
        }
        : { status: 404, body: { title: "Not Found" } }
    }
    if (method === "GET") {
      return { body: { data: rules.map(({ effectiveAt: _, ...rule }) => rule), meta: { result_count: rules.length } } }
    }
    const sent: { add?: ReadonlyArray<{ value: string; tag?: string }>; delete?: { ids: ReadonlyArray<string> } } = JSON
      .parse(body)
    return sent.add === undefined
      ? remove(sent.delete?.ids ?? [], now)
      : add(sent.add, query["dry_run"] === "true", now)
  }

  return {
    rules: () => rules,
    most: () => most,
    deletions,
    answer: (request: Received) =>
      Effect.gen(function*() {
        yield* Effect.sleep(delay())
        const answered = answer(request, yield* Clock.currentTimeMillis)
        yield* Effect.sleep(delay())
        return answered
      })
  }
}
