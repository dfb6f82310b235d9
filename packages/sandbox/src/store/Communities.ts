/** Communities and their members. */
import * as Words from "../text/Words.ts"
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import { type Page, pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Snowflake from "./Snowflake.ts"

export interface Community {
  readonly id: string
  readonly name: string
  readonly created_at: string
  readonly description: string
  readonly access: string
  readonly join_policy: string
  readonly member_count: number
}

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

export interface Communities {
  /** Returns the id. */
  readonly insert: (community: NewCommunity) => string
  /** Returns private communities too: non-members can see that they exist. */
  readonly byId: (id: string) => Community | undefined
  /** Adds or removes a member. Idempotent. */
  readonly setMember: (id: string, userId: string, member: boolean) => void
  /** Communities with all words of a query in their name or description, latest first. */
  readonly search: (options: PageRequest & { readonly query: string }) => Page<Community>
}

export const make = (database: Database): Communities => {
  const nextId = ids(database, "communities")
  const insert = database.command(`
    INSERT INTO communities (id, name, description, access, join_policy)
    VALUES (:id, :name, :description, :access, :policy)`)
  const byId = database.queryAs(`SELECT ${columns} FROM communities c WHERE c.id = :id`, decode)
  const join = database.command(
    "INSERT OR IGNORE INTO community_members (community_id, user_id) VALUES (:community, :user)"
  )
  const leave = database.command("DELETE FROM community_members WHERE community_id = :community AND user_id = :user")
  const search = pager<Row, Community>(database, {
    select: columns,
    from: "communities c",
    where: Words.match("c.name || ' ' || c.description"),
    key: "c.id"
  }, decode)
  return {
    insert: ({ access = "Public", createdAt, description = "", id: given, joinPolicy = "Open", name }) => {
      const id = given === undefined ? nextId(createdAt) : Snowflake.parse(given)
      insert({ id, name, description, access, policy: joinPolicy })
      return String(id)
    },
    byId: (id) => byId.get({ id: Snowflake.parse(id) }),
    setMember: (id, userId, member) =>
      void (member ? join : leave)({ community: Snowflake.parse(id), user: Snowflake.parse(userId) }),
    search: ({ query, ...request }) => search({ words: Words.wordsOf(query) }, unbounded, request)
  }
}

const columns = `
  CAST(c.id AS TEXT) AS id, c.id >> ${Snowflake.counterBits} AS millis, c.name, c.description, c.access, c.join_policy,
  (SELECT count(*) FROM community_members m WHERE m.community_id = c.id) AS member_count`

interface Row extends Omit<Community, "created_at"> {
  readonly millis: number
}

const decode = ({ millis, ...community }: Row): Community => ({
  ...community,
  created_at: new Date(millis).toISOString()
})
