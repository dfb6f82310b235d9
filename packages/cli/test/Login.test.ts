import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, layer } from "@effect/vitest"
import { StorageFailure } from "@postwire/core/errors/Errors"
import * as FileTokenStore from "@postwire/node/FileTokenStore"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { ConfigProvider, Deferred, Effect, Fiber, Layer, Redacted, Stdio, Terminal as Input } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { once } from "node:events"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { freePort } from "../../node/test/support/RedisServer.ts"
import type { Check } from "../src/doctor/Check.ts"
import * as Browser from "../src/login/Browser.ts"
import * as ErrorReport from "../src/terminal/ErrorReport.ts"
import { Terminal } from "../src/terminal/Terminal.ts"
import * as Commands from "./Commands.ts"
import { places } from "./support/AccountPlaces.ts"
import { ended, start } from "./support/Processes.ts"

/** A service on this machine that answers requests by `GET /path`; returns its address. */
const serve = (answer: (name: string, body: string) => object) =>
  Effect.map(
    Commands.serve(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString()
      const name = `${request.method} ${URL.parse(request.url ?? "", "http://localhost")?.pathname}`
      response.setHeader("content-type", "application/json").end(JSON.stringify(answer(name, body)))
    }),
    ({ baseUrl }) => baseUrl
  )

/** What a user decides on the page of the service; returns where that leads. */
const decide = async (url: string, decision: "allow" | "deny", user = "ada"): Promise<string> => {
  const page = await fetch(url, { redirect: "manual" })
  const text = await page.text()
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? assert.fail(`${pattern} is not in ${text}`)
  const answer = await fetch(new URL(find(/action="([^"]+)"/), url), {
    method: "POST",
    redirect: "manual",
    headers: { origin: new URL(url).origin },
    body: new URLSearchParams({
      form_token: find(/name="form_token" value="([^"]+)"/),
      user: "",
      other: user,
      decision
    })
  })
  return answer.headers.get("location") ?? /class="pin"[^>]*>([^<]+)</.exec(await answer.text())?.[1] ??
    assert.fail("nowhere")
}

/** A user of this machine, with a home, an app and a browser. */
const userOf = Effect.fnUntraced(function*(variables: Readonly<Record<string, string>> = {}) {
  const sandbox = yield* Sandbox.Sandbox
  const home = yield* Commands.folder
  const port = yield* Effect.promise(freePort)
  const redirect = `http://localhost:${port}/callback`
  const app = sandbox.app({ redirects: [redirect], name: "Mine" })
  const file = join(home, "credentials")
  const all = {
    POSTWIRE_BASE_URL: sandbox.baseUrl,
    POSTWIRE_CLIENT_ID: app.client.id,
    POSTWIRE_TOKEN_STORE: "",
    ...variables
  }
  writeFileSync(file, Object.entries(all).map(([name, value]) => `${name}=${value}\n`).join(""), { mode: 0o600 })
  const shown: Array<Promise<string>> = []
  const environment = ConfigProvider.layer(ConfigProvider.fromUnknown({ HOME: home }))
  /** Runs a command whose browser does this. */
  const run = (browse: (url: string) => Promise<unknown>, ...args: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const failed = yield* Deferred.make<never>()
      const command = Commands.parse(...args, "--credentials", file).pipe(
        Effect.provideService(Browser.Browser, {
          open: (url) =>
            Effect.catchCause(Effect.promise(() => browse(url)), (cause) => Deferred.failCause(failed, cause))
        }),
        Effect.provide(environment)
      )
      // Without a browser the command would wait for five minutes.
      return yield* Effect.raceFirst(command, Deferred.await(failed))
    })
  const noBrowser = () => Promise.reject(new Error("no browser is needed"))
  /** Runs a command, to which this is typed, at a terminal or not. */
  const typing = (typed: Effect.Effect<string>, ...args: ReadonlyArray<string>) => typingOn(false, typed, ...args)
  const typingOn = (isTerminal: boolean, typed: Effect.Effect<string>, ...args: ReadonlyArray<string>) => {
    const screen = { isTerminal, columns: 80, write: () => {} }
    return Commands.parseOn(
      Layer.mergeAll(
        NodeServices.layer,
        Stdio.layerTest({ stdinIsTerminal: Effect.succeed(isTerminal) }),
        Layer.effect(
          Input.Terminal,
          Effect.map(Input.Terminal, (terminal) => Input.make({ ...terminal, readLine: typed }))
        ).pipe(Layer.provide(NodeServices.layer))
      ),
      ...args,
      "--credentials",
      file
    ).pipe(
      Effect.provideService(Browser.Browser, {
        open: () => ErrorReport.refuse("No browser can be opened here: there is no display")
      }),
      Effect.provideService(Terminal, { output: screen, errors: screen }),
      Effect.provide(environment)
    )
  }
  const follow = (url: string) => shown.push(fetch(url).then((page) => page.text()))
  return {
    app,
    file,
    home,
    port,
    redirect,
    sandbox,
    /** The pages that the browser came back to. */
    shown,
    typing,
    typingOn,
    run: (...args: ReadonlyArray<string>) => run(noBrowser, ...args),
    /** Runs a login that this user allows. */
    login: (user: string, ...args: ReadonlyArray<string>) =>
      run(async (url) => follow(await decide(url, "allow", user)), "login", ...args, "--redirect", redirect),
    /** Runs a login whose browser does something else. */
    browse: (browse: (url: string) => Promise<string>, ...args: ReadonlyArray<string>) =>
      run(async (url) => follow(await browse(url)), "login", ...args, "--redirect", redirect),
    accounts: Effect.map(run(noBrowser, "accounts", "--json"), ({ output }) => JSON.parse(output).accounts),
    secrets: () => {
      const folder = join(home, ".config/postwire/accounts")
      return readdirSync(folder).filter((name) => name.endsWith(".json")).flatMap((name) => {
        const { app, oauth1, oauth2 } = JSON.parse(readFileSync(join(folder, name), "utf8"))
        return [app?.clientSecret, oauth2?.accessToken, oauth2?.refreshToken, ...Object.values(oauth1 ?? {})]
          .filter((secret) => secret !== undefined)
      })
    }
  }
})

/** What was typed after the address was shown: where the user's decision leads. */
const pasted = (decision: "allow" | "deny" = "allow", user = "ada") =>
  Effect.flatMap(
    TestConsole.errorLines,
    (lines) =>
      Effect.promise(() =>
        decide(/http\S+/.exec(lines.filter((line) => String(line).startsWith("\nhttp")).join(""))![0], decision, user)
      )
  )

layer(Sandbox.layerServer({ posts: 20 }), { excludeTestServices: true })("postwire login", (it) => {
  it.effect("signs in with the browser, keeps the account, and commands use it", () =>
    Effect.gen(function*() {
      const { accounts, home, login, run, sandbox, secrets, shown } = yield* userOf()
      const { code, errors, output } = yield* login("ada")
      assert.deepStrictEqual([code, output.split("\n")[0]], [
        0,
        `@ada is signed in. The account is "ada", the default.`
      ])
      assert.match(output, /\n {2}expires {2}in (2 h 00 min|1 h 59 min), and is refreshed automatically$/)
      assert.match(
        errors,
        /^postwire: This login ends others of the same user and app, on other machines too\.\n {2}For several .*\n/
      )
      assert.match(errors, /\npostwire: Sign in and allow the app, in the browser, at:\n\nhttp:\S+\n$/)
      const page = yield* Effect.promise(() => shown[0]!)
      assert.match(page, /<h1>You are signed in as @ada<\/h1>/)
      const [account] = yield* accounts
      assert.deepInclude(account, {
        name: "ada",
        isDefault: true,
        kinds: ["OAuth 2.0"],
        service: sandbox.baseUrl,
        isRenewable: true
      })
      const folder = join(home, ".config/postwire/accounts")
      assert.strictEqual(statSync(folder).mode & 0o777, 0o700)
      assert.strictEqual(statSync(join(folder, "ada.json")).mode & 0o777, 0o600)
      const me = yield* run("call", "getMe")
      assert.strictEqual(JSON.parse(me.output).data.username, "ada")
      const listed = yield* run("accounts")
      for (const line of listed.output.split("\n")) assert.isAtMost(line.length, 80)
      for (const secret of secrets()) assert.notInclude([errors, output, page, me.output, listed.output].join(), secret)
    }))

  it.effect("is not ended by what other pages request at the redirect address", () =>
    Effect.gen(function*() {
      const { browse, redirect } = yield* userOf()
      const answers: Array<string> = []
      const { code, errors } = yield* browse(async (url) => {
        for (const query of ["", "?error=access_denied", "?code=a&state=b", "?code=a&state=", "?state=a&state=b"]) {
          const response = await fetch(redirect + query)
          answers.push(`${response.status} ${/<h1>(.*)<\/h1>/.exec(await response.text())?.[1]}`)
        }
        return decide(url, "allow")
      })
      assert.strictEqual(code, 0, errors)
      assert.deepStrictEqual(answers, Array.from({ length: 5 }, () => "400 This does not complete the sign-in"))
    }))

  it.effect("keeps the account of a user under any username", () =>
    Effect.gen(function*() {
      const { accounts, login, run, sandbox } = yield* userOf()
      for (const username of ["__proto__", "_", "constructor"]) {
        sandbox.user({ username })
        assert.include((yield* login(username)).output, `@${username} is signed in. The account is "${username}"`)
        const me = yield* run("call", "getMe", "--account", username)
        assert.strictEqual(JSON.parse(me.output).data.username, username)
        assert.deepStrictEqual((yield* accounts).map(({ name }: { name: string }) => name), [username])
        assert.strictEqual((yield* run("logout", username)).code, 0)
      }
    }))

  it.effect("revokes a grant whose user the service does not name", () =>
    Effect.gen(function*() {
      const { accounts, browse, file, redirect } = yield* userOf()
      const revoked: Array<string> = []
      const answers: Readonly<Record<string, (body: string) => object>> = {
        "POST /2/oauth2/token": () => ({ token_type: "bearer", access_token: "canary-at", refresh_token: "canary-rt" }),
        "GET /2/users/me": () => ({ data: { id: "1" } }),
        "POST /2/oauth2/revoke": (body) => {
          const form = new URLSearchParams(body)
          revoked.push(`${form.get("token_type_hint")} ${form.get("token")}`)
          return {}
        }
      }
      const service = yield* serve((name, body) => answers[name]?.(body) ?? {})
      writeFileSync(file, readFileSync(file, "utf8").replace(/BASE_URL=.*/, `BASE_URL=${service}`))
      const ended = yield* browse(async (url) => `${redirect}?code=a&state=${new URL(url).searchParams.get("state")}`)
      assert.strictEqual(ended.code, 1)
      assert.match(
        ended.errors,
        /\npostwire: The service did not return the user\n {2}Try again later; nothing was saved\.$/
      )
      assert.deepStrictEqual(revoked, ["refresh_token canary-rt"])
      assert.deepStrictEqual(yield* accounts, [])
    }))

  it.effect("asks for what operations need, and keeps what was granted before", () =>
    Effect.gen(function*() {
      const { accounts, login, run } = yield* userOf()
      yield* login("ada", "work", "--for", "getBookmarks")
      const first = "post.read users.read offline.access bookmark.read".split(" ")
      assert.deepStrictEqual((yield* accounts)[0].scopes, first)
      assert.include(
        (yield* login("ada", "home", "--for", "getBookmarks")).errors,
        "postwire: Account \"work\" is the same user with the same app: the service ends its login.\n" +
          "  One account is enough; postwire logout work removes it."
      )
      yield* login("ada", "work", "--for", "getBookmarks")
      yield* run("logout", "home", "--force")
      const refused = yield* run("call", "createPost", "--text", "a", "--account", "work")
      assert.deepStrictEqual([refused.code, refused.errors], [
        1,
        "postwire: createPost: the user of account \"work\" has not granted post.write.\n" +
        "  Sign in again: postwire login work --for createPost"
      ])
      yield* login("ada", "work", "--for", "createPost", "--scopes", "tweet.moderate.write,list.read")
      assert.sameMembers((yield* accounts)[0].scopes, [...first, "post.write", "post.moderate.write", "list.read"])
      assert.strictEqual((yield* run("call", "createPost", "--text", "a", "--account", "work")).code, 0)
    }))

  it.effect("on another machine ends the login of this one, whose next call says so", () =>
    Effect.gen(function*() {
      const { home, login, run } = yield* userOf()
      const [here, there] = ["here", "there"].map((name) => join(home, name))
      const call = run("call", "getMe", "--account", "ada", "--token-store", here!)
      yield* login("ada", "--token-store", here!)
      assert.strictEqual((yield* call).code, 0)
      yield* login("ada", "--token-store", there!)
      const { code, errors } = yield* call
      assert.strictEqual(code, 1)
      assert.match(
        errors,
        /refuses its refresh token\. The user signed in to the same app again, here or on another machine, which ends/
      )
      assert.match(errors, /postwire login ada/)
    }))

  it.effect("asks for what the tools of postwire mcp can use", () =>
    Effect.gen(function*() {
      const { accounts, login } = yield* userOf()
      yield* login("ada", "reader", "--for", "mcp:read")
      const reading = "post.read users.read follows.read offline.access like.read list.read bookmark.read dm.read"
        .split(" ")
      assert.deepStrictEqual((yield* accounts)[0].scopes, reading)
      yield* login("ada", "reader", "--for", "mcp:write")
      assert.sameMembers((yield* accounts)[0].scopes, [
        ...reading,
        ..."post.write follows.write mute.write like.write list.write bookmark.write dm.write media.write".split(" ")
      ])
    }))

  it.effect("signs in to an app with a secret, which is in no argument, and in no text", () =>
    Effect.gen(function*() {
      const { file, home, login, redirect, run, sandbox } = yield* userOf()
      const { client } = sandbox.app({ kind: "confidential", redirects: [redirect] })
      const refused = yield* login("ada", "bot", "--client-id", client.id)
      assert.match(
        refused.errors,
        /\npostwire: OAuth2\.exchange: .*Missing valid authorization header.*\n {2}Check POSTWIRE_CLIENT_ID, POSTWIRE_CLIENT_SECRET: .*$/
      )
      writeFileSync(file, `${readFileSync(file, "utf8")}POSTWIRE_CLIENT_SECRET=${client.secret}\n`)
      const { code, errors, output } = yield* login("ada", "bot", "--client-id", client.id)
      assert.strictEqual(code, 0, errors)
      assert.notInclude(output + errors + refused.errors, client.secret!)
      // Once it is kept, the account has it.
      writeFileSync(file, `POSTWIRE_BASE_URL=${sandbox.baseUrl}\nPOSTWIRE_TOKEN_STORE=\n`)
      sandbox.clock.advance("3 hours")
      const record = join(home, ".config/postwire/accounts/bot.json")
      writeFileSync(record, readFileSync(record, "utf8").replace(/"expiresAt":\d+/, `"expiresAt":1`), { mode: 0o600 })
      assert.strictEqual((yield* run("call", "getMe")).code, 0)
      assert.strictEqual(sandbox.grants.list()[0]?.refreshes, 1)
      assert.strictEqual((yield* login("ada", "bot")).code, 0)
      // That of another app is not sent to one that has none.
      const { id } = sandbox.app({ redirects: [redirect] }).client
      const again = yield* login("ada", "bot", "--client-id", id)
      assert.strictEqual(again.code, 0, again.errors)
    }))

  it.effect("reads the address where a browser elsewhere ends", () =>
    Effect.gen(function*() {
      const { redirect, typing } = yield* userOf()
      const { code, errors, output } = yield* typing(pasted(), "login", "far", "--headless", "--redirect", redirect)
      assert.deepStrictEqual([code, output.split("\n")[0]], [
        0,
        `@ada is signed in. The account is "far", the default.`
      ])
      assert.match(errors, /within 30 seconds/)
    }))

  it.effect("adds OAuth 1.0a with a PIN to what the account has", () =>
    Effect.gen(function*() {
      const { seeded } = yield* Sandbox.Sandbox
      const { accounts, login, run, sandbox, typing } = yield* userOf({
        POSTWIRE_CONSUMER_KEY: seeded.consumerKey,
        POSTWIRE_CONSUMER_SECRET: Redacted.value(seeded.consumerSecret)
      })
      yield* login("ada", "both", "--for", "getMe")
      const { code, errors, output } = yield* typing(pasted(), "login", "both", "--pin")
      assert.deepStrictEqual([code, errors.includes("No browser can be opened here: there is no display")], [0, true])
      assert.match(output, /^@ada is signed in with OAuth 1\.0a\./)
      assert.deepStrictEqual((yield* accounts)[0].kinds, ["OAuth 2.0", "OAuth 1.0a"])
      for (const flag of ["--user-auth", "--no-user-auth"]) {
        assert.strictEqual((yield* run("call", "getMe", "--account", "both", flag)).code, 0, flag)
      }
      const { grants, user } = yield* Sandbox.Sandbox
      user({ username: "katherine" })
      const other = yield* typing(pasted("allow", "katherine"), "login", "both", "--pin")
      assert.match(other.errors, /\npostwire: Account "both" is @ada, and @katherine signed in\n/)
      assert.deepInclude(grants.list()[0], { kind: "OAuth 1.0a", alive: false })
      const wrong = yield* typing(Effect.succeed("0000000"), "login", "both", "--pin")
      assert.deepStrictEqual([wrong.code, wrong.errors.split("\n").slice(-2)], [1, [
        "postwire: The service does not accept the PIN of this sign-in (Error processing your OAuth request: Invalid " +
        "oauth_verifier parameter)",
        "  It is valid once: run the command again, and type what the page shows."
      ]])
      assert.strictEqual(
        (yield* run("login", "--pin", "--for", "getMe")).errors,
        "postwire: --pin and --for contradict each other\n" +
          "  OAuth 1.0a has no scopes: the app's permissions are set in the service's console."
      )
      for (const operation of ["revokeToken", "invalidateAccessToken"] as const) {
        sandbox.faults.add({ operation, status: 401, times: "always" })
        const blocked = yield* run("logout", "both")
        sandbox.faults.clear()
        assert.match(blocked.errors, /^postwire: Account "both" is kept, /, operation)
      }
      assert.strictEqual((yield* run("logout", "both")).code, 0)
      const ofAda = grants.list().find(({ kind, user }) => kind === "OAuth 1.0a" && user.username === "ada")
      assert.strictEqual(ofAda?.endedBy, "revoked")
    }))

  it.effect("gives no account to somebody else, unless that is wanted", () =>
    Effect.gen(function*() {
      const { accounts, login, sandbox } = yield* userOf()
      sandbox.user({ username: "linus" })
      yield* login("ada", "shared")
      const refused = yield* login("linus", "shared")
      assert.deepStrictEqual([refused.code, refused.errors.split("\n").slice(-2)], [1, [
        "postwire: Account \"shared\" is @ada, and @linus signed in",
        "  Pass another name, or --replace to assign it to the user who signed in. The new grant was revoked."
      ]])
      assert.strictEqual((yield* accounts)[0].user.username, "ada")
      assert.deepStrictEqual(sandbox.grants.list().slice(0, 2).map(({ alive }) => alive), [false, true])
      assert.strictEqual((yield* login("linus", "shared", "--replace")).code, 0)
      assert.strictEqual((yield* accounts)[0].user.username, "linus")
    }))

  it.effect("asks at a terminal whether an account is to be somebody else's", () =>
    Effect.gen(function*() {
      const { accounts, login, redirect, sandbox, typingOn } = yield* userOf()
      sandbox.user({ username: "margaret" })
      yield* login("ada", "shared")
      const answer = (text: string) => {
        const typed = [pasted("allow", "margaret"), Effect.succeed(text)]
        const next = Effect.suspend(() => typed.shift() ?? assert.fail("asked once more"))
        return typingOn(true, next, "login", "shared", "--headless", "--redirect", redirect)
      }
      for (const no of ["", "n", "yesterday"]) {
        const { code, errors } = yield* answer(no)
        assert.deepStrictEqual([code, errors.includes("Account \"shared\" is @ada, and @margaret signed in")], [
          1,
          true
        ])
        assert.strictEqual((yield* accounts)[0].user.username, "ada")
        assert.isFalse(sandbox.grants.list()[0]?.alive)
      }
      assert.strictEqual((yield* answer("Y")).code, 0)
      assert.strictEqual((yield* accounts)[0].user.username, "margaret")
    }))

  it.effect("has a default among accounts, which names and credentials come before", () =>
    Effect.gen(function*() {
      const user = yield* userOf()
      const { accounts, file, login, run, sandbox } = user
      const who = (...args: ReadonlyArray<string>) =>
        Effect.map(run("call", "getMe", "--no-user-auth", ...args), ({ errors, output }) =>
          output === "" ? errors : JSON.parse(output).data.username)
      sandbox.user({ username: "grace_h" })
      yield* login("ada")
      yield* login("grace_h")
      const isDefault = Effect.map(accounts, (all) =>
        all.flatMap((account: { name: string; isDefault: boolean }) =>
          account.isDefault ? [account.name] : []
        ))
      assert.deepStrictEqual(yield* isDefault, ["ada"])
      assert.strictEqual(yield* who(), "ada")
      assert.strictEqual((yield* run("accounts", "--default", "grace_h")).code, 0)
      assert.deepStrictEqual([yield* isDefault, yield* who()], [["grace_h"], "grace_h"])
      const before = readFileSync(file, "utf8")
      const token = Redacted.value(sandbox.seeded.userBearerToken)
      writeFileSync(file, `${before}POSTWIRE_BEARER_TOKEN=${token}\n`)
      assert.deepStrictEqual([yield* who(), yield* who("--account", "grace_h")], ["ada", "grace_h"])
      const other = yield* login("grace_h")
      assert.include(other.errors, "Commands use POSTWIRE_BEARER_TOKEN from the environment, not the account.")
      writeFileSync(file, `${before}POSTWIRE_BEARER_TOKEN=${token}\nPOSTWIRE_ACCOUNT=grace_h\n`)
      assert.deepStrictEqual([yield* who(), yield* who("--account", "ada")], ["grace_h", "ada"])
      const usual = yield* run("accounts", "--default", "ada")
      assert.include(usual.errors, "Commands use POSTWIRE_ACCOUNT from the environment, not the account.")
      assert.strictEqual((yield* run("accounts", "--default", "grace_h")).errors, "")
    }))

  it.effect.skipIf(places.redis.missing !== undefined)(
    "writes no password of a store down, and warns of it in a flag",
    () =>
      Effect.gen(function*() {
        const { home, login, run } = yield* userOf()
        const { address } = yield* Effect.acquireRelease(
          Effect.promise(places.redis.start),
          (place) => Effect.promise(() => Promise.resolve(place[Symbol.asyncDispose]()))
        )
        const store = ["--token-store", address.replace("//", "//default:canary-password@")]
        const { code, errors, output } = yield* login("ada", "shared", ...store)
        assert.strictEqual(code, 0, errors)
        assert.match(
          errors,
          /^postwire: Every user of this machine can read the password in the command line\.\n {2}Set POSTWIRE_TOKEN_STORE to the address instead\.\n/
        )
        const listed = yield* run("accounts", "--default", "shared", ...store)
        const defaults = readFileSync(join(home, ".config/postwire/default-accounts.json"), "utf8")
        assert.deepStrictEqual(Object.values(JSON.parse(defaults)), ["shared"])
        assert.notInclude([errors, output, listed.errors, listed.output, defaults].join(), "canary")
      })
  )

  it.effect("signs out: revokes, then removes, and keeps what could not be revoked", () =>
    Effect.gen(function*() {
      const { accounts, file, home, login, run, sandbox } = yield* userOf()
      yield* login("ada")
      sandbox.faults.add({ operation: "revokeToken", status: 403, times: "always" })
      const kept = yield* run("logout")
      sandbox.faults.clear()
      assert.match(
        kept.errors,
        /^postwire: Account "ada" is kept, since its grant could not be revoked: .*\n {2}Try again later, .* --force; .*$/
      )
      assert.isTrue(sandbox.grants.list()[0]?.alive)
      const { code, output } = yield* run("logout")
      assert.deepStrictEqual([code, output], [0, `@ada is signed out. The account "ada" is removed.`])
      assert.isFalse(sandbox.grants.list()[0]?.alive)
      assert.deepStrictEqual(yield* accounts, [])
      assert.strictEqual((yield* run("accounts")).output, "There are no accounts. postwire login signs in.")
      assert.match((yield* run("logout")).errors, /^postwire: No account to sign out of\n {2}Name one: .*$/)
      yield* login("ada")
      sandbox.faults.add({ operation: "revokeToken", status: 403, times: "always" })
      const forced = yield* run("logout", "--force")
      sandbox.faults.clear()
      assert.deepStrictEqual([forced.code, forced.errors.startsWith("postwire: The grant could not be revoked: ")], [
        0,
        true
      ])
      assert.deepStrictEqual(yield* accounts, [])
      // What the user has revoked is of no use already.
      yield* login("ada")
      sandbox.grants.revoke(sandbox.grants.list()[0]!.id)
      const revoked = yield* run("logout")
      assert.deepStrictEqual([revoked.code, revoked.errors], [0, ""])
      // A gateway that refuses the request knows nothing of the token.
      yield* login("ada")
      for (const status of [400, 401]) {
        sandbox.faults.add({ operation: "revokeToken", status })
        const blocked = yield* run("logout")
        assert.deepStrictEqual([blocked.code, blocked.errors.includes("is kept")], [1, true])
        assert.isTrue(sandbox.grants.list()[0]?.alive)
      }
      assert.strictEqual((yield* run("logout")).code, 0)
      // Whoever renews it meanwhile would bring it back.
      yield* login("ada")
      const leaving = yield* Effect.scoped(Effect.gen(function*() {
        yield* FileTokenStore.make(join(home, ".config/postwire/accounts")).lock("ada")
        const leaving = yield* Effect.forkDetach(run("logout"))
        yield* Effect.sleep(200)
        assert.isTrue(sandbox.grants.list()[0]?.alive)
        return leaving
      }))
      assert.strictEqual((yield* Fiber.join(leaving)).code, 0)
      // The secret of another app is not sent.
      yield* login("ada")
      const other = sandbox.app({ kind: "confidential" }).client
      writeFileSync(
        file,
        readFileSync(file, "utf8").replace(
          /CLIENT_ID=.*/,
          `CLIENT_ID=${other.id}\nPOSTWIRE_CLIENT_SECRET=${other.secret}`
        )
      )
      assert.strictEqual((yield* run("logout")).code, 0)
      assert.isFalse(sandbox.grants.list()[0]?.alive)
    }))

  it.effect("has a doctor that tells of accounts what they may do, and which one is used", () =>
    Effect.gen(function*() {
      const { file, login, run, sandbox, secrets } = yield* userOf()
      const checksOf = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
        const { output } = yield* run("doctor", "--json", ...args)
        const { checks } = JSON.parse(output) as { readonly checks: ReadonlyArray<Check> }
        return checks.filter(({ name }) => name === "account" || name === "credentials")
      })
      yield* login("ada", "--for", "getBookmarks")
      const told = yield* run("doctor")
      assert.deepStrictEqual([told.code, told.errors], [0, ""])
      for (const line of told.output.split("\n")) assert.isAtMost(line.length, 80)
      for (const secret of secrets()) assert.notInclude(told.output, secret)
      const all = told.output.replace(/\s+/g, " ")
      assert.include(all, "ok credentials Commands use account \"ada\": it is the default ")
      assert.include(all, "ok account ada is @ada with OAuth 2.0; it works; expires in ")
      assert.match(all, /ok rate limit getMe \(bearer of account ada\): \d+ of 75 left/)
      const [, account] = yield* checksOf()
      assert.include(account?.details?.["lacking"], "createPost")
      assert.notInclude(account?.details?.["lacking"], "getBookmarks")
      assert.match(account?.advice ?? "", /^It cannot call .* and \d+ more; postwire login ada --for \w+ adds that\.$/)
      const token = Redacted.value(sandbox.seeded.userBearerToken)
      writeFileSync(file, `${readFileSync(file, "utf8")}POSTWIRE_BEARER_TOKEN=${token}\n`)
      assert.deepStrictEqual((yield* checksOf()).map(({ finding, status }) => [status, finding.split(";")[0]]), [
        ["info", "Commands use POSTWIRE_BEARER_TOKEN from the environment, and no account"],
        ["ok", "ada is @ada with OAuth 2.0"]
      ])
      assert.strictEqual(
        (yield* checksOf("--account", "ada"))[0]?.advice,
        "POSTWIRE_BEARER_TOKEN from the environment is not used."
      )
      sandbox.grants.revoke(sandbox.grants.list()[0]!.id)
      const dead = yield* run("doctor", "--account", "ada")
      assert.strictEqual(dead.code, 1)
      assert.match(
        dead.output.replace(/\s+/g, " "),
        /bad account ada is @ada with OAuth 2\.0; it does not work: the service .* Sign in again: postwire login ada\b/
      )
    }))

  it.effect("says in two lines at most what is wrong", () =>
    Effect.gen(function*() {
      const user = yield* userOf()
      const { browse, home, login, redirect, run, sandbox, shown, typing } = user
      const last = ({ code, errors }: Commands.Ended) => {
        assert.strictEqual(code, 1, errors)
        return errors.slice(errors.lastIndexOf("postwire: "))
      }
      assert.strictEqual(
        last(yield* run("login", "--for", "creatPost")),
        "postwire: There is no operation \"creatPost\"\n  Did you mean createPost? postwire call --help lists all."
      )
      assert.strictEqual(
        last(yield* run("login", "--scopes", "bookmarks.read")),
        "postwire: There is no scope \"bookmarks.read\"\n  Did you mean bookmark.read?"
      )
      assert.strictEqual(
        last(yield* run("login", "a b")),
        "postwire: account must be 1 to 32 letters, digits, _ or -, and must not begin with -.\n" +
          "  Choose another name."
      )
      assert.strictEqual(
        last(yield* run("login", "--redirect", "https://bot.example/callback")),
        "postwire: --redirect https://bot.example/callback does not lead to this machine over http\n" +
          "  Add http://localhost:8080/callback to the app, or pass --headless and paste the last address."
      )
      assert.match(
        last(yield* run("login", "--client-id", "nobody", "--redirect", redirect)),
        /^postwire: The service refuses the sign-in: There is no app with the client id nobody\n {2}Check the client id, .*$/
      )
      assert.match(
        last(yield* run("login", "--redirect", `${redirect}/`)),
        /^postwire: .* They must be the same, character by character\n {2}Check .* has http:\S+\/, character by character .*$/
      )
      assert.match(
        last(yield* browse((url) => decide(url, "deny"))),
        /^postwire: The sign-in was denied: .*\n {2}Nothing was changed; start again to be prompted again\.$/
      )
      assert.match(yield* Effect.promise(() => shown.at(-1)!), /<h1>You are not signed in<\/h1>/)
      const other = Effect.map(pasted(), (address) => address.replace(/state=[^&]+/, "state=other"))
      assert.match(
        last(yield* typing(other, "login", "--headless", "--redirect", redirect)),
        /^postwire: This URL belongs to another sign-in\.\n {2}Use the one that this sign-in ended at, or start again\.$/
      )
      assert.match(
        last(
          yield* browse(async (url) => {
            const address = await decide(url, "allow")
            sandbox.clock.advance("31 seconds")
            return address
          })
        ),
        /^postwire: The service does not accept the code of this sign-in \(.*\)\n {2}It is valid once, for 30 seconds: .*$/
      )
      assert.match(
        last(yield* run("call", "getMe", "--account", "eve")),
        /^postwire: There is no account "eve"\n {2}There are no accounts: postwire login eve signs in\.$/
      )
      yield* login("ada")
      const record = join(home, ".config/postwire/accounts/ada.json")
      writeFileSync(record, "{", { mode: 0o600 })
      assert.match(
        last(yield* run("logout", "ada")),
        /^postwire: Account "ada" is kept, since its grant could not be revoked: its record is damaged\n {2}.* --force; .*$/
      )
      assert.deepStrictEqual(yield* run("logout", "ada", "--force"), {
        code: 0,
        output: "The account \"ada\" is removed.",
        errors: "postwire: The grant could not be revoked: its record is damaged"
      })
      writeFileSync(record, "{", { mode: 0o600 })
      assert.strictEqual((yield* login("ada", "ada")).code, 0)
      assert.strictEqual(JSON.parse(readFileSync(record, "utf8")).user.username, "ada")
      assert.strictEqual(
        last(yield* run("call", "getMe", "--account", "eve")),
        "postwire: There is no account \"eve\"\n  There is ada; postwire login eve adds it."
      )
    }))

  it.effect("says that there is no app, no home, no port and no service", () =>
    Effect.gen(function*() {
      const { file, home, port, redirect, run } = yield* userOf()
      const taken = createServer().listen(port, "127.0.0.1")
      yield* Effect.promise(() => once(taken, "listening"))
      assert.strictEqual(
        (yield* run("login", "--redirect", redirect)).errors,
        `postwire: Cannot listen for ${redirect}: another program listens on its port\n` +
          "  Stop the program that listens there, pass another address of the app with --redirect, or use --headless."
      )
      taken.close()
      yield* Effect.promise(() => once(taken, "close"))
      const homeless = yield* Commands.parse("login", "--credentials", file).pipe(
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({})))
      )
      assert.strictEqual(
        homeless.errors,
        "postwire: tokenStore must name a folder: this user has no home to keep accounts in (HOME is not set).\n" +
          "  Name one with --token-store, or set POSTWIRE_TOKEN_STORE."
      )
      writeFileSync(file, readFileSync(file, "utf8").replace(/CLIENT_ID=.*/, "CLIENT_ID="))
      assert.match(
        (yield* run("login")).errors,
        /^postwire: There is no client id of an app to sign in to\n {2}Set POSTWIRE_CLIENT_ID, or pass --client-id: .*$/
      )
      // The wire has a base URL of its own.
      writeFileSync(file, "POSTWIRE_WIRE=x\nPOSTWIRE_TOKEN_STORE=\n")
      assert.match((yield* run("login")).errors, /^postwire: There is no client id of an app to sign in to\n/)
      writeFileSync(file, "POSTWIRE_BASE_URL=http://127.0.0.1:1\nPOSTWIRE_TOKEN_STORE=\n")
      assert.match(
        (yield* run("login", "--client-id", "a", "--redirect", redirect)).errors,
        /^postwire: http:\/\/127\.0\.0\.1:1 does not respond: .*ECONNREFUSED.*\n {2}Check the connection and .*$/
      )
      const accounts = join(home, ".config/postwire/accounts")
      mkdirSync(accounts, { recursive: true, mode: 0o700 })
      writeFileSync(join(accounts, "torn.json"), "{", { mode: 0o600 })
      assert.match(
        (yield* run("call", "getMe", "--account", "torn")).errors,
        /^postwire: The token store \S+torn\.json cannot be read: it is damaged\.\n {2}Sign in again with postwire login, .*$/
      )
      const listed = yield* run("accounts")
      assert.match(listed.output, /\* torn +cannot be read\n {4}why +The token store/)
      const newer = join(accounts, "newer.json")
      writeFileSync(newer, `{"version":2}`, { mode: 0o600 })
      for (
        const args of [["call", "getMe", "--account", "newer"], ["login", "newer"], [
          "logout",
          "newer",
          "--force"
        ]] as const
      ) {
        assert.strictEqual(
          (yield* run(...args)).errors,
          `postwire: The token store ${newer} cannot be read: it is of a later version.\n  Update Postwire.`
        )
      }
      assert.strictEqual(readFileSync(newer, "utf8"), `{"version":2}`)
      const full = new StorageFailure({
        kind: "token store",
        place: newer,
        fault: "full",
        action: "write",
        detail: "no space left on the device"
      })
      assert.deepStrictEqual(ErrorReport.explain(full), [
        `postwire: The token store ${newer} cannot be written: it is full (no space left on the device).`,
        "  Make room, then try again: nothing was lost."
      ])
    }))
})

describe("postwire login", () => {
  it.live("ends cleanly with Ctrl-C, and frees its port", () =>
    Effect.gen(function*() {
      const { baseUrl, app } = yield* Sandbox.Sandbox
      const port = yield* Effect.promise(freePort)
      const redirect = `http://localhost:${port}/callback`
      const home = yield* Commands.folder
      const child = start(["login", "--redirect", redirect], {
        HOME: home,
        PATH: process.env["PATH"],
        POSTWIRE_BASE_URL: baseUrl,
        POSTWIRE_CLIENT_ID: app({ redirects: [redirect] }).client.id
      })
      createInterface(child.stderr!).on("line", (line) => line.includes("--headless") && child.kill("SIGINT"))
      const { code, errors } = yield* Effect.promise(() => ended(child))
      assert.strictEqual(code, 130)
      assert.match(
        errors,
        /\nhttp:\S+\n\npostwire: No browser can be opened here: there is no display\n {2}Open the address/
      )
      const again = createServer().listen(port, "127.0.0.1")
      yield* Effect.promise(() => once(again, "listening"))
      again.close()
      assert.isFalse(existsSync(join(home, ".config/postwire/accounts/ada.json")))
    }).pipe(Effect.provide(Sandbox.layerServer({ posts: 0 }))))

  it.effect("waits for five minutes, and says then what an error in the browser means", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* Commands.serve((_, response) => response.end("<h1>A page</h1>"))
      const file = yield* Commands.credentials({ POSTWIRE_BASE_URL: baseUrl })
      const redirect = `http://localhost:${yield* Effect.promise(freePort)}/callback`
      const opened = yield* Deferred.make<void>()
      const login = Commands.parse("login", "--client-id", "app", "--redirect", redirect, "--credentials", file).pipe(
        Effect.provideService(Browser.Browser, { open: () => Effect.asVoid(Deferred.succeed(opened, undefined)) })
      )
      const fiber = yield* Effect.forkChild(login)
      yield* Deferred.await(opened)
      const elsewhere = yield* Effect.promise(() => fetch(new URL("/favicon.ico", redirect)))
      assert.strictEqual(elsewhere.status, 404)
      yield* TestClock.adjust("5 minutes")
      const { code, errors } = yield* Fiber.join(fiber)
      assert.strictEqual(code, 1)
      assert.match(
        errors,
        /\npostwire: Nobody signed in within five minutes\n {2}Run it again\. If .* must have http:\S+, character by character\.$/
      )
    }))

  it.effect("says what the service did not grant", () =>
    Effect.gen(function*() {
      const tokens = { token_type: "bearer", expires_in: 7_200, access_token: "a", scope: "post.read users.read" }
      const baseUrl = yield* serve((name) =>
        name.startsWith("POST") ? tokens : { data: { id: "7", username: "ada", name: "Ada" } }
      )
      const home = yield* Commands.folder
      const file = yield* Commands.credentials({ POSTWIRE_BASE_URL: baseUrl, POSTWIRE_TOKEN_STORE: "" })
      const redirect = `http://localhost:${yield* Effect.promise(freePort)}/callback`
      const args = ["login", "--client-id", "app", "--for", "like", "--redirect", redirect, "--credentials", file]
      const { errors, output } = yield* Commands.parse(...args).pipe(
        Effect.provideService(Browser.Browser, {
          open: (url) => {
            const state = new URL(url).searchParams.get("state")
            return Effect.promise(() => fetch(`${redirect}?code=a&state=${state}`))
          }
        }),
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ HOME: home })))
      )
      assert.match(errors, /\npostwire: The service did not grant offline\.access, like\.write\.$/)
      assert.match(output, /; then sign in again \(offline\.access was not granted\)$/)
    }))

  it("opens the browser that the system or the user has", () => {
    const of = (platform: NodeJS.Platform, variables: Record<string, string> = {}) =>
      Browser.commandOf("http://a/?b&c", variables, platform)
    assert.deepStrictEqual(of("darwin"), ["open", "http://a/?b&c"])
    assert.deepStrictEqual(of("win32"), ["rundll32", "url.dll,FileProtocolHandler", "http://a/?b&c"])
    assert.deepStrictEqual(of("linux", { DISPLAY: ":0" }), ["xdg-open", "http://a/?b&c"])
    assert.deepStrictEqual(of("linux", { WAYLAND_DISPLAY: "wayland-0" }), ["xdg-open", "http://a/?b&c"])
    assert.deepStrictEqual(of("linux", { BROWSER: "firefox --new-tab %s:chromium" }), [
      "firefox",
      "--new-tab",
      "http://a/?b&c"
    ])
    assert.deepStrictEqual(of("linux", { BROWSER: "lynx" }), ["lynx", "http://a/?b&c"])
    assert.isUndefined(of("linux"))
  })
})
