/** The stream of activity. */
import { ActivityEvent, normalise } from "../../schema/models/Activity.ts"
import * as Response from "../../schema/Response.ts"
import * as StreamOperation from "../StreamOperation.ts"
import { recoverable, stream } from "./parameters.ts"

/**
 * Streams the events that the app has subscribed to. Credential: the app's bearer token.
 *
 * It brings the events of every subscription, also of those with a webhook. `event_type` selects the type of a payload.
 * Subscribe with `createActivitySubscription`. An app has two connections, and up to 250 events arrive a second.
 * `backfill_minutes` is 0 to 5. Each event is charged by its type.
 *
 * ```ts
 * const events = streamActivity()
 * ```
 */
export const streamActivity = /*#__PURE__*/ StreamOperation.make({
  name: "streamActivity",
  summary: "Streams the events that the app has subscribed to.",
  route: "GET /2/activity/stream",
  query: recoverable,
  result: /*#__PURE__*/ Response.value(ActivityEvent, normalise),
  limits: { perWindow: 450 },
  price: { event: true },
  live: { endpoint: "activity_stream", recovery: true },
  ...stream
})
