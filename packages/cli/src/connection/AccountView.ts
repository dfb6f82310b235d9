/** The public view of an account, without its secrets. */
import type { Account } from "@postwire/core/accounts/Account"
import type { Scope } from "@postwire/core/schema/Scopes"
import * as Text from "../terminal/Text.ts"

/** An account as JSON. Times are ISO 8601. */
export interface View {
  readonly name: string
  readonly isDefault: boolean
  readonly service: string
  readonly user: { readonly id: string; readonly username: string } | undefined
  /** The client id of the app with these `scopes`. */
  readonly app: string | undefined
  readonly kinds: ReadonlyArray<"OAuth 2.0" | "OAuth 1.0a">
  readonly scopes: ReadonlyArray<Scope> | undefined
  readonly expiresAt: string | undefined
  readonly renewedAt: string | undefined
  /** True if it is refreshed automatically; absent if it does not expire. */
  readonly isRenewable: boolean | undefined
}

export const make = (name: string, { app, baseUrl, oauth1, oauth2, user }: Account, isDefault: boolean): View => ({
  name,
  isDefault,
  service: baseUrl,
  user,
  app: app?.clientId,
  kinds: [
    ...oauth2 === undefined ? [] : ["OAuth 2.0" as const],
    ...oauth1 === undefined ? [] : ["OAuth 1.0a" as const]
  ],
  scopes: oauth2?.scopes,
  expiresAt: oauth2 && new Date(oauth2.expiresAt).toISOString(),
  renewedAt: oauth2 && new Date(oauth2.renewedAt).toISOString(),
  isRenewable: oauth2 && oauth2.refreshToken !== undefined
})

export const userOf = ({ user }: Pick<Account | View, "user">): string => user === undefined ? "?" : `@${user.username}`

/** When the access token expires, relative to a time in milliseconds. */
export const expiryOf = ({ expiresAt, isRenewable }: View, now: number): string => {
  if (expiresAt === undefined) return "never"
  const left = (Date.parse(expiresAt) - now) / 1000
  return left > 0 ? `in ${Text.duration(left)}` : isRenewable === true ? "renewed when used" : "expired"
}

/** How long ago it was refreshed. */
export const renewedOf = ({ renewedAt }: View, now: number): string =>
  renewedAt === undefined ? "" : `${Text.duration((now - Date.parse(renewedAt)) / 1000)} ago`

/** Abbreviated scopes: `post.read/write`. */
export const scopesOf = (scopes: ReadonlyArray<Scope>): string => {
  const kinds = new Map<string, Array<string>>()
  for (const scope of [...scopes].sort()) {
    const dot = scope.lastIndexOf(".")
    const resource = scope.slice(0, dot)
    kinds.set(resource, [...kinds.get(resource) ?? [], scope.slice(dot + 1)])
  }
  return Array.from(kinds, ([resource, rights]) => `${resource}.${rights.join("/")}`).join(", ")
}
