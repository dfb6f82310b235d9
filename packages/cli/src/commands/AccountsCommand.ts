/** `postwire accounts`: lists the accounts without their tokens. */
import * as Account from "@postwire/core/accounts/Account"
import * as Command from "effect/cli/Command"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Accounts from "../connection/Accounts.ts"
import * as AccountView from "../connection/AccountView.ts"
import * as Variables from "../connection/Variables.ts"
import * as Args from "../terminal/Args.ts"
import * as Report from "../terminal/Report.ts"
import { Terminal } from "../terminal/Terminal.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

export const command = Command.make(
  "accounts",
  {
    makeDefault: Args.text("default", "Make this the default account", "NAME"),
    json: Report.json,
    tokenStore: Accounts.storeFlag,
    credentials: Variables.flag
  },
  Effect.fnUntraced(function*({ credentials, json, makeDefault, tokenStore }) {
    const places = yield* Variables.places(credentials)
    const store = yield* Accounts.open(tokenStore, Variables.all(places))
    if (Option.isSome(makeDefault)) {
      yield* Accounts.existing(store, makeDefault.value)
      yield* Accounts.makeDefault(store, makeDefault.value)
    }
    const entries = yield* entriesOf(store)
    const now = yield* Clock.currentTimeMillis
    const { output } = yield* Terminal
    yield* Report.print(json, { accounts: entries }, () => linesOf(entries, now, output.columns))
    if (Option.isSome(makeDefault)) yield* Accounts.noteOtherDefault(makeDefault.value, places, store)
  }, Effect.scoped)
).pipe(
  Args.help(
    "List the accounts: user, app, scopes, and when the token expires and was refreshed. No token is shown.",
    lines.accounts,
    {
      "postwire accounts --default ada": "From now on commands use this account"
    }
  )
)

type Entry = AccountView.View | { readonly name: string; readonly isDefault: boolean; readonly problem: string }

const entriesOf = Effect.fnUntraced(function*(store: Accounts.Place) {
  const usual = yield* Accounts.defaultOf(store)
  return yield* Effect.forEach(yield* store.names, (name) => {
    const isDefault = Option.contains(usual, name)
    return Account.read(store, name).pipe(
      Effect.map(Option.map((account): Entry => AccountView.make(name, account, isDefault))),
      // An account that cannot be read does not hide the others.
      Effect.catch(({ message: problem }) => Effect.succeedSome<Entry>({ name, isDefault, problem }))
    )
  }).pipe(Effect.map((entries) => entries.flatMap(Option.toArray)))
})

const linesOf = (entries: ReadonlyArray<Entry>, now: number, columns: number): ReadonlyArray<string> => {
  if (entries.length === 0) return ["There are no accounts. postwire login signs in."]
  const rows = entries.map((entry) =>
    "problem" in entry
      ? [entry.name, "cannot be read"]
      : [
        entry.name,
        AccountView.userOf(entry),
        entry.kinds.join(", "),
        AccountView.expiryOf(entry, now),
        AccountView.renewedOf(entry, now)
      ]
  )
  const titles = ["ACCOUNT", "USER", "SIGNED IN WITH", "EXPIRES", "RENEWED"]
  const widths = titles.map((title, i) => Math.max(title.length, ...rows.map((row) => Text.width(row[i] ?? ""))))
  const line = (mark: string, cells: ReadonlyArray<string>) =>
    Text.cut(`${mark} ${cells.map((cell, i) => Text.pad(cell, widths[i] ?? 0)).join("  ")}`.trimEnd(), columns)
  return [
    line(" ", titles),
    ...entries.flatMap((entry, i) => [
      line(entry.isDefault ? "*" : " ", rows[i] ?? []),
      ...Object.entries(detailsOf(entry)).flatMap(([name, text]) =>
        Text.wrap(text, columns - 12).map((line, i) => `    ${(i === 0 ? name : "").padEnd(6)}  ${line}`)
      )
    ]),
    ...entries.some(({ isDefault }) => isDefault) ? ["* is the default."] : []
  ]
}

const detailsOf = (entry: Entry): Readonly<Record<string, string>> =>
  "problem" in entry ? { why: entry.problem } : {
    app: `${entry.app ?? "of OAuth 1.0a"} at ${entry.service}`,
    ...entry.scopes && { scopes: AccountView.scopesOf(entry.scopes) }
  }
