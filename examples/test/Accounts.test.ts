// Clients that act for users who signed in, on Undici and on fetch, against the service that signs them in.
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Node from "@postwire/node"
import * as NodeOAuth2 from "@postwire/node/OAuth2"
import { Sandbox } from "@postwire/sandbox"
import * as Web from "@postwire/web/AccountClient"
import * as WebOAuth2 from "@postwire/web/OAuth2"
import { Redacted } from "effect"
import { inspect } from "node:util"
import { afterAll, beforeEach } from "vitest"
import { answerForm, locationOf } from "../../packages/sandbox/test/support/Login.ts"

let sandbox: Sandbox.RunningSandbox
let service: { readonly baseUrl: string; readonly clientId: string }

beforeAll(async () => {
  sandbox = await Sandbox.start({ posts: 60 })
  service = { baseUrl: sandbox.baseUrl, clientId: sandbox.seeded.publicClient.id }
})

beforeEach(() => sandbox.reset())

afterAll(() => sandbox.stop())

/** What a user granted, as a program keeps it. */
const grant = (scopes?: ReadonlyArray<string>): Node.Tokens => {
  const made = sandbox.grants.make(scopes === undefined ? {} : { scopes })
  return {
    accessToken: Redacted.value(made.accessToken),
    refreshToken: Redacted.value(made.refreshToken!),
    expiresAt: made.expiresAt,
    scopes: ["bookmark.read", "offline.access", "post.read", "users.read"]
  }
}

/** A store of a program's own. It fails as often as it is told to. */
const makeStore = (texts = new Map<string, string>()) => {
  const turns = new Map<string, Promise<unknown>>()
  const fails: Partial<Record<"read" | "write" | "lock", Error>> = {}
  const store: Node.TokenStore = {
    read: async (account) => {
      if (fails.read) throw fails.read
      return texts.get(account)
    },
    write: async (account, text) => {
      if (fails.write) throw fails.write
      if (text === undefined) texts.delete(account)
      else texts.set(account, text)
    },
    lock: async (account) => {
      if (fails.lock) throw fails.lock
      const { promise, resolve } = Promise.withResolvers<void>()
      const before = turns.get(account)
      turns.set(account, promise)
      await before
      return resolve
    }
  }
  return { store, texts, fails }
}

const tagOf = (error: unknown) => error instanceof Error && "_tag" in error ? error._tag : error

const platforms = {
  node: { createClient: Node.createClient, OAuth2: NodeOAuth2 },
  web: { createClient: Web.createClient, OAuth2: WebOAuth2 }
}

describe.each(Object.entries(platforms))("a client of Promises: %s", (_, { createClient, OAuth2 }) => {
  const saved = async (tokens = grant()) => {
    const own = makeStore()
    await OAuth2.saveAccount({ ...service, tokenStore: own.store, account: "ada", tokens })
    return { ...own, settings: { baseUrl: sandbox.baseUrl, tokenStore: own.store, account: "ada" } }
  }

  it("signs a user in, and acts for them by the name of their account", async () => {
    const asked = { redirectUri: "http://localhost:8080/callback", scopes: OAuth2.scopesFor(["getBookmarks"]) }
    const signIn = await OAuth2.authorize({ ...service, ...asked })
    const address = locationOf(await answerForm(await fetch(signIn.url)))
    const code = OAuth2.callback(`${address.pathname}${address.search}`, signIn)
    const tokens = await OAuth2.exchange({ ...service, ...asked, code, verifier: signIn.verifier })
    assert.deepStrictEqual(tokens.scopes, asked.scopes)
    const { settings, texts } = await saved(tokens)
    await using client = createClient(settings)
    assert.strictEqual((await client.getMe()).data?.username, "ada")
    await client.getBookmarks()
    const error = await client.createPost({ text: "a" }).catch((error: unknown) => error)
    assert(error instanceof Node.MissingScope)
    assert.deepStrictEqual([error.missing, error.account], [["post.write"], "ada"])
    assert.notInclude(sandbox.requests.map(({ operation }) => operation), "createPost")
    assert.include(texts.get("ada"), tokens.refreshToken)
    await OAuth2.revoke({ ...service, token: tokens.refreshToken! })
    assert.strictEqual(tagOf(await client.getMe().catch((error: unknown) => error)), "LoginRequired")
  })

  it("is told of a user who said no, and of an address of another sign-in", async () => {
    const asked = { redirectUri: "http://localhost:8080/callback", scopes: ["users.read"] as const }
    const [mine, other] = [
      await OAuth2.authorize({ ...service, ...asked }),
      await OAuth2.authorize({ ...service, ...asked })
    ]
    const address = locationOf(await answerForm(await fetch(mine.url), { decision: "deny" }))
    assert.throws(() => OAuth2.callback(address, mine), NodeOAuth2.AuthorizationDenied)
    assert.throws(() => OAuth2.callback(address, other), NodeOAuth2.InvalidRedirect)
    try {
      await OAuth2.exchange({ ...service, ...asked, code: "old", verifier: mine.verifier })
      assert.fail("an old code brings nothing")
    } catch (error) {
      assert(error instanceof Node.BadRequest)
      assert.include(error.stack, "Accounts.test.ts")
    }
    const appless = await OAuth2.authorize({ baseUrl: sandbox.baseUrl, ...asked }).catch((error: unknown) => error)
    assert.deepInclude(appless, { _tag: "InvalidSettings", setting: "clientId" })
  })

  it("renews an account when its token has expired, once for all calls, and its store has the new tokens", async () => {
    const { settings, texts } = await saved()
    const before = texts.get("ada")
    await using client = createClient(settings)
    await client.getBookmarks()
    assert.strictEqual(texts.get("ada"), before)
    sandbox.clock.advance("3 hours")
    await Promise.all(Array.from({ length: 20 }, () => client.getBookmarks()))
    assert.notStrictEqual(texts.get("ada"), before)
    assert.deepInclude(sandbox.grants.list()[0], { refreshes: 1, replays: 0, alive: true })
    // Who comes later has what the store has.
    await using later = createClient(settings)
    await later.getBookmarks()
    assert.deepInclude(sandbox.grants.list()[0], { refreshes: 1, replays: 0, alive: true })
  })

  it("renews tokens that a program keeps, and has them kept before they are used", async () => {
    const { expiresAt: _, ...tokens } = grant()
    const kept: Array<Node.Tokens> = []
    let failures = 1
    await using client = createClient({
      ...service,
      oauth2: {
        ...tokens,
        save: async (tokens) => {
          if (failures-- > 0) throw new Error(`full of ${tokens.refreshToken}`)
          assert.deepInclude(sandbox.requests.at(-1), { operation: "refreshToken", status: 200 })
          kept.push(tokens)
        }
      }
    })
    await client.getBookmarks()
    assert.isEmpty(kept)
    sandbox.clock.advance("3 hours")
    await client.getBookmarks()
    assert.strictEqual(failures, -1)
    const [{ expiresAt, refreshToken }] = kept as [Node.Tokens]
    assert.notStrictEqual(refreshToken, tokens.refreshToken)
    assert.isAbove(expiresAt, Date.now())
    // A refresh token alone is enough to begin with.
    await using again = createClient({ ...service, oauth2: { refreshToken } })
    await again.getBookmarks()
    assert.deepInclude(sandbox.grants.list()[0], { refreshes: 2, replays: 0, alive: true })
  })

  it("waits for a renewal that has left when it is closed", async () => {
    const { settings, store, texts } = await saved()
    const before = texts.get("ada")
    const [left, kept] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const write: Node.TokenStore["write"] = async (account, text) => {
      // The first write claims the renewal; the second keeps the new pair.
      if (sandbox.grants.list()[0]?.refreshes === 1) {
        left.resolve()
        await kept.promise
      }
      await store.write(account, text)
    }
    const client = createClient({ ...settings, tokenStore: { ...store, write } })
    await client.getMe()
    sandbox.clock.advance("3 hours")
    const call = client.getMe().catch(tagOf)
    await left.promise
    let isClosed = false
    const closing = client.close().then(() => isClosed = true)
    await new Promise((resolve) => setImmediate(resolve))
    assert.isFalse(isClosed)
    kept.resolve()
    await closing
    assert.strictEqual(await call, "TransportFailure")
    assert.notStrictEqual(texts.get("ada"), before)
    assert.deepInclude(sandbox.grants.list()[0], { refreshes: 1, alive: true })
  })

  it("says what is wrong with its store, and nothing of what is in it", async () => {
    const { fails, settings, texts } = await saved()
    const text = texts.get("ada")!
    const { refreshToken }: { readonly refreshToken: string } = JSON.parse(text).oauth2
    sandbox.clock.advance("3 hours")
    for (const action of ["lock", "read", "write"] as const) {
      await using client = createClient(settings)
      fails[action] = new Error(`no ${action}: ${text} ${refreshToken}`)
      const error = await client.getMe().catch((error: unknown) => error)
      delete fails[action]
      assert(error instanceof Node.StorageFailure, `${action}: ${String(error)}`)
      assert.match(error.message, new RegExp(`no ${action}`))
      assert.notInclude(inspect(error, { showHidden: true, depth: 9 }), refreshToken)
    }
  })
})
