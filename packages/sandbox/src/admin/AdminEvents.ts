/** Admin calls about events of activity. */
import { eventTypes } from "@postwire/core/schema/models/Activity"
import * as Schema from "effect/Schema"
import { type Endpoints, withBody } from "./AdminEndpoint.ts"

export const endpoints: Endpoints = {
  "POST /trigger": withBody(
    "Makes an event of activity: by doing what it is about, or as an example.",
    Schema.Struct({
      event_type: Schema.Literals(eventTypes),
      user_id: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{1,19}$/))),
      set: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
    }),
    ({ trigger }, request) => trigger(request)
  )
}
