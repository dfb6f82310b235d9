/** Affiliates of organizations. An account belongs to at most one. */
import type { Database } from "./Database.ts"
import { type Page, type PageRequest, unbounded } from "./Pages.ts"
import * as Snowflake from "./Snowflake.ts"
import * as Users from "./Users.ts"

export interface Affiliates {
  /** Adds a user to an organization, leaving any other, or removes the user. Idempotent. */
  readonly set: (organizationId: string, userId: string, affiliated: boolean) => void
  /** The affiliates of an organization, latest first. */
  readonly of: (options: PageRequest & { readonly organizationId: string }) => Page<Users.User>
}

export const make = (database: Database): Affiliates => {
  const add = database.command(`
    INSERT INTO affiliates (organization_id, user_id) VALUES (:organization, :user)
    ON CONFLICT (user_id) DO UPDATE SET organization_id = excluded.organization_id`)
  const remove = database.command("DELETE FROM affiliates WHERE organization_id = :organization AND user_id = :user")
  const of = Users.pages(database, {
    from: "affiliates a JOIN users u ON u.id = a.user_id",
    where: "a.organization_id = :organization AND u.suspended = 0",
    key: "a.key"
  })
  return {
    set: (organizationId, userId, affiliated) =>
      void (affiliated ? add : remove)({
        organization: Snowflake.parse(organizationId),
        user: Snowflake.parse(userId)
      }),
    of: ({ organizationId, ...request }) => of({ organization: Snowflake.parse(organizationId) }, unbounded, request)
  }
}
