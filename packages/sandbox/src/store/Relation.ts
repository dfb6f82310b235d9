/** A table of pairs of ids, such as users and the posts that they like. */
import type { Database } from "./Database.ts"

export const make = (database: Database, table: string, [left, right]: readonly [left: string, right: string]) => {
  const where = `${left} = :left AND ${right} = :right`
  const add = database.command(`INSERT OR IGNORE INTO ${table} (${left}, ${right}) VALUES (:left, :right)`)
  const remove = database.command(`DELETE FROM ${table} WHERE ${where}`)
  const has = database.query(`SELECT 1 FROM ${table} WHERE ${where}`)
  return {
    /** Adds or removes a pair. Idempotent; true if that changed anything. */
    set: (left: string, right: string, present: boolean): boolean => (present ? add : remove)({ left, right }) > 0,
    has: (left: string, right: string): boolean => has.get({ left, right }) !== undefined
  }
}
