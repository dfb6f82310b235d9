/** What a client counts is what the sandbox bills, by computations of their own. */
import { assert, describe, it } from "@effect/vitest"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import * as Spend from "@postwire/core/spend/Spend"
import * as SpendStore from "@postwire/core/spend/SpendStore"
import { named, names } from "@postwire/core/wire/Wire"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Layer, Redacted } from "effect"
import { randomInt } from "node:crypto"
import { draw, priceOf, randomOf, run, sceneOf } from "./support/PaidCalls.ts"

/** What was drawn before can be drawn again. */
const seed = Number(process.env["POSTWIRE_SEED"] ?? randomInt(2 ** 31))

/** What a read is repeated for. */
const isLostRead = ({ _tag }: { readonly _tag: string }) => _tag === "TransportFailure" || _tag === "ServerFailure"

describe("the account of a client", () => {
  for (const wire of names) {
    it.live(`is the bill of the sandbox, on the wire ${wire} (POSTWIRE_SEED=${seed})`, () =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        const { baseUrl, bill, budget, faults, seeded } = sandbox
        const store = SpendStore.makeMemory()
        // Whoever has a bearer token without an account is not known to be the owner.
        const client = Client.layer({ baseUrl, wire: named[wire], retries: 0 }).pipe(
          Layer.provide(
            Credentials.layer({ ...sandbox.ada.settings(), bearerToken: Redacted.value(seeded.appBearerToken) })
          ),
          Layer.provide(
            Spend.layer({ appOwner: sandbox.ada.id }).pipe(
              Layer.provide(Layer.succeed(SpendStore.SpendStore, store))
            )
          )
        )
        faults.add({ probability: 0.02, reset: "after" })
        faults.add({ probability: 0.02, reset: "before" })
        faults.add({ probability: 0.02, status: 503 })
        faults.add({ probability: 0.02, status: 503, after: true })
        const random = randomOf(seed)
        const scene = sceneOf(sandbox)
        let inDoubt = 0
        for (let i = 0; i < 150; i++) {
          budget.clear()
          const call = draw(random, scene, `${i}`, true)
          const once = Effect.provide(run(call), client)
          // A read whose answer was lost is made again, as often as it takes; a write that was lost is looked for.
          if (call.operation !== "createPost") yield* Effect.ignore(Effect.retry(once, { while: isLostRead }))
          else {
            const made = yield* Effect.exit(once)
            const isLost = made._tag === "Failure" && sandbox.requests.at(-1)?.fault?.reset === "after"
            if (isLost) inDoubt += priceOf(call)
          }
        }
        const entries = yield* store.read(baseUrl, "2000-01-01", "2100-01-01")
        const sum = entries.reduce((all, { spent }) => all + spent, 0)
        const { dollars } = bill.statement()
        assert.strictEqual(sum + inDoubt, Math.round(dollars * 1e6))
        assert.isAbove(dollars, 1)
        for (const { reserved } of entries) assert.strictEqual(reserved, 0)
      }).pipe(Effect.provide(Sandbox.layer({ posts: 300 }), { local: true })))
  }
})
