/** Lists of users, whose posts they show. */
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import { type Page, pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Snowflake from "./Snowflake.ts"
import * as Users from "./Users.ts"
import * as Visibility from "./Visibility.ts"

/** A list, with every field that the store knows. */
export interface List {
  readonly id: string
  readonly name: string
  readonly created_at: string
  readonly description: string
  readonly owner_id: string
  readonly private: boolean
  readonly follower_count: number
  readonly member_count: number
}

/** A list to be. */
export interface NewList {
  readonly ownerId: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly description?: string | undefined
  /** Whether only the owner sees it; false when left out. */
  readonly private?: boolean | undefined
}

/** The lists of a store. */
export interface Lists {
  /** Returns the id. */
  readonly insert: (list: NewList) => string
  readonly byId: (id: string) => List | undefined
  /** Puts a user on a list, or takes one off; returns the state after. Repeating changes nothing. */
  readonly setMember: (listId: string, userId: string, member: boolean) => boolean
  /** Makes a user follow a list, or stop; returns the state after. Repeating changes nothing. */
  readonly setFollower: (listId: string, userId: string, following: boolean) => boolean
  readonly isFollowing: (listId: string, userId: string) => boolean
  /** Who follows a list, the latest first. */
  readonly followers: (options: PageRequest & { readonly listId: string }) => Page<Users.User>
  /** The lists that a user follows, the latest first; private ones for their owner only. */
  readonly followedBy: (
    options: PageRequest & { readonly userId: string; readonly viewer?: Visibility.Viewer | undefined }
  ) => Page<List>
}

/** The lists in a database. */
export const make = (database: Database): Lists => {
  const nextId = ids(database, "lists")
  const insert = database.command(`
    INSERT INTO lists (id, owner_id, name, description, private) VALUES (:id, :owner, :name, :description, :private)`)
  const byId = database.query<Row>(`SELECT ${columns} FROM lists l WHERE l.id = :id`)
  const followed = database.query("SELECT 1 FROM list_followers WHERE list_id = :list AND user_id = :user")
  const countListed = database.command("UPDATE users SET listed_count = listed_count + :by WHERE id = :user")
  const setter = (table: "list_members" | "list_followers", column: "member_count" | "follower_count") => {
    const add = database.command(`INSERT OR IGNORE INTO ${table} (list_id, user_id) VALUES (:list, :user)`)
    const remove = database.command(`DELETE FROM ${table} WHERE list_id = :list AND user_id = :user`)
    const count = database.command(`UPDATE lists SET ${column} = ${column} + :by WHERE id = :list`)
    return (listId: string, userId: string, present: boolean): boolean =>
      database.transaction(() => {
        const [list, user] = [Snowflake.parse(listId), Snowflake.parse(userId)]
        if ((present ? add : remove)({ list, user }) > 0) {
          const by = present ? 1 : -1
          count({ list, by })
          if (table === "list_members") countListed({ user, by })
        }
        return present
      })
  }
  const followers = pager<Users.Row, Users.User>(database, {
    select: Users.columns,
    from: "list_followers f JOIN users u ON u.id = f.user_id",
    where: "f.list_id = :list",
    key: "f.key"
  }, Users.decode)
  const followedBy = pager<Row, List>(database, {
    select: columns,
    from: "list_followers f JOIN lists l ON l.id = f.list_id",
    where: "f.user_id = :user AND (NOT l.private OR :viewer IS NULL OR l.owner_id = :viewer)",
    key: "f.key"
  }, decode)

  return {
    insert: (list) => {
      const id = nextId(list.createdAt)
      insert({
        id,
        owner: Snowflake.parse(list.ownerId),
        name: list.name,
        description: list.description ?? "",
        private: Number(list.private ?? false)
      })
      return String(id)
    },
    byId: (id) => {
      const row = byId.get({ id: Snowflake.parse(id) })
      return row && decode(row)
    },
    setMember: setter("list_members", "member_count"),
    setFollower: setter("list_followers", "follower_count"),
    isFollowing: (listId, userId) =>
      followed.get({ list: Snowflake.parse(listId), user: Snowflake.parse(userId) }) !== undefined,
    followers: ({ listId, ...request }) => followers({ list: Snowflake.parse(listId) }, unbounded, request),
    followedBy: ({ userId, viewer, ...request }) =>
      followedBy({ user: Snowflake.parse(userId), viewer: Visibility.valueOf(viewer) }, unbounded, request)
  }
}

const columns = `
  CAST(l.id AS TEXT) AS id, l.id >> ${Snowflake.counterBits} AS millis, CAST(l.owner_id AS TEXT) AS owner_id, l.name,
  l.description, l.private, l.member_count, l.follower_count`

interface Row {
  readonly id: string
  readonly millis: number
  readonly owner_id: string
  readonly name: string
  readonly description: string
  readonly private: number
  readonly member_count: number
  readonly follower_count: number
}

const decode = ({ millis, private: isPrivate, ...list }: Row): List => ({
  id: list.id,
  name: list.name,
  created_at: new Date(millis).toISOString(),
  description: list.description,
  owner_id: list.owner_id,
  private: isPrivate === 1,
  follower_count: list.follower_count,
  member_count: list.member_count
})
