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

  const day = 24 * 3_600_000

  it.effect("that have ended are forgotten with their tokens and codes, except the newest", () =>
    Effect.gen(function*() {
      const { app, first, store } = yield* granted("lenient")
      const userId = store.grants.byId(first.grantId)!.userId
      const redirect = "http://127.0.0.1/"
      const signIn = (at: number) => {
        const consent = {
          appId: app.id,
          userId,
          redirect,
          challenge: "verifier",
          method: "plain",
          scope: "tweet.read"
        } as const
        const code = store.authorizationCodes.insert({ ...consent, scope: "tweet.read offline.access" }, at)
        store.authorizationCodes.insert(consent, at - 2 * day)
        return store.authorizationCodes.exchange({ app, code, redirect, verifier: "verifier", now: at })!
      }
      const sizeAfter = (signIns: number) => {
        for (let i = 0; i < signIns; i++) signIn(now + i)
        return store.snapshot().length
      }
      const [some, more] = [sizeAfter(1_100), sizeAfter(1_100)]
      assert.isAtMost(more, some * 1.02)
      const last = signIn(now + 2_000)
      assert.isFalse(store.credentials.isSecret(Redacted.value(first.accessToken)))
      assert.isUndefined(store.credentials.bearerToken(first.accessToken))
      assert.isUndefined(store.grants.refresh(app, first.refreshToken!, now))
      assert.isTrue(store.grants.byId(last.grantId)?.alive)
      assert.isDefined(store.grants.refresh(app, last.refreshToken!, now))
    }))

  it.effect("that live forget refresh tokens which were used a month ago", () =>
    Effect.gen(function*() {
      const { app, first, store } = yield* granted("strict")
      const issued = [first]
      for (let hours = 0; hours < 100 * 24; hours += 2) {
        issued.push(store.grants.refresh(app, issued.at(-1)!.refreshToken!, now + hours * 3_600_000)!)
      }
      const known = issued.filter(({ refreshToken }) => store.credentials.isSecret(Redacted.value(refreshToken!)))
      assert.approximately(known.length, 30 * 12, 3)
      const end = now + 100 * day
      // One of the last month still ends the grant.
      assert.isUndefined(store.grants.refresh(app, first.refreshToken!, end))
      assert.isTrue(store.grants.byId(first.grantId)?.alive)
      assert.isUndefined(store.grants.refresh(app, known[2]!.refreshToken!, end))
      assert.strictEqual(store.grants.byId(first.grantId)?.endedBy, "refresh token reused")
    }))
})
