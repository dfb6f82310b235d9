/** Who belongs to which organization: an account to one at most. */
import type { Database } from "./Database.ts"
import { type Page, pager, type PageRequest, unbounded } from "./Pages.ts"
import * as Snowflake from "./Snowflake.ts"
import * as Users from "./Users.ts"

/** The affiliates of a store. */
export interface Affiliates {
  /** Makes a user an affiliate of an organization, and of no other, or ends that. Repeating changes nothing. */
  readonly set: (organizationId: string, userId: string, affiliated: boolean) => void
  /** The affiliates of an organization, the latest first. */
  readonly of: (options: PageRequest & { readonly organizationId: string }) => Page<Users.User>
}

/** The affiliates in a database. */
export const make = (database: Database): Affiliates => {
  const add = database.command(`
    INSERT INTO affiliates (organization_id, user_id) VALUES (:organization, :user)
    ON CONFLICT (user_id) DO UPDATE SET organization_id = excluded.organization_id`)
  const remove = database.command("DELETE FROM affiliates WHERE organization_id = :organization AND user_id = :user")
  const of = pager<Users.Row, Users.User>(database, {
    select: Users.columns,
    from: "affiliates a JOIN users u ON u.id = a.user_id",
    where: "a.organization_id = :organization AND u.suspended = 0",
    key: "a.key"
  }, Users.decode)
  return {
    set: (organizationId, userId, affiliated) =>
      void (affiliated ? add : remove)({
        organization: Snowflake.parse(organizationId),
        user: Snowflake.parse(userId)
      }),
    of: ({ organizationId, ...request }) => of({ organization: Snowflake.parse(organizationId) }, unbounded, request)
  }
}
