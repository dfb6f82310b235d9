import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Problem from "../http/Problem.ts"
import * as Matcher from "../matching/Matcher.ts"
import type { Reply } from "../projection/Reply.ts"
import { longestRule } from "../streams/Matching.ts"
import type { Call, Handlers, Parameters } from "./Handler.ts"

/** The maximum length of a rule without research access, in characters. */
const usualLength = 1_024

/** The rules of the filtered stream. */
export const handlers = {
  getStreamRules: ({ caller: { appId }, now, page: { cursor, limit }, parameters: { ids }, store }) => {
    const rules = store.streamRules.list(appId).filter(({ id }) => ids === undefined || ids.includes(id))
    const from = cursor === undefined ? 0 : rules.findIndex(({ id }) => BigInt(id) > BigInt(cursor.key))
    const listed = from < 0 ? [] : rules.slice(from, from + limit)
    const last = listed.at(-1)
    return Effect.succeed({
      ...(listed.length > 0 && { data: listed }),
      meta: { sent: new Date(now).toISOString(), result_count: listed.length },
      page: {
        next: last === undefined || last === rules.at(-1) ? undefined : { direction: "older", key: last.id },
        previous: undefined
      }
    })
  },

  updateStreamRules: (call) =>
    Effect.sync(() => {
      const { parameters: { add, delete_all, dry_run = false }, store } = call
      let reply: Reply = {}
      try {
        store.transaction(() => {
          reply = add === undefined ? remove(call, delete_all === true) : insert(call, add)
          if (dry_run) throw new OnlyTried()
        })
      } catch (error) {
        if (!(error instanceof OnlyTried)) throw error
      }
      return reply
    }),

  getStreamRuleCounts: ({ caller: { appId }, store: { streamRules }, streams: { maxRules } }) =>
    Effect.succeed({
      data: {
        cap_per_client_app: maxRules,
        cap_per_project: maxRules,
        client_app_rules_count: { client_app_id: appId, rule_count: streamRules.count(appId) },
        project_rules_count: streamRules.count(appId),
        all_project_client_apps: [{ client_app_id: appId, rule_count: streamRules.count(appId) }]
      }
    })
} satisfies Partial<Handlers>

/** Rolls back a dry run. */
class OnlyTried extends Error {}

type Update = Call<Parameters<"updateStreamRules">>

const sentAt = (now: number) => new Date(now).toISOString()

const insert = (
  { caller: { access, appId }, now, store: { streamRules }, streams: { maxRules } }: Update,
  add: NonNullable<Parameters<"updateStreamRules">["add"]>
): Reply => {
  const created: Array<object> = []
  const errors: Array<Problem.Entry> = []
  let invalid = 0
  for (const { tag, value } of add) {
    const parsed = Matcher.parse(value, { maximumLength: access === "research" ? longestRule : usualLength })
    const same = streamRules.byValue(appId, value)
    if (Result.isFailure(parsed)) {
      invalid++
      errors.push(Problem.invalidRule(value, `${parsed.failure.message} (at position ${parsed.failure.position + 1})`))
    } else if (same !== undefined) {
      errors.push(Problem.duplicateRule(same))
    } else if (streamRules.count(appId) >= maxRules) {
      errors.push(Problem.ruleCap(value, maxRules))
    } else {
      const rule = { value, ...(tag !== undefined && { tag }) }
      created.push({ ...rule, id: streamRules.insert({ ...rule, appId, createdAt: now }) })
    }
  }
  return {
    ...(created.length > 0 && { data: created }),
    ...(errors.length > 0 && { errors }),
    meta: {
      sent: sentAt(now),
      summary: {
        created: created.length,
        not_created: add.length - created.length,
        valid: add.length - invalid,
        invalid
      }
    }
  }
}

const remove = (
  { caller: { appId }, now, parameters: { delete_ids = [], delete_values = [] }, store: { streamRules } }: Update,
  all: boolean
): Reply => {
  const rules = streamRules.list(appId)
  const ids = all
    ? rules.map(({ id }) => id)
    : [...delete_ids, ...rules.filter(({ value }) => delete_values.includes(value)).map(({ id }) => id)]
  const wanted = all ? ids.length : delete_ids.length + delete_values.length
  const deleted = streamRules.delete(appId, [...new Set(ids)])
  const missing = delete_ids.filter((id) => !rules.some((rule) => rule.id === id))
  return {
    ...(missing.length > 0 && {
      errors: missing.map((id) => Problem.notFound({ kind: "rule", id, parameter: "delete.ids" }))
    }),
    meta: { sent: sentAt(now), summary: { deleted, not_deleted: Math.max(0, wanted - deleted) } }
  }
}
