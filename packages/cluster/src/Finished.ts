/** The pages of a finished export as they were read, out of the tables, for any sink of `@postwire/export`. */
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

/** The tables do not hold the export in its order: it is not finished, or was made by an earlier version. */
export class NotReadable extends Schema.TaggedError<NotReadable>("@postwire/cluster/Finished/NotReadable")(
  "NotReadable",
  { export: Schema.String, reason: Schema.String, advice: Schema.String }
) {
  override get message(): string {
    return `The export ${this.export} cannot become a file: ${this.reason}`
  }
}

/**
 * The pages of a finished export, from the beginning or from the place that a cursor leads to. A database that is away is
 * waited for.
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
    return refuse("the database has made it anew since the file was begun", "Begin the file anew (--force).")
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
          "Make it anew, under another --label."
        )
        : Stream.paginate({ part, page }, read))
  )
}

const neverAsked = Effect.die(new Error("What is in the tables is not asked for again"))

/** The client of a source that asks nobody. */
export const layerClient: Layer.Layer<Client> = Layer.succeed(Client, {
  send: () => neverAsked,
  request: () => neverAsked,
  check: () => neverAsked,
  sendChecked: () => neverAsked,
  read: () => neverAsked,
  transfer: () => neverAsked,
  credential: () => Effect.succeed("none"),
  redact: neverAsked,
  live: { wire: neutral, verify: "lenient", anomalies: { found: () => Effect.void }, request: () => () => neverAsked }
})
