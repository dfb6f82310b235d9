import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import type { Tokens } from "../src/store/Grants.ts"
import { Store } from "../src/store/Store.ts"

const now = Date.UTC(2026, 10, 20, 12)

/** A store with one grant of an app. */
const granted = Effect.fnUntraced(function*(rotation: "lenient" | "strict") {
  const store = yield* Store.open({ file: ":memory:" })
  const appId = store.credentials.insertApp({
    name: "App",
    access: "standard",
    rights: "read",
    consumerKey: "ck",
    consumerSecret: Redacted.make("cs"),
    client: { id: "ci", secret: undefined, redirects: [], rotation },
    createdAt: now
  })
  const app = store.credentials.appById(appId) ?? assert.fail("there is no app")
  const userId = store.users.insert({ username: "ada", name: "Ada", createdAt: now })
  return { store, app, first: store.grants.open({ app, userId, scope: "tweet.read offline.access", now }) }
})

/** Uses a token of those that there are so far: their count bounds it. */
const actions = () =>
  Arbitrary.array(
    Arbitrary.all({
      kind: Arbitrary.schema(Schema.Literals(["refresh", "refresh", "newest", "parent", "call"])),
      at: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 })))
    }),
    { maxLength: 40 }
  )

describe("grants", () => {
  for (const rotation of ["lenient", "strict"] as const) {
    it.effect.prop(
      `of ${rotation} apps have one live refresh token at most, and die of reuse, in any order`,
      { steps: actions() },
      ({ steps }) =>
        Effect.scoped(Effect.gen(function*() {
          const { app, first, store } = yield* granted(rotation)
          const issued: Array<Tokens> = [first]
          const called = new Set<number>()
          const putAside = new Set<Tokens>()
          // What must be, said another way.
          let current = 0
          let parent = -1
          let alive = true
          const take = ({ refreshToken }: Tokens) => store.grants.refresh(app, refreshToken!, now)
          for (const { at, kind } of steps) {
            const index = kind === "newest" ? current : kind === "parent" && parent >= 0 ? parent : at % issued.length
            if (kind === "call") {
              const found = store.credentials.useBearerToken(issued[index]!.accessToken)
              if (!alive) assert.isUndefined(found)
              called.add(index)
              continue
            }
            const isReplay = rotation === "lenient" && index === parent && !called.has(current)
            const tokens = take(issued[index]!)
            assert.strictEqual(tokens !== undefined, alive && (index === current || isReplay))
            if (tokens === undefined) {
              alive = false
              continue
            }
            if (index === current) parent = current
            else putAside.add(issued[current]!)
            current = issued.push(tokens) - 1
          }
          const grant = store.grants.byId(first.grantId)
          assert.strictEqual(grant?.alive, alive)
          assert.strictEqual(grant?.reuseDetected, alive ? 0 : 1)
          /** What a token would do, undone. */
          const outcomeOf = (tokens: Tokens) => {
            let outcome = "refused"
            try {
              store.transaction(() => {
                if (take(tokens) !== undefined) {
                  outcome = store.grants.byId(first.grantId)?.refreshes === grant?.refreshes ? "replay" : "refresh"
                }
                throw new Error("undo")
              })
            } catch {
              return outcome
            }
          }
          const outcomes = issued.map(outcomeOf)
          assert.strictEqual(outcomes.filter((outcome) => outcome === "refresh").length, alive ? 1 : 0)
          assert.isAtMost(outcomes.filter((outcome) => outcome === "replay").length, rotation === "lenient" ? 1 : 0)
          const valid = issued.filter(({ accessToken }) =>
            (store.credentials.bearerToken(accessToken)?.expiresAt ?? 0) > now
          )
          assert.isFalse(valid.some((tokens) => putAside.has(tokens)))
          if (!alive) assert.lengthOf(valid, 0)
        }))
    )
  }

  it.effect("know their tokens for secrets as long as there are any", () =>
    Effect.gen(function*() {
      const { app, first, store } = yield* granted("lenient")
      const second = store.grants.refresh(app, first.refreshToken!, now)!
      store.grants.end(first.grantId, "revoked", now)
      for (const { accessToken, refreshToken } of [first, second]) {
        for (const token of [accessToken, refreshToken!]) {
          assert.isTrue(store.credentials.isSecret(Redacted.value(token)))
          assert.isUndefined(store.credentials.bearerToken(token))
          assert.notInclude(Buffer.from(store.snapshot()).toString("latin1"), Redacted.value(token))
        }
      }
      assert.isFalse(store.grants.end(first.grantId, "revoked", now))
    }))
})
