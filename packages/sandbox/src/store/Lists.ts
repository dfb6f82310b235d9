/** Lists, their members and followers. */
import type { Database } from "./Database.ts"
import { ids } from "./Ids.ts"
import { pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Records from "./Records.ts"
import * as Relation from "./Relation.ts"
import * as Users from "./Users.ts"
import * as Visibility from "./Visibility.ts"

const list = Records.record("l", {
  id: Records.id(),
  name: Records.text(),
  created_at: Records.created("id"),
  description: Records.text(),
  owner_id: Records.id(),
  private: Records.flag(),
  follower_count: Records.number(),
  member_count: Records.number()
})

export type List = Records.Of<typeof list>

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

export const make = (database: Database) => {
  const nextId = ids(database, "lists")
  const find = database.select(list, "FROM lists l WHERE l.id = :id")
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
  const countMembers = database.command("UPDATE lists SET member_count = member_count + :by WHERE id = :list")
  const countFollowers = database.command("UPDATE lists SET follower_count = follower_count + :by WHERE id = :list")
  const members = Relation.make(database, "list_members", ["list_id", "user_id"])
  const followers = Relation.make(database, "list_followers", ["list_id", "user_id"])
  const pinned = Relation.make(database, "pinned_lists", ["list_id", "user_id"])
  const pins = database.select(
    list,
    "FROM pinned_lists p JOIN lists l ON l.id = p.list_id WHERE p.user_id = :user ORDER BY p.key"
  )
  const byId = (id: string) => find.get({ id })

  return {
    /** Returns the id. */
    insert: ({ createdAt, description = "", name, ownerId, private: isPrivate = false }: NewList): string => {
      const id = nextId(createdAt)
      database.insert("lists", { id, owner_id: ownerId, name, description, private: isPrivate })
      return String(id)
    },
    /** A list that becomes private loses its followers and the pins of others. */
    update: (id: string, { description, name, private: isPrivate }: ListChange): void =>
      database.transaction(() => {
        const isHidden = isPrivate === undefined ? null : Number(isPrivate)
        update({ id, name: name ?? null, description: description ?? null, private: isHidden })
        if (isPrivate === true) { for (const forget of forgetFollowers) forget({ id }) }
      }),
    /** Deletes a list with its members, followers and pins. */
    delete: (id: string): void =>
      database.transaction(() => {
        // The list goes before the pins, so that its owner's pin is deleted too.
        for (const forget of [...forgetMembers, remove, ...forgetFollowers]) forget({ id })
      }),
    byId,
    countOwned: (user: string): number => countOwned.get({ user })?.lists ?? 0,
    /** Adds or removes a member. Idempotent; returns the new state. */
    setMember: (list: string, user: string, member: boolean): boolean =>
      database.transaction(() => {
        if (members.set(list, user, member)) {
          const by = member ? 1 : -1
          countMembers({ list, by })
          countListed({ user, by })
        }
        return member
      }),
    isMember: members.has,
    /** Follows or unfollows a list; unfollowing a list of another user also unpins it. Idempotent; returns the new state. */
    setFollower: (list: string, user: string, following: boolean): boolean =>
      database.transaction(() => {
        if (followers.set(list, user, following)) countFollowers({ list, by: following ? 1 : -1 })
        if (!following && byId(list)?.owner_id !== user) pinned.set(list, user, false)
        return following
      }),
    isFollowing: followers.has,
    /** Pins or unpins a list for a user. Idempotent; returns the new state. */
    setPinned: (list: string, user: string, present: boolean): boolean => {
      pinned.set(list, user, present)
      return present
    },
    /** The lists that a user has pinned, in pinning order. */
    pinnedBy: (user: string) => pins.all({ user }),
    /** The members of a list, latest first. */
    members: people(database, "list_members"),
    /** The followers of a list, latest first. */
    followers: people(database, "list_followers"),
    /** The lists that a user follows, latest first. */
    followedBy: lists(database, "list_followers t JOIN lists l ON l.id = t.list_id", "t.user_id", "t.key"),
    /** The lists that a user owns, latest first. */
    ownedBy: lists(database, "lists l", "l.owner_id", "l.id"),
    /** The lists that have a user as member, latest first. */
    withMember: lists(database, "list_members t JOIN lists l ON l.id = t.list_id", "t.user_id", "t.key")
  }
}

const people = (database: Database, table: "list_members" | "list_followers") => {
  const pages = Users.pages(database, {
    from: `${table} t JOIN users u ON u.id = t.user_id`,
    where: "t.list_id = :list AND u.suspended = 0",
    key: "t.key"
  })
  return ({ listId: list, ...request }: PageRequest & { readonly listId: string }) =>
    pages({ list }, unbounded, request)
}

const lists = (database: Database, from: string, user: string, key: string) => {
  const where = `${user} = :user AND (NOT l.private OR :viewer IS NULL OR l.owner_id = :viewer)`
  const pages = pager(database, list, { from, where, key })
  return ({ userId: user, viewer, ...request }: OfUser) =>
    pages({ user, viewer: Visibility.valueOf(viewer) }, unbounded, request)
}
