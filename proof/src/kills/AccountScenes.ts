/** Commands that sign in, refresh tokens, choose accounts and count what was spent. */
import * as Account from "@postwire/core/accounts/Account"
import * as Scopes from "@postwire/core/schema/Scopes"
import { SpendStore } from "@postwire/core/spend/SpendStore"
import * as FileTokenStore from "@postwire/node/FileTokenStore"
import * as SqliteSpendStore from "@postwire/node/SqliteSpendStore"
import type * as Sandbox from "@postwire/sandbox/Sandbox"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../../../packages/node/test/support/RedisServer.ts"
import type { Scene } from "./Scene.ts"

const storeIn = (root: string) => FileTokenStore.make(join(root, "accounts"))

const hours = 3_600_000

/** Signs a new user in, with tokens that are over by the clock of this machine. */
const signedIn = async ({ baseUrl, grants, user }: Sandbox.RunningSandbox, root: string, name: string) => {
  const { accessToken, app, id, refreshToken, user: { username, ...own } } = grants.make({ user: user().id })
  const now = Date.now()
  await Effect.runPromise(Account.write(storeIn(root), name, {
    version: 1,
    baseUrl,
    user: { id: own.id, username },
    app: { clientId: app.clientId },
    oauth2: {
      accessToken,
      ...refreshToken === undefined ? {} : { refreshToken },
      scopes: Scopes.scopes,
      expiresAt: now - hours,
      renewedAt: now - 3 * hours
    }
  }))
  return id
}

/** The status with which the service refreshes the tokens of an account. */
const refreshed = async ({ baseUrl }: Sandbox.RunningSandbox, root: string) => {
  const account = await Effect.runPromise(Account.read(storeIn(root), "ada"))
  const { app, oauth2 } = Option.getOrThrow(account)
  const body = new URLSearchParams({
    grant_type: "refresh_token",
    client_id: app?.clientId ?? "",
    refresh_token: oauth2?.refreshToken === undefined ? "" : Redacted.value(oauth2.refreshToken)
  })
  return (await fetch(`${baseUrl}/2/oauth2/token`, { method: "POST", body })).status
}

/** A browser whose user allows the scopes in an address. */
const browser = `
  const [, , url] = process.argv
  const text = await (await fetch(url)).text()
  const find = (pattern) => pattern.exec(text)[1]
  await fetch(new URL(find(/action="([^"]+)"/), url), {
    method: "POST",
    headers: { origin: new URL(url).origin },
    body: new URLSearchParams({
      form_token: find(/name="form_token" value="([^"]+)"/), user: "", other: "ada", decision: "allow"
    })
  })
`

export const accountsOf = (sandbox: Sandbox.RunningSandbox): Readonly<Record<string, Scene>> => {
  const grantOf = (id: string) => sandbox.grants.list().find((grant) => grant.id === id)
  return {
    login: {
      invariant: "the account has tokens that the service refreshes",
      begin: async (root) => {
        const redirect = `http://localhost:${await freePort()}/callback`
        const { client } = sandbox.app({ redirects: [redirect] })
        writeFileSync(join(root, "browser.mjs"), browser)
        return {
          args: ["login", "ada", "--redirect", redirect],
          env: { POSTWIRE_CLIENT_ID: client.id, BROWSER: `${process.execPath} ${join(root, "browser.mjs")} %s` },
          state: () => refreshed(sandbox, root)
        }
      }
    },
    "refresh of an account": {
      invariant: "the account has tokens that the service refreshes, and was not signed out",
      begin: async (root) => {
        const id = await signedIn(sandbox, root, "ada")
        return {
          args: ["call", "getMe", "--account", "ada"],
          state: async () => {
            const status = await refreshed(sandbox, root)
            const grant = grantOf(id)
            return { status, isAlive: grant?.alive, reuses: grant?.reuseDetected }
          }
        }
      }
    },
    logout: {
      invariant: "the account is gone, here and at the service",
      begin: async (root) => {
        const id = await signedIn(sandbox, root, "ada")
        return {
          args: ["logout", "ada"],
          decide: (errors) => errors.includes("There is no account") ? ["accounts"] : undefined,
          state: async () => ({
            isAlive: grantOf(id)?.alive,
            accounts: await Effect.runPromise(storeIn(root).names)
          })
        }
      }
    },
    "accounts --default": {
      invariant: "no account is lost, and the new one is the default",
      begin: async (root) => {
        for (const name of ["ada", "ben"]) await signedIn(sandbox, root, name)
        return {
          args: ["accounts", "--default", "ben", "--json"],
          state: (output) =>
            JSON.parse(output).accounts.map(({ isDefault, name }: Record<string, unknown>) => [name, isDefault])
        }
      }
    },
    "account of spending": {
      invariant: "what was billed was counted, or is in doubt",
      begin: (root) => {
        const user = sandbox.user()
        for (let i = 0; i < 10; i++) user.post(`paid ${i}`)
        const micros = () => Math.round(sandbox.bill.statement().dollars * 1e6)
        const before = micros()
        return {
          args: ["call", "getUsersPosts", "--id", user.id, "--max-results", "10"],
          // Without a limit, a call is made also where nothing can be counted.
          env: { POSTWIRE_SPEND_PER_DAY: "5" },
          state: async () => {
            const entries = await SpendStore.use(({ read }) => read(sandbox.baseUrl, "2000-01-01", "2100-01-01")).pipe(
              Effect.provide(SqliteSpendStore.layer({ path: join(root, "spend.db") })),
              Effect.runPromise
            )
            const sum = (of: "spent" | "inDoubt" | "reserved") => entries.reduce((all, entry) => all + entry[of], 0)
            const billed = micros() - before
            return billed > 0 && sum("spent") <= billed && billed <= sum("spent") + sum("inDoubt") + sum("reserved")
          }
        }
      }
    }
  }
}
