import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as OAuth2 from "../src/OAuth2.ts"
import * as Wire from "../src/Wire.ts"
import { baseUrl, make } from "./support/Service.ts"

const app = { clientId: "client-1:ci" }
const refreshToken = Redacted.make("canary-refresh-0001")

describe("refresh", () => {
  it.effect("brings a pair of tokens, with what was granted and until when", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000)
      const { http, requests } = make(() => ({
        body: {
          token_type: "Bearer",
          access_token: "access-2",
          refresh_token: "refresh-2",
          expires_in: 7200,
          scope: "users.read tweet.read later.read offline.access"
        }
      }))
      const tokens = yield* OAuth2.refresh({ baseUrl, wire: Wire.x, app, refreshToken, scopes: ["users.read"] }).pipe(
        Effect.provideService(HttpClient.HttpClient, http)
      )
      assert.deepStrictEqual(requests.map(({ body, method, path }) => [method, path, body]), [
        [
          "POST",
          "/2/oauth2/token",
          "grant_type=refresh_token&refresh_token=canary-refresh-0001&client_id=client-1%3Aci"
        ]
      ])
      assert.strictEqual(Redacted.value(tokens.accessToken), "access-2")
      assert.strictEqual(Redacted.value(tokens.refreshToken!), "refresh-2")
      assert.deepStrictEqual(tokens.scopes, ["post.read", "users.read", "offline.access"])
      assert.deepStrictEqual([tokens.renewedAt, tokens.expiresAt], [1_000, 7_201_000])
    }))
})
