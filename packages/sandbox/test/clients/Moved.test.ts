import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@postwire/node"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { Agent } from "node:http"
import { type ITwitterApiClientPlugin, TwitterApi } from "twitter-api-v2"
import { migrate } from "../../../cli/src/migrate/Migration.ts"
import * as MediaBytes from "../../../core/test/support/MediaBytes.ts"
import * as After from "./moved/After.ts"
import * as Before from "./moved/Before.ts"
import { serve } from "./Server.ts"

const text = (name: string) => readFileSync(new URL(`./moved/${name}`, import.meta.url), "utf8")

describe("programs that the codemod moved", () => {
  it("are its output, which compiles", () => {
    const { moved, text: after, todos } = migrate(text("Before.ts"), "Before.ts")
    // The formatter has put parameters on lines of their own.
    assert.strictEqual(after.replace(/\s+/g, ""), text("After.ts").replace(/\s+/g, ""))
    assert.deepStrictEqual([moved, todos.length], [12, 0])
  })

  it.live("have the results that they had with twitter-api-v2", () =>
    Effect.gen(function*() {
      const { baseUrl, secrets } = yield* serve("x-2026-02")
      const { accessToken, accessTokenSecret, consumerKey, consumerSecret } = secrets
      const redirect: ITwitterApiClientPlugin = {
        onBeforeRequestConfig: ({ params }) => {
          params.url = params.url.replace("https://api.x.com", baseUrl)
        }
      }
      Before.use(
        new TwitterApi(
          { appKey: consumerKey, appSecret: consumerSecret, accessToken, accessSecret: accessTokenSecret },
          { httpAgent: new Agent(), plugins: [redirect] }
        )
      )
      const client = createClient({
        baseUrl,
        wire: "x-2026-02",
        consumerKey,
        consumerSecret,
        accessToken,
        accessTokenSecret,
        allowInsecureHttp: true
      })
      After.use(client)
      yield* Effect.promise(async () => {
        const picture = Buffer.from(MediaBytes.png())
        const before: ReadonlyArray<unknown> = [
          await Before.timeline(),
          await Before.search(),
          await Before.authors(),
          await Before.followers(),
          await Before.post(picture)
        ]
        const after: ReadonlyArray<unknown> = [
          await After.timeline(),
          await After.search(),
          await After.authors(),
          await After.followers(),
          await After.post(picture)
        ]
        assert.deepStrictEqual(after, before)
        assert.isAbove((await After.timeline()).texts.length, 20)
        assert.lengthOf(await After.authors(), 50)
        assert.isNotEmpty(await After.followers())
        await client.close()
      })
    }))
})
