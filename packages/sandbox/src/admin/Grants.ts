/** Creates grants without a consent page, lists and revokes them. */
import * as Scopes from "@postwire/core/schema/Scopes"
import type * as Redacted from "effect/Redacted"
import type { Seeded } from "../seed/Seed.ts"
import type { App } from "../store/Credentials.ts"
import { type Grant, maximumListed } from "../store/Grants.ts"
import type { Store } from "../store/Store.ts"

/** A grant with its app and user. Times are in milliseconds since the epoch. */
export interface GrantEntry extends Omit<Grant, "appId" | "userId"> {
  readonly app: Pick<App, "id" | "name"> & { readonly clientId: string }
  readonly user: { readonly id: string; readonly username: string }
}

/** The options of a new grant. */
export interface GrantOptions {
  /** The app's id or client id. Default: the seeded public client. */
  readonly app?: string | undefined
  /** The user's id or username. Default: ada. */
  readonly user?: string | undefined
  /** Neutral or X names. Default: all. */
  readonly scopes?: ReadonlyArray<string> | undefined
}

/** A new grant and its tokens. */
export interface MadeGrant {
  readonly id: string
  readonly app: GrantEntry["app"]
  readonly user: GrantEntry["user"]
  readonly scopes: ReadonlyArray<string>
  readonly accessToken: Redacted.Redacted
  /** Only with the scope `offline.access`. */
  readonly refreshToken: Redacted.Redacted | undefined
  /** In milliseconds since the epoch. */
  readonly expiresAt: number
}

/** The grants of one service. */
export type Grants = ReturnType<typeof make>

/** The grants of a store. */
export const make = (
  { now, seeded, store }: {
    readonly store: Store["Service"]
    readonly now: () => number
    readonly seeded: () => Seeded
  }
) => {
  const { credentials, grants, users } = store
  const appOf = ({ client, id, name }: App): GrantEntry["app"] => ({ id, name, clientId: client.id })
  const entryOf = ({ appId, userId, ...grant }: Grant): GrantEntry => {
    const app = credentials.appById(appId)
    return {
      ...grant,
      app: app === undefined ? { id: appId, name: "", clientId: "" } : appOf(app),
      user: { id: userId, username: users.byId(userId)?.username ?? "" }
    }
  }
  return {
    /**
     * Signs a user in with OAuth 2.0, ending the previous grant of the same app. Throws if the app, the user or a scope does
     * not exist.
     */
    make: (grant: GrantOptions = {}): MadeGrant => {
      const { app: named = seeded().publicClient.id, scopes = Scopes.scopes, user: who = seeded().ada.id } = grant
      const app = credentials.appById(named) ?? credentials.appByClientId(named)
      if (app === undefined) throw new RangeError(`There is no app ${named}`)
      const user = users.byUsername(who) ?? users.byId(who)
      if (user === undefined) throw new RangeError(`There is no user ${who}`)
      const unknown = scopes.filter((scope) => Scopes.fromWire(scope).length === 0 || scope.includes(" "))
      if (unknown.length > 0) throw new RangeError(`There is no scope ${unknown.join(", ")}`)
      const { accessToken, expiresAt, grantId, refreshToken } = grants.open({
        app,
        userId: user.id,
        scope: scopes.join(" "),
        now: now()
      })
      return {
        id: grantId,
        app: appOf(app),
        user: { id: user.id, username: user.username },
        scopes,
        accessToken,
        refreshToken,
        expiresAt
      }
    },
    /** The latest 1,000 grants, including ended ones, newest first, without tokens. */
    list: (): ReadonlyArray<GrantEntry> => grants.list(maximumListed).map(entryOf),
    /** Ends a grant as its user would; undefined if it does not exist. */
    revoke: (id: string): GrantEntry | undefined => {
      grants.end(id, "revoked", now())
      const grant = grants.byId(id)
      return grant && entryOf(grant)
    }
  }
}
