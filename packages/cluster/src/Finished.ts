/** The pages of a finished export from the tables, as they were read, for any sink of `@postwire/export`. */
import { Client } from "@postwire/core/client/Client"
import { neutral } from "@postwire/core/wire/Wire"
import type * as Source from "@postwire/export/sources/Source"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { answered } from "./Answered.ts"
import { pageOf, type PagePlace } from "./Rows.ts"
import type { ExportStatus, Tables } from "./Tables.ts"

/**
 * The tables do not have the export in order: it is not finished, was made again, or was made by an earlier version. Nothing was
 * sent or changed.
 */
export class NotReadable extends Schema.TaggedError<NotReadable>("@postwire/cluster/Finished/NotReadable")(
  "NotReadable",
  { export: Schema.String, reason: Schema.String, advice: Schema.String }
) {
  override get message(): string {
    return `The export ${this.export} cannot become a file: ${this.reason}`
  }
}

/**
 * The pages of a finished export, from the beginning or from a cursor. Waits for an unavailable database.
 */
export const pages = (
  tables: Tables["Service"],
  { created, id, parts, state }: ExportStatus,
  cursor?: string
): Stream.Stream<Source.Page, NotReadable> => {
  const refuse = (reason: string, advice: string) => Stream.fail(new NotReadable({ export: id, reason, advice }))
  if (state !== "done") return refuse(`it is ${state}`, "Wait until it is done.")
  const [made = created, part = 0, page = 0] = cursor?.split(":").map(Number) ?? []
  if (cursor !== undefined && made !== created) {
    return refuse("the database has made it again since the file was started", "Start the file again (--force).")
  }
  const after = ({ page, part }: PagePlace): PagePlace | undefined =>
    page + 1 < (parts[part]?.pages ?? 0)
      ? { part, page: page + 1 }
      : part + 1 < parts.length
      ? { part: part + 1, page: 0 }
      : undefined
  const read = (place: PagePlace) =>
    Effect.map(answered(tables.page(id, place)), (rows) => {
      const next = after(place)
      const page: Source.Page = {
        ...pageOf(rows, place),
        next: next && `${created}:${next.part}:${next.page}`,
        requests: 1
      }
      return [[page], Option.fromUndefinedOr(next)] as const
    })
  return Stream.unwrap(
    Effect.map(answered(tables.hasUnplaced(id)), (hasUnplaced) =>
      hasUnplaced
        ? refuse(
          "an earlier version, which kept no order, has made a part of it",
          "Make it again, under another --label."
        )
        : Stream.paginate({ part, page }, read))
  )
}

const neverAsked = Effect.die(new Error("Pages in the tables are not requested again"))

/** The client of a source that sends no requests. */
export const layerClient: Layer.Layer<Client> = Layer.succeed(Client, {
  send: () => neverAsked,
  request: () => neverAsked,
  check: () => neverAsked,
  sendChecked: () => neverAsked,
  read: () => neverAsked,
  transfers: neverAsked,
  credential: () => Effect.succeed("none"),
  redact: neverAsked,
  live: { wire: neutral, verify: "lenient", anomalies: { found: () => Effect.void }, request: () => () => neverAsked }
})
