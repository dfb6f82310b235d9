import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** A check of stored posts or users against the state of the service. */
export const ComplianceJob = /*#__PURE__*/ Model.make({
  kind: "compliance_job",
  identifier: "id",
  includes: undefined,
  defaults: [
    "id",
    "type",
    "status",
    "created_at",
    "upload_url",
    "upload_expires_at",
    "download_url",
    "download_expires_at",
    "name",
    "resumable"
  ],
  fields: {
    id: Schema.String,
    type: Model.known("posts", "users"),
    status: Model.known("created", "in_progress", "complete", "failed", "expired"),
    created_at: Schema.String,
    upload_url: Schema.String,
    upload_expires_at: Schema.String,
    download_url: Schema.String,
    download_expires_at: Schema.String,
    name: Schema.optionalKey(Schema.String),
    resumable: Schema.optionalKey(Schema.Boolean)
  }
})
/** A check of stored posts or users with every field selected. */
export interface ComplianceJob extends Model.Type<typeof ComplianceJob> {}
