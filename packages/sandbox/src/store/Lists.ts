/** Lists of users. */
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import { type Page, pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Snowflake from "./Snowflake.ts"
import * as Users from "./Users.ts"
import * as Visibility from "./Visibility.ts"

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

/** The input of `insert`. */
export interface NewList {
  readonly ownerId: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly description?: string | undefined
  /** Restricts the list to its owner. Default `false`. */
  readonly private?: boolean | undefined
}

/** The fields of a list to change. */
export type ListChange = Partial<Pick<List, "name" | "description" | "private">>

/** Selects lists of a user. Private lists are visible to their owner only. */
type OfUser = PageRequest & { readonly userId: string; readonly viewer?: Visibility.Viewer | undefined }

export interface Lists {
  /** Returns the id. */
  readonly insert: (list: NewList) => string
  /** A list that becomes private loses its followers and the pins of others. */
  readonly update: (id: string, change: ListChange) => void
  /** Deletes a list with its members, followers and pins. */
  readonly delete: (id: string) => void
  readonly byId: (id: string) => List | undefined
  readonly countOwned: (userId: string) => number
  /** Adds or removes a member. Idempotent; returns the new state. */
  readonly setMember: (listId: string, userId: string, member: boolean) => boolean
  readonly isMember: (listId: string, userId: string) => boolean
  /** Follows or unfollows a list; unfollowing a list of somebody else also unpins it. Idempotent; returns the new state. */
  readonly setFollower: (listId: string, userId: string, following: boolean) => boolean
  readonly isFollowing: (listId: string, userId: string) => boolean
  /** Pins or unpins a list for a user. Idempotent; returns the new state. */
  readonly setPinned: (listId: string, userId: string, pinned: boolean) => boolean
  /** The lists that a user has pinned, in pinning order. */
  readonly pinnedBy: (userId: string) => ReadonlyArray<List>
  /** The members of a list, latest first. */
  readonly members: (options: PageRequest & { readonly listId: string }) => Page<Users.User>
  /** The followers of a list, latest first. */
  readonly followers: (options: PageRequest & { readonly listId: string }) => Page<Users.User>
  /** The lists that a user follows, latest first. */
  readonly followedBy: (options: OfUser) => Page<List>
  /** The lists that a user owns, latest first. */
  readonly ownedBy: (options: OfUser) => Page<List>
  /** The lists that have a user as member, latest first. */
  readonly withMember: (options: OfUser) => Page<List>
}

export const make = (database: Database): Lists => {
  const nextId = ids(database, "lists")
  const insert = database.command(`
    INSERT INTO lists (id, owner_id, name, description, private) VALUES (:id, :owner, :name, :description, :private)`)
  const byId = database.queryAs(`SELECT ${columns} FROM lists l WHERE l.id = :id`, decode)
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
  const membership = relation(database, "list_members", "member_count")
  const followed = relation(database, "list_followers", "follower_count")
  const pinned = relation(database, "pinned_lists")
  const pins = database.queryAs(
    `SELECT ${columns} FROM pinned_lists p JOIN lists l ON l.id = p.list_id WHERE p.user_id = :user ORDER BY p.key`,
    decode
  )
  const find = (id: string): List | undefined => byId.get({ id: Snowflake.parse(id) })

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
        // The list goes before the pins, so that its owner's pin is deleted too.
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
    pinnedBy: (userId) => pins.all({ user: Snowflake.parse(userId) }),
    members: people(database, "list_members"),
    followers: people(database, "list_followers"),
    followedBy: lists(database, {
      from: "list_followers t JOIN lists l ON l.id = t.list_id",
      of: "t.user_id",
      key: "t.key"
    }),
    ownedBy: lists(database, { from: "lists l", of: "l.owner_id", key: "l.id" }),
    withMember: lists(database, {
      from: "list_members t JOIN lists l ON l.id = t.list_id",
      of: "t.user_id",
      key: "t.key"
    })
  }
}

const relation = (
  database: Database,
  table: "list_members" | "list_followers" | "pinned_lists",
  count?: string
) => {
  const add = database.command(`INSERT OR IGNORE INTO ${table} (list_id, user_id) VALUES (:list, :user)`)
  const remove = database.command(`DELETE FROM ${table} WHERE list_id = :list AND user_id = :user`)
  const counted = count && database.command(`UPDATE lists SET ${count} = ${count} + :by WHERE id = :list`)
  const has = database.query(`SELECT 1 FROM ${table} WHERE list_id = :list AND user_id = :user`)
  return {
    /** Returns whether anything changed. */
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

const people = (database: Database, table: "list_members" | "list_followers") => {
  const list = Users.pages(database, {
    from: `${table} t JOIN users u ON u.id = t.user_id`,
    where: "t.list_id = :list AND u.suspended = 0",
    key: "t.key"
  })
  return ({ listId, ...request }: PageRequest & { readonly listId: string }) =>
    list({ list: Snowflake.parse(listId) }, unbounded, request)
}

const lists = (database: Database, sql: { readonly from: string; readonly of: string; readonly key: string }) => {
  const list = pager<Row, List>(database, {
    select: columns,
    from: sql.from,
    where: `${sql.of} = :user AND (NOT l.private OR :viewer IS NULL OR l.owner_id = :viewer)`,
    key: sql.key
  }, decode)
  return ({ userId, viewer, ...request }: OfUser) =>
    list({ user: Snowflake.parse(userId), viewer: Visibility.valueOf(viewer) }, unbounded, request)
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
