import { assert, describe, it } from "@effect/vitest"
import { environmentVariable } from "@postwire/core/errors/Errors"
import * as OAuth2 from "@postwire/node/OAuth2"
import { Sandbox } from "@postwire/sandbox"
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { format, promisify } from "node:util"
import { vi } from "vitest"
import { mp4, png, vtt } from "../../packages/core/test/support/MediaBytes.ts"

const run = promisify(execFile)

const folder = new URL("../guides/", import.meta.url)

/** What each guide's program prints against a sandbox, in part. */
const expected: Readonly<Record<string, RegExp>> = {
  "articles.ts": /^line 5: table, shown as Markdown\ndraft \d+\npost \d+$/,
  "blocking.ts": /^Ada Lovelace\n[^]*\nthere is no such post$/,
  "calls.ts": /^\d{4}-\S+ \d+\n\w+ (true|false)\n[^]*200 application\/json[^]* 200\n\{[^]*\}$/,
  "compliance.ts": /^1 deleted\n\d+ 1 deleted\nauthor 2 deleted$/,
  "credentials.ts": /^\d+\noauth1 \[ 'consumerKey', 'consumerSecret', 'accessToken', 'accessTokenSecret' \]$/,
  "effect.ts": /^Ada Lovelace and 20 posts\nAda Lovelace\n[^]*http\.request\.method/,
  "errors.ts":
    /^posted \d+\n\[ 'ada' \]\nCould not find user with usernames: \[nobodyyy\]\.\nCould not find user with username: \[nobodyyy\]\.\nthere is no such post$/,
  "hydrate.ts": /^\d+ deleted undefined\n20 deleted undefined\nno id invalid undefined\nada found\n@grace deleted$/,
  "lists.ts":
    /^1 to add, 0 to remove, at least \d+ ms\n1 of 1: ada added\n1 added, 0 removed\ngrace unknown Could not find[^\n]*\n \w+ [^]*#effect/,
  "moving.ts": /\d/,
  "pages.ts": /requests remaining\n[^]*posts of the second page/,
  "publish.ts":
    /^posted \d+\n0 of \d+ bytes\n[^]*100% processed\nvideo\/mp4\nimage\/png tweet_image\ndm_image\nvideo\/mp4\nupload 0\nupload 1\nmedia \d+\ntrue\n3 posts, all of them now$/,
  "publish-blocking.ts": /^upload 0%\n[^]*processing 100%\nposted \d+$/,
  "publish-effect.ts": /^posted \d+\nupload 0\n[^]*processing 1\n\d+\n2 posts\nimage\/png$/,
  "spend.ts": /^0\.01 dollars for 1 resources$/,
  "rate-limits.ts": /^Ada Lovelace\n\d+ of \d+ requests remaining$/,
  "retries.ts": /^Ada Lovelace\ngetMe 1 200 /,
  "rules.ts":
    /^2 to add, 0 to delete, 0 with another tag\n[^]*\[ 'cats: \d+', 'ada: \d+' \] 0\n4 form: is not an operator \(did you mean from:\?\)$/,
  "sign-in.ts": /^(ada .*\n)*Ada Lovelace\ntrue\nallow more: \[ 'post\.write' \]$/,
  "start.ts": /^Hello, Ada Lovelace\n\d{4}-/,
  "streams.ts": /Effect[^\n]* \[ 'effect' \]\n(?:[^]*\n)?connected\n(?:[^]*\n)?Connected\n[^]*\n\w\w /,
  "text.ts": /^49 35 true\nmust have a length of 280 at most, and has 281\n279 [^]* 2\/2\nada example\.com 29$/
}

// A blocking call would keep the sandbox, which is on this thread, from answering; and Effect reads the environment of a
// process once.
const apart = [
  "articles.ts",
  "blocking.ts",
  "compliance.ts",
  "effect.ts",
  "publish.ts",
  "publish-blocking.ts",
  "publish-effect.ts",
  "sign-in.ts",
  "streams.ts"
]

/** What there is to publish. */
const files = {
  "lighthouse.png": png(),
  "harbour.mp4": mp4(),
  "harbour.en.vtt": vtt,
  "posts.txt": "1\n",
  "authors.txt": "2\n"
}

/** What `postwire login ada --for getMe,getBookmarks` leaves. */
const signIn = async ({ baseUrl, grants, seeded }: Sandbox.RunningSandbox, tokenStore: string) => {
  const scopes = OAuth2.scopesFor(["getMe", "getBookmarks"])
  await OAuth2.saveAccount({
    baseUrl,
    tokenStore,
    clientId: seeded.publicClient.id,
    account: "ada",
    tokens: { ...grants.make({ scopes }), scopes }
  })
}

/** What needs a service of its own is type-checked, and is what tests of that service do. */
// These run until they are stopped, and a sandbox registers no webhook of another machine.
const endless = ["chat.ts", "events.ts", "follow.ts", "shared-streams.ts"]

const programs = readdirSync(folder).filter((name) => !endless.includes(name))

describe("the programs of the guides", () => {
  it.each(programs)("%s runs", async (name) => {
    await using sandbox = await Sandbox.start({ posts: 300 })
    vi.stubEnv("POSTWIRE_WIRE", undefined)
    for (const [setting, value] of Object.entries(sandbox.settings)) {
      vi.stubEnv(environmentVariable(setting), String(value))
    }
    if (name === "streams.ts") sandbox.load({ perSecond: 50, seed: 1 })
    const home = mkdtempSync(join(tmpdir(), "postwire-guides-"))
    for (const variable of ["XDG_CONFIG_HOME", "XDG_STATE_HOME"]) vi.stubEnv(variable, home)
    for (const [file, bytes] of Object.entries(files)) writeFileSync(join(home, file), bytes)
    if (name === "sign-in.ts") await signIn(sandbox, join(home, "postwire/accounts"))
    const lines: Array<string> = []
    const log = vi.spyOn(console, "log").mockImplementation((...line) => void lines.push(format(...line)))
    try {
      if (apart.includes(name)) {
        lines.push((await run(process.execPath, [fileURLToPath(new URL(name, folder))], { cwd: home })).stdout.trim())
      } else await import(new URL(name, folder).href)
    } finally {
      log.mockRestore()
      rmSync(home, { recursive: true })
    }
    assert.match(lines.join("\n"), expected[name] ?? /^$/)
  })
})
