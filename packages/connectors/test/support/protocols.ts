/** The messages of both protocols as JSON Schemas, by their published rules, and the check of a message by an independent validator. */
import { registerSchema, validate } from "@hyperjump/json-schema/draft-07"

const text = { type: "string" }
const texts = { type: "array", items: text }
const stream = { type: "object", required: ["name"], properties: { name: text } }

const message = (type: string, required: ReadonlyArray<string>, properties: object) => ({
  anyOf: [{ properties: { type: { not: { const: type } } } }, { required, properties }]
})

const within = (name: string, required: ReadonlyArray<string>, properties: object) =>
  [[name], { [name]: { type: "object", required, properties } }] as const

const schemas = {
  /** Singer, version 0.3.0. */
  singer: {
    type: "object",
    required: ["type"],
    properties: { type: { enum: ["SCHEMA", "RECORD", "STATE", "ACTIVATE_VERSION"] } },
    allOf: [
      message("SCHEMA", ["stream", "schema", "key_properties"], {
        stream: text,
        schema: { type: "object" },
        key_properties: texts,
        bookmark_properties: texts
      }),
      message("RECORD", ["stream", "record"], {
        stream: text,
        record: { type: "object" },
        time_extracted: { type: "string", format: "date-time" },
        version: { type: "integer" }
      }),
      message("STATE", ["value"], {})
    ]
  },
  /** The catalog of a Singer tap. */
  catalog: {
    type: "object",
    required: ["streams"],
    properties: {
      streams: {
        type: "array",
        items: {
          type: "object",
          required: ["tap_stream_id", "stream", "schema"],
          properties: {
            metadata: {
              type: "array",
              items: {
                type: "object",
                required: ["breadcrumb", "metadata"],
                properties: {
                  breadcrumb: texts,
                  metadata: {
                    type: "object",
                    properties: {
                      inclusion: { enum: ["available", "automatic", "unsupported"] },
                      "selected-by-default": { type: "boolean" },
                      "forced-replication-method": { enum: ["FULL_TABLE", "INCREMENTAL"] },
                      "table-key-properties": texts,
                      "valid-replication-keys": texts
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  },
  /** Airbyte, version 0.3.2. */
  airbyte: {
    type: "object",
    required: ["type"],
    properties: {
      type: { enum: ["RECORD", "STATE", "LOG", "SPEC", "CONNECTION_STATUS", "CATALOG", "TRACE", "CONTROL"] }
    },
    allOf: [
      message(
        "RECORD",
        ...within("record", ["stream", "data", "emitted_at"], {
          stream: text,
          data: { type: "object" },
          emitted_at: { type: "integer" }
        })
      ),
      message(
        "STATE",
        ...within("state", ["type", "stream"], {
          type: { enum: ["GLOBAL", "STREAM", "LEGACY"] },
          stream: {
            type: "object",
            required: ["stream_descriptor"],
            properties: { stream_descriptor: stream, stream_state: { type: "object" } }
          },
          sourceStats: { type: "object", properties: { recordCount: { type: "number" } } }
        })
      ),
      message(
        "LOG",
        ...within("log", ["level", "message"], {
          level: { enum: ["FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"] },
          message: text
        })
      ),
      message(
        "SPEC",
        ...within("spec", ["connectionSpecification"], {
          documentationUrl: { type: "string", format: "uri" },
          connectionSpecification: { type: "object" },
          protocol_version: text
        })
      ),
      message(
        "CONNECTION_STATUS",
        ...within("connectionStatus", ["status"], {
          status: { enum: ["SUCCEEDED", "FAILED"] },
          message: text
        })
      ),
      message(
        "CATALOG",
        ...within("catalog", ["streams"], {
          streams: {
            type: "array",
            items: {
              type: "object",
              required: ["name", "json_schema", "supported_sync_modes"],
              properties: {
                name: text,
                json_schema: { type: "object" },
                supported_sync_modes: { type: "array", minItems: 1, items: { enum: ["full_refresh", "incremental"] } },
                source_defined_cursor: { type: "boolean" },
                default_cursor_field: texts,
                source_defined_primary_key: { type: "array", items: texts }
              }
            }
          }
        })
      ),
      message(
        "TRACE",
        ...within("trace", ["type", "emitted_at"], {
          type: { enum: ["ERROR", "ESTIMATE", "STREAM_STATUS", "ANALYTICS"] },
          emitted_at: { type: "number" },
          error: {
            type: "object",
            required: ["message"],
            properties: { failure_type: { enum: ["system_error", "config_error", "transient_error"] } }
          },
          stream_status: {
            type: "object",
            required: ["stream_descriptor", "status"],
            properties: {
              stream_descriptor: stream,
              status: { enum: ["STARTED", "RUNNING", "COMPLETE", "INCOMPLETE"] }
            }
          }
        })
      )
    ]
  }
}

const uri = (name: string) => `https://protocols.example/${name}`

const dialect = "http://json-schema.org/draft-07/schema#"

/** Registers the schema of a stream's records. */
export const register = (name: string, schema: object): void => registerSchema(schema as never, uri(name), dialect)

for (const [name, schema] of Object.entries(schemas)) register(name, schema)

/** Whether a value fits a schema: empty, or the output of the validator. */
export const problemsOf = async (name: string, value: unknown): Promise<ReadonlyArray<string>> => {
  const output = await validate(uri(name), value as never, "BASIC")
  return output.valid ? [] : [JSON.stringify(output)]
}
