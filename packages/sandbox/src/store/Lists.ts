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

/** What of a list is to be another; the rest stays. */
export type ListChange = Partial<Pick<List, "name" | "description" | "private">>

/** Whose lists are read, and for whom: private ones are shown to their owner only. */
type OfUser = PageRequest & { readonly userId: string; readonly viewer?: Visibility.Viewer | undefined }

/** The lists of a store. */
export interface Lists {
  /** Returns the id. */
  readonly insert: (list: NewList) => string
  /** One that becomes private loses its followers, and the pins of others. */
  readonly update: (id: string, change: ListChange) => void
  /** Deletes a list, with what it is to its members and followers and those who pinned it. */
  readonly delete: (id: string) => void
  readonly byId: (id: string) => List | undefined
  /** How many lists a user owns. */
  readonly countOwned: (userId: string) => number
  /** Puts a user on a list, or takes one off; returns the state after. Repeating changes nothing. */
  readonly setMember: (listId: string, userId: string, member: boolean) => boolean
  readonly isMember: (listId: string, userId: string) => boolean
  /**
   * Makes a user follow a list, or stop, which ends the pin of a list that is another's; returns the state after. Repeating
   * changes nothing.
   */
  readonly setFollower: (listId: string, userId: string, following: boolean) => boolean
  readonly isFollowing: (listId: string, userId: string) => boolean
  /** Pins a list for a user, or unpins it; returns the state after. Repeating changes nothing. */
  readonly setPinned: (listId: string, userId: string, pinned: boolean) => boolean
  /** The lists that a user has pinned, in the order in which they were. */
  readonly pinnedBy: (userId: string) => ReadonlyArray<List>
  /** Who is on a list, the latest first. */
  readonly members: (options: PageRequest & { readonly listId: string }) => Page<Users.User>
  /** Who follows a list, the latest first. */
  readonly followers: (options: PageRequest & { readonly listId: string }) => Page<Users.User>
  /** The lists that a user follows, the latest first. */
  readonly followedBy: (options: OfUser) => Page<List>
  /** The lists that a user owns, the latest first. */
  readonly ownedBy: (options: OfUser) => Page<List>
  /** The lists that a user is on, the latest first. */
  readonly withMember: (options: OfUser) => Page<List>
}

/** The lists in a database. */
export const make = (database: Database): Lists => {
  const nextId = ids(database, "lists")
  const insert = database.command(`
    INSERT INTO lists (id, owner_id, name, description, private) VALUES (:id, :owner, :name, :description, :private)`)
  const byId = database.query<Row>(`SELECT ${columns} FROM lists l WHERE l.id = :id`)
  const update = database.command(`
    UPDATE lists SET name = coalesce(:name, name), description = coalesce(:description, description),
      private = coalesce(:private, private) WHERE id = :id`)
  const remove = database.command("DELETE FROM lists WHERE id = :id")
  const countOwned = database.query<{ readonly lists: number }>(
    "SELECT count(*) AS lists FROM lists WHERE owner_id = :user"
  )
  const forgetMembers = [
    `UPDATE users SET listed_count = listed_count - 1
     WHERE id IN (SELECT user_id FROM list_members WHERE list_id = :id)`,
    "DELETE FROM list_members WHERE list_id = :id"
  ].map(database.command)
  const forgetFollowers = [
    "DELETE FROM list_followers WHERE list_id = :id",
    "UPDATE lists SET follower_count = 0 WHERE id = :id",
    "DELETE FROM pinned_lists WHERE list_id = :id AND user_id NOT IN (SELECT owner_id FROM lists WHERE id = :id)"
  ].map(database.command)
  const countListed = database.command("UPDATE users SET listed_count = listed_count + :by WHERE id = :user")
  const relation = (table: "list_members" | "list_followers" | "pinned_lists", count?: string) => {
    const add = database.command(`INSERT OR IGNORE INTO ${table} (list_id, user_id) VALUES (:list, :user)`)
    const remove = database.command(`DELETE FROM ${table} WHERE list_id = :list AND user_id = :user`)
    const counted = count && database.command(`UPDATE lists SET ${count} = ${count} + :by WHERE id = :list`)
    const has = database.query(`SELECT 1 FROM ${table} WHERE list_id = :list AND user_id = :user`)
    return {
      /** Returns whether that changed anything. */
      set: (listId: string, userId: string, present: boolean): boolean => {
        const [list, user] = [Snowflake.parse(listId), Snowflake.parse(userId)]
        if ((present ? add : remove)({ list, user }) === 0) return false
        if (counted) counted({ list, by: present ? 1 : -1 })
        return true
      },
      has: (listId: string, userId: string): boolean =>
        has.get({ list: Snowflake.parse(listId), user: Snowflake.parse(userId) }) !== undefined
    }
  }
  const membership = relation("list_members", "member_count")
  const followed = relation("list_followers", "follower_count")
  const pinned = relation("pinned_lists")
  const pins = database.query<Row>(`
    SELECT ${columns} FROM pinned_lists p JOIN lists l ON l.id = p.list_id WHERE p.user_id = :user ORDER BY p.key`)
  const people = (table: "list_members" | "list_followers") => {
    const list = pager<Users.Row, Users.User>(database, {
      select: Users.columns,
      from: `${table} t JOIN users u ON u.id = t.user_id`,
      where: "t.list_id = :list AND u.suspended = 0",
      key: "t.key"
    }, Users.decode)
    return ({ listId, ...request }: PageRequest & { readonly listId: string }) =>
      list({ list: Snowflake.parse(listId) }, unbounded, request)
  }
  const lists = (sql: { readonly from: string; readonly of: string; readonly key: string }) => {
    const list = pager<Row, List>(database, {
      select: columns,
      from: sql.from,
      where: `${sql.of} = :user AND (NOT l.private OR :viewer IS NULL OR l.owner_id = :viewer)`,
      key: sql.key
    }, decode)
    return ({ userId, viewer, ...request }: OfUser) =>
      list({ user: Snowflake.parse(userId), viewer: Visibility.valueOf(viewer) }, unbounded, request)
  }
  const find = (id: string): List | undefined => {
    const row = byId.get({ id: Snowflake.parse(id) })
    return row && decode(row)
  }

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
    update: (listId, { description = null, name = null, private: isPrivate }) =>
      database.transaction(() => {
        const id = Snowflake.parse(listId)
        update({ id, name, description, private: isPrivate === undefined ? null : Number(isPrivate) })
        if (isPrivate === true) { for (const forget of forgetFollowers) forget({ id }) }
      }),
    delete: (listId) =>
      database.transaction(() => {
        const id = Snowflake.parse(listId)
        // In this order: of a list that is gone nobody is the owner, whose pin would stay.
        for (const forget of [...forgetMembers, remove, ...forgetFollowers]) forget({ id })
      }),
    byId: find,
    countOwned: (userId) => countOwned.get({ user: Snowflake.parse(userId) })?.lists ?? 0,
    setMember: (listId, userId, member) =>
      database.transaction(() => {
        if (membership.set(listId, userId, member)) {
          countListed({ user: Snowflake.parse(userId), by: member ? 1 : -1 })
        }
        return member
      }),
    isMember: membership.has,
    setFollower: (listId, userId, following) =>
      database.transaction(() => {
        followed.set(listId, userId, following)
        if (!following && find(listId)?.owner_id !== userId) pinned.set(listId, userId, false)
        return following
      }),
    isFollowing: followed.has,
    setPinned: (listId, userId, present) => {
      pinned.set(listId, userId, present)
      return present
    },
    pinnedBy: (userId) => pins.all({ user: Snowflake.parse(userId) }).map(decode),
    members: people("list_members"),
    followers: people("list_followers"),
    followedBy: lists({ from: "list_followers t JOIN lists l ON l.id = t.list_id", of: "t.user_id", key: "t.key" }),
    ownedBy: lists({ from: "lists l", of: "l.owner_id", key: "l.id" }),
    withMember: lists({ from: "list_members t JOIN lists l ON l.id = t.list_id", of: "t.user_id", key: "t.key" })
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
