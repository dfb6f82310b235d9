/** Consent pages on which a user chooses an account and allows or denies access. */
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { App } from "../store/Credentials.ts"
import type { Store } from "../store/Store.ts"
import type { User } from "../store/Users.ts"
import type { AuthRequest, Parts } from "./AuthRequest.ts"
import * as Forms from "./Forms.ts"
import * as Page from "./Page.ts"

/** The number of users that a page offers. */
const offered = 12

/** The parts of a consent flow that depend on the OAuth version. */
export interface Ceremony<Wish> {
  /** The action of the form. */
  readonly action: string
  readonly appOf: (wish: Wish) => App
  readonly wishes: (wish: Wish) => Page.Question["wishes"]
  readonly redirect: (wish: Wish) => string | undefined
  /** The user to offer first instead of ada. */
  readonly username?: (wish: Wish) => string | undefined
  readonly allow: (wish: Wish, user: User, now: number) => HttpServerResponse.HttpServerResponse
  readonly deny: (wish: Wish, now: number) => HttpServerResponse.HttpServerResponse
}

/** The consent page and the handler of its form. */
export const make = <Wish>({ epoch, store }: Parts, ceremony: Ceremony<Wish>) => {
  const forms = Forms.make<Wish>(epoch)
  const ask = (wish: Wish, complaint?: string): HttpServerResponse.HttpServerResponse =>
    Page.question({
      app: ceremony.appOf(wish),
      wishes: ceremony.wishes(wish),
      users: usersFor(store, ceremony.username?.(wish)),
      action: ceremony.action,
      formToken: forms.show(wish),
      redirect: ceremony.redirect(wish),
      complaint
    })
  return {
    ask,
    decide: ({ form, now }: AuthRequest): HttpServerResponse.HttpServerResponse => {
      const wish = forms.take(form.get("form_token") ?? "")
      if (wish === undefined) {
        return Page.notice("This page has expired", "It has already been used. Start again in the app.", 400)
      }
      if (form.get("decision") !== "allow") return ceremony.deny(wish, now)
      const typed = (form.get("other") ?? "").trim().replace(/^@/, "")
      const username = typed === "" ? form.get("user") ?? "" : typed
      const user = store.users.byUsername(username)
      return user === undefined
        ? ask(wish, username === "" ? "Choose a user." : `There is no user @${username}.`)
        : ceremony.allow(wish, user, now)
    }
  }
}

/** The requested user, ada and the users with the most followers. */
const usersFor = ({ users }: Store["Service"], username = ""): ReadonlyArray<User> => {
  const first = users.byUsernames([username, "ada"])
  const others = users.foremost(offered).filter(({ id }) => !first.some((user) => user.id === id))
  return [...first, ...others].slice(0, offered)
}

/** Adds query parameters to a URL. */
export const withParameters = (address: string, parameters: Readonly<Record<string, string | undefined>>): string => {
  const added = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) added.append(name, value)
  return `${address}${address.includes("?") ? "&" : "?"}${added}`
}
