/** The documented rate limits of operations. Only the service knows how many requests remain. */

/** The length of a window in milliseconds. */
export const windowMillis = 900_000

/** Requests per time. An absent member is unknown, or there is no such limit. */
export interface Quota {
  /** Requests per window of 15 minutes. */
  readonly perWindow?: number
  /** Requests per 24 hours. */
  readonly perDay?: number
}

/** Whose requests are counted: those of an app alone, or those of a user. */
export type Holder = "app" | "user"

/** Whose bearer tokens an operation accepts; `none` where no credential is sent. */
export type Bearer = Holder | "any" | "none"

/** One quota for apps and users, or one for each. */
export type Quotas = Quota | { readonly [H in Holder]?: Quota }

const isApart = (quotas: Quotas): quotas is { readonly [H in Holder]?: Quota } => "app" in quotas || "user" in quotas

/** The quota of an app alone, or of a user. */
export const of = (quotas: Quotas, holder: Holder): Quota => isApart(quotas) ? quotas[holder] ?? {} : quotas

/** The quotas in words: `300 requests per 15 minutes`; `undefined` if none is known. */
export const format = (quotas: Quotas): string | undefined => {
  const [app, user] = [inWords(of(quotas, "app")), inWords(of(quotas, "user"))]
  if (app === undefined || user === undefined || app === user) {
    const whose = isApart(quotas) ? app === undefined ? " of a user" : user === undefined ? " of an app" : "" : ""
    const words = app ?? user
    return words === undefined ? undefined : `${words}${whose}`
  }
  return `${app} of an app, ${user} of a user`
}

const inWords = ({ perDay, perWindow }: Quota): string | undefined => {
  const parts = [
    ...(perWindow === undefined ? [] : [`${perWindow.toLocaleString("en")} requests per 15 minutes`]),
    ...(perDay === undefined ? [] : [`${perDay.toLocaleString("en")} requests per day`])
  ]
  return parts.length === 0 ? undefined : parts.join(" and ")
}
