/** Affiliates of organizations. An account belongs to at most one. */
import type { Database } from "./Database.ts"
import { type PageRequest, unbounded } from "./Pages.ts"
import * as Users from "./Users.ts"

export const make = (database: Database) => {
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
    /** Adds a user to an organization, leaving any other, or removes the user. Idempotent. */
    set: (organization: string, user: string, affiliated: boolean): void =>
      void (affiliated ? add : remove)({ organization, user }),
    /** The affiliates of an organization, latest first. */
    of: ({ organizationId: organization, ...request }: PageRequest & { readonly organizationId: string }) =>
      of({ organization }, unbounded, request)
  }
}
