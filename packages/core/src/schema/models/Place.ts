import * as Schema from "effect/Schema"
import * as Model from "../Model.ts"

/** A named place. */
export const Place = /*#__PURE__*/ Model.make({
  kind: "place",
  identifier: "id",
  includes: "places",
  defaults: ["id", "full_name"],
  fields: {
    id: Schema.String,
    full_name: Schema.String,
    contained_within: Schema.optionalKey(Schema.Array(Schema.String)),
    country: Schema.String,
    country_code: Schema.String,
    geo: Schema.Struct({
      type: Model.known("Feature"),
      bbox: Schema.Array(Schema.Finite),
      geometry: Schema.optionalKey(
        Schema.Struct({ type: Model.known("Point"), coordinates: Schema.Array(Schema.Finite) })
      ),
      properties: Model.Json
    }),
    name: Schema.String,
    place_type: Model.known("poi", "neighborhood", "city", "admin", "country", "unknown")
  }
})
/** A named place with every field selected. */
export interface Place extends Model.Type<typeof Place> {}
