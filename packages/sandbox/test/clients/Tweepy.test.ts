import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { serve } from "./Server.ts"

const script = fileURLToPath(new URL("tweepy_scenario.py", import.meta.url))

/** The first interpreter that has the library: the one on the path need not be the one that packages are for. */
const python = ["python3", "/usr/bin/python3"].find((command) =>
  spawnSync(command, ["-c", "import tweepy"], { stdio: "ignore" }).status === 0
)

if (python === undefined) {
  console.warn("The tests with tweepy are skipped: no python3 here can import it (apt-get install python3-tweepy).")
}

/** Runs a part of the script; its error output is the reason when it fails. */
const run = (part: string, settings: object) =>
  Effect.promise(() =>
    new Promise<string>((resolve) => {
      const child = execFile(
        python!,
        [script, part],
        { timeout: 60_000 },
        (error, _, stderr) => resolve(error === null ? "" : `${error.message}\n${stderr}`)
      )
      // A script that ends before it has read its settings has said why.
      child.stdin?.on("error", () => {}).end(JSON.stringify(settings))
    })
  )

describe.skipIf(python === undefined)("tweepy", () => {
  for (
    const [part, title] of [
      ["reads", "reads, as a user and as an app"],
      ["pages", "pages forwards and backwards, and searches to the end"],
      ["writes", "writes, and what it writes is there"],
      ["lists", "makes a list, fills it, pins it, follows it, changes it and deletes it"],
      ["refusals", "tells refusals apart"],
      ["limits", "shows the rate limit, and that it is spent"],
      ["logins", "signs in with OAuth 2.0 and with OAuth 1.0a"],
      ["streams", "adds rules, and reads a stream of what they match"]
    ] as const
  ) {
    it.live(title, () =>
      Effect.gen(function*() {
        const { baseUrl, liked, likers, needles, reader, secrets, seeded } = yield* serve("x-2026-02")
        const { ada: { id: ada }, confidentialClient, mediaIds, publicClient } = seeded
        const clients = [
          { id: publicClient.id },
          { id: confidentialClient.id, secret: Redacted.value(confidentialClient.secret) }
        ]
        const settings = { ada, baseUrl, clients, liked, likers, mediaIds, needles, reader, secrets }
        assert.strictEqual(yield* run(part, settings), "")
      }))
  }
})
