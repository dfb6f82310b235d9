/** Communities and their members. */
import * as Words from "../text/Words.ts"
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import { pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Records from "./Records.ts"
import * as Relation from "./Relation.ts"

const community = Records.record("c", {
  id: Records.id(),
  name: Records.text(),
  created_at: Records.created("id"),
  description: Records.text(),
  access: Records.text(),
  join_policy: Records.text(),
  member_count: Records.number("(SELECT count(*) FROM community_members m WHERE m.community_id = c.id)")
})

/** The input of `insert`. */
export interface NewCommunity {
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** Default: derived from `createdAt`. */
  readonly id?: string
  readonly description?: string
  /** Default `Public`. */
  readonly access?: string
  /** Default `Open`. */
  readonly joinPolicy?: string
}

export const make = (database: Database) => {
  const nextId = ids(database, "communities")
  const byId = database.select(community, "FROM communities c WHERE c.id = :id")
  const members = Relation.make(database, "community_members", ["community_id", "user_id"])
  const search = pager(database, community, {
    from: "communities c",
    where: Words.match("c.name || ' ' || c.description"),
    key: "c.id"
  })
  return {
    /** Returns the id. */
    insert: (
      { access = "Public", createdAt, description = "", id = String(nextId(createdAt)), joinPolicy = "Open", name }:
        NewCommunity
    ): string => {
      database.insert("communities", { id, name, description, access, join_policy: joinPolicy })
      return id
    },
    /** Returns private communities too: non-members can see that they exist. */
    byId: (id: string) => byId.get({ id }),
    /** Adds or removes a member. Idempotent. */
    setMember: members.set,
    /** Communities with all words of a query in their name or description, latest first. */
    search: ({ query, ...request }: PageRequest & { readonly query: string }) =>
      search({ words: Words.wordsOf(query) }, unbounded, request)
  }
}
