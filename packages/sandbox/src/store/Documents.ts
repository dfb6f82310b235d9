/** Records without a table of their own, as JSON: drafts, notes, plans of broadcasts and their chat. */
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import { pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Records from "./Records.ts"
import type { EventPublisher } from "./StoreEvents.ts"

/** The bodies by kind. Times are in milliseconds since the epoch. */
export interface Bodies {
  readonly article: { readonly title: string; readonly post_id?: string | undefined }
  readonly note: { readonly info: Readonly<Record<string, unknown>> }
  readonly broadcast: Plan
  readonly broadcast_message: { readonly text: string; readonly reply_to?: string | undefined }
  /** The owner may not write before `until`. */
  readonly broadcast_mute: { readonly until?: number | undefined }
}

/** The plan of a broadcast. */
export interface Plan extends Readonly<Record<string, unknown>> {
  readonly scheduled_start_ms: number
  readonly scheduled_end_ms: number
  readonly manual_publish?: boolean | undefined
  readonly title?: string | undefined
  readonly source_id?: string | undefined
  /** The first broadcast of its series. */
  readonly recurring_schedule_id?: string | undefined
  /** When it was published. */
  readonly live_ms?: number | undefined
}

export type Kind = keyof Bodies

/** A record: `key` is the object that it belongs to, if any. */
export interface Document<K extends Kind> {
  readonly id: string
  readonly ownerId: string
  readonly key: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly body: Bodies[K]
}

const shape = Records.record("d", {
  id: Records.id(),
  ownerId: Records.id("owner_id"),
  key: Records.text("of_key"),
  createdAt: Records.millis("id"),
  body: Records.json<unknown>()
})

export const make = (database: Database, events: EventPublisher) => {
  const nextId = ids(database, "documents")
  const byId = database.select(shape, "FROM documents d WHERE d.kind = :kind AND d.id = :id")
  const where = `d.kind = :kind AND (:owner IS NULL OR d.owner_id = :owner) AND (:key IS NULL OR d.of_key = :key)`
  const pages = pager(database, shape, { from: "documents d", where, key: "d.id" })
  const all = database.select(shape, `FROM documents d WHERE ${where} ORDER BY d.id`)
  const update = database.command("UPDATE documents SET body = :body WHERE id = :id")
  const publish = (kind: Kind, id: string): void => {
    if (kind === "broadcast") events.publish({ _tag: "Planned" })
    if (kind === "broadcast_message") events.publish({ _tag: "BroadcastMessage", id })
  }
  const remove = database.command("DELETE FROM documents WHERE kind = :kind AND id = :id")
  const valuesOf = (kind: Kind, { key, ownerId }: Of) => ({ kind, key: key ?? null, owner: ownerId ?? null })
  return {
    /** Returns the id. */
    insert: <K extends Kind>(
      kind: K,
      { body, createdAt, key = "", ownerId }: Omit<Document<K>, "id" | "key"> & { readonly key?: string }
    ): string => {
      const id = nextId(createdAt)
      database.insert("documents", { id, kind, owner_id: ownerId, of_key: key, body })
      publish(kind, String(id))
      return String(id)
    },
    byId: <K extends Kind>(kind: K, id: string) => byId.get({ kind, id }) as Document<K> | undefined,
    /** Latest first. */
    pages: <K extends Kind>(kind: K, of: Of, request: PageRequest) => {
      const page = pages(valuesOf(kind, of), unbounded, { ...request, selection: undefined })
      // The kind decides the body.
      return { ...page, items: page.items as ReadonlyArray<Document<K>> }
    },
    /** Oldest first. */
    all: <K extends Kind>(kind: K, of: Of) => all.all(valuesOf(kind, of)) as ReadonlyArray<Document<K>>,
    update: <K extends Kind>(kind: K, { body, id }: Pick<Document<K>, "id" | "body">): void => {
      update({ id, body: JSON.stringify(body) })
      publish(kind, id)
    },
    /** False if there is none. */
    delete: (kind: Kind, id: string): boolean => remove({ kind, id }) > 0
  }
}

/** Selects the records of an owner, or of an object. */
export interface Of {
  readonly ownerId?: string
  readonly key?: string
}
