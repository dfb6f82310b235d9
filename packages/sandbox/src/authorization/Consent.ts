/** What a user decides on a page: allow or deny, and who they are. */
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { App } from "../store/Credentials.ts"
import type { Store } from "../store/Store.ts"
import type { User } from "../store/Users.ts"
import type { Answer, Asked, Parts } from "./Asked.ts"
import * as Forms from "./Forms.ts"
import * as Page from "./Page.ts"

/** How many users a page offers. */
const offered = 12

/** One way to ask for consent. */
export interface Ceremony<Wish> {
  /** Where the form is sent. */
  readonly action: string
  readonly appOf: (wish: Wish) => App
  readonly wishes: (wish: Wish) => Page.Question["wishes"]
  readonly redirect: (wish: Wish) => string | undefined
  /** Who is offered first, when it is not ada. */
  readonly username?: (wish: Wish) => string | undefined
  readonly allow: (wish: Wish, user: User, now: number) => HttpServerResponse.HttpServerResponse
  readonly deny: (wish: Wish, now: number) => HttpServerResponse.HttpServerResponse
}

/** Pages that ask for consent, and what becomes of the answers. */
export interface Consent<Wish> {
  readonly ask: (wish: Wish, complaint?: string) => HttpServerResponse.HttpServerResponse
  readonly decide: Answer
}

/** Pages of one ceremony. */
export const make = <Wish>({ epoch, store }: Parts, ceremony: Ceremony<Wish>): Consent<Wish> => {
  const forms = Forms.make<Wish>(epoch)
  const ask: Consent<Wish>["ask"] = (wish, complaint) =>
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
    decide: ({ form, now }: Asked) => {
      const wish = forms.take(form.get("form_token") ?? "")
      if (wish === undefined) {
        return Page.notice("This page is not good any more", "It was answered before. Begin again in the app.", 400)
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

/** Ada and those with most followers; before them whoever is asked for. */
const usersFor = ({ users }: Store["Service"], username = ""): ReadonlyArray<User> => {
  const first = users.byUsernames([username, "ada"])
  const others = users.foremost(offered).filter(({ id }) => !first.some((user) => user.id === id))
  return [...first, ...others].slice(0, offered)
}

/** An address with parameters added to its query. */
export const withParameters = (address: string, parameters: Readonly<Record<string, string | undefined>>): string => {
  const added = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) added.append(name, value)
  return `${address}${address.includes("?") ? "&" : "?"}${added}`
}
