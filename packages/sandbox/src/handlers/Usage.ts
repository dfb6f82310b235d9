import * as Effect from "effect/Effect"
import * as Usage from "../limits/Usage.ts"
import type { Handlers } from "./Handler.ts"

/** Usage. Each app is its own project, with the same id. */
export const handlers = {
  getUsage: ({ caller: { appId }, now, parameters: { days = 7 }, postCap, usage }) => {
    const [begin, end] = Usage.monthOf(now)
    const since = Usage.dayOf(now) - (days - 1) * Usage.dayMillis
    const read = usage.days(appId)
    const daily = read
      .filter(({ at }) => at >= since && at <= now)
      .map(({ at, posts }) => ({ date: new Date(at).toISOString(), usage: String(posts) }))
    const ofMonth = read.reduce((sum, { at, posts }) => at >= begin && at < end ? sum + posts : sum, 0)
    return Effect.succeed({
      data: {
        // A day that has started counts as remaining.
        cap_reset_day: Math.ceil((end - now) / Usage.dayMillis),
        daily_client_app_usage: daily.length === 0
          ? []
          : [{ client_app_id: appId, usage: daily, usage_result_count: daily.length }],
        daily_project_usage: { project_id: appId, usage: daily },
        project_cap: String(postCap.maximum),
        project_id: appId,
        project_usage: String(ofMonth)
      }
    })
  }
} satisfies Partial<Handlers>
