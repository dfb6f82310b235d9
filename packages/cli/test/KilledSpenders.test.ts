/**
 * The proof of the account: eight processes with one store make random calls and are killed again and again. What they have
 * counted is, to the micro-dollar, what the sandbox bills less what it charged for requests whose answer no process lived
 * to count, and no limit is passed.
 */
import { assert, describe, it } from "@effect/vitest"
import * as CredentialHash from "@postwire/core/auth/CredentialHash"
import * as Credentials from "@postwire/core/auth/Credentials"
import * as Client from "@postwire/core/client/Client"
import * as Spend from "@postwire/core/spend/Spend"
import { SpendStore } from "@postwire/core/spend/SpendStore"
import * as NodeCrypto from "@postwire/node/NodeCrypto"
import * as SqliteSpendStore from "@postwire/node/SqliteSpendStore"
import * as UndiciHttpClient from "@postwire/node/UndiciHttpClient"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect, Layer, Redacted } from "effect"
import { randomInt } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as timers from "node:timers/promises"
import { priceOf, randomOf, reads, run, sceneOf } from "./support/PaidCalls.ts"
import { type Made, type Spender, start } from "./support/Spenders.ts"

/** What was drawn before can be drawn again, as far as processes go. */
const seed = Number(process.env["POSTWIRE_SEED"] ?? randomInt(2 ** 31))

const isLong = process.env["POSTWIRE_LONG"] === "1"

/** How much is done. The whole proof, `POSTWIRE_CALLS=100000`, takes some minutes more. */
const size = Number(process.env["POSTWIRE_CALLS"] ?? 3_000)

const processes = 8

const atOnce = 4

/** What a process notes of a call, about. */
const bytesPerCall = 130

/** What the bill of a service has come to, in micro-dollars; `open`: what writes of this user have in doubt or in flight. */
const readAccount = (path: string, baseUrl: string) =>
  Effect.gen(function*() {
    const { read } = yield* SpendStore
    const entries = yield* read(baseUrl, "2000-01-01", "2100-01-01")
    const sum = (of: "spent" | "inDoubt" | "reserved") => entries.reduce((all, entry) => all + entry[of], 0)
    const fingerprintOf = CredentialHash.make(baseUrl)
    return {
      spent: sum("spent"),
      inDoubt: sum("inDoubt"),
      reserved: sum("reserved"),
      open: (token: string) =>
        entries.reduce(
          (sum, { account, inDoubt, operation, reserved }) =>
            operation === "createPost" && account === `oauth1 ${fingerprintOf(Redacted.make(token))}`
              ? sum + inDoubt + reserved
              : sum,
          0
        )
    }
  }).pipe(Effect.provide(SqliteSpendStore.layer({ path })), Effect.runPromise)

/**
 * What was charged for writes of a process that it did not count, in micro-dollars: the posts are there, but their answer
 * was lost, or the process was killed before it could settle them.
 */
const writesInDoubt = (
  { calls, userId }: Pick<Spender, "calls"> & { readonly userId: string },
  open: number,
  { store }: Sandbox.RunningSandbox
): number => {
  const texts = store.overview.list("posts", { limit: 1_000, userId }).items.map((post) =>
    String(Reflect.get(post, "text")).split(" ")[0]
  )
  const writes = calls().filter(({ call }) => call.operation === "createPost")
  const lost = writes.filter(({ ended }) => ended === "OutcomeUnknown").reduce(
    (sum, { call }) => sum + priceOf(call),
    0
  )
  // More is open than what was lost: a write that was under way was never settled.
  const isFlying = open > lost
  return writes
    .filter(({ call, ended }) =>
      (ended === "OutcomeUnknown" || ended === undefined && isFlying) &&
      texts.includes(String(call.parameters["text"]).split(" ")[0])
    )
    .reduce((sum, { call }) => sum + priceOf(call), 0)
}

const isLostRead = ({ call, ended }: Made): boolean =>
  call.operation !== "createPost" && ended !== "ok" && ended !== "SpendLimitReached"

/** Makes calls once more, until they are answered. */
const readAgain = (
  calls: ReadonlyArray<Made>,
  { baseUrl, owner, secrets, store }: {
    readonly baseUrl: string
    readonly owner: string
    readonly secrets: Credentials.Settings
    readonly store: string
  }
) =>
  Effect.forEach(calls, ({ call }) => Effect.ignore(run(call)), { concurrency: 8, discard: true }).pipe(
    Effect.provide(
      Client.layer({ baseUrl }).pipe(Layer.provide([
        Credentials.layer(secrets),
        NodeCrypto.layer,
        UndiciHttpClient.layer(),
        Spend.layer({ appOwner: owner }).pipe(Layer.provide(SqliteSpendStore.layer({ path: store })))
      ]))
    ),
    Effect.runPromise
  )

describe.runIf(isLong)("processes that spend and are killed: npm run test:long", () => {
  it(`count what the sandbox bills, and pass no limit (POSTWIRE_SEED=${seed})`, async () => {
    await using sandbox = await Sandbox.start({ posts: 5_000 })
    const folder = mkdtempSync(join(tmpdir(), "postwire-spenders-"))
    const store = join(folder, "spend.db")
    // What windows of the rate limit would refuse costs nothing, and shows nothing.
    const refill = setInterval(() => sandbox.budget.clear(), 20)
    const random = randomOf(seed)
    const { baseUrl, bill } = sandbox
    const scene = sceneOf(sandbox)
    const owner = sandbox.ada.settings()
    const spenders: Array<Spender & { readonly userId: string; readonly token: string }> = []
    const begin = (calls: number, limit?: number) => {
      const label = `s${spenders.length}`
      // Users of their own tell the writes of each process from those of others.
      const own = sandbox.user({ username: `spender_${spenders.length}` }).settings()
      const spender = start(folder, {
        baseUrl,
        store,
        scene,
        owner,
        own,
        label,
        seed: Math.floor(random() * 2 ** 31),
        calls,
        atOnce,
        limit
      })
      spenders.push({ ...spender, userId: own.accessToken.split("-")[0]!, token: own.accessToken })
      return spender
    }
    const made = () => spenders.flatMap(({ calls }) => calls())
    try {
      sandbox.faults.add({ probability: 0.01, reset: "after" })
      sandbox.faults.add({ probability: 0.01, reset: "before" })
      for (const operation of reads) {
        sandbox.faults.add({ operation, probability: 0.01, status: 503, after: true })
        sandbox.faults.add({ operation, probability: 0.01, truncate: true })
      }

      // Most without a limit, and the rest with one that is reached soon: of those that are killed others do the rest.
      const work = async (calls: number, limit?: number) => {
        let left = calls
        let kills = 0
        const lane = async () => {
          while (left > 0) {
            const share = Math.min(left, Math.ceil(calls / processes / 4))
            left -= share
            const spender = begin(share, limit)
            const isKilled = random() < 0.6
            if (isKilled) {
              const bytes = random() * share * bytesPerCall
              while (spender.process.exitCode === null && spender.written() < bytes) await timers.setTimeout(20)
              if (spender.process.exitCode === null) {
                kills++
                spender.process.kill("SIGKILL")
              }
            }
            await spender.ended
            left += share - spender.calls().length
          }
        }
        await Promise.all(Array.from({ length: processes }, lane))
        return kills
      }
      const limited = Math.min(Math.floor(size * 0.1), 1_000)
      const kills = await work(size - limited)
      const before = await readAccount(store, baseUrl)
      const limit = Math.ceil((before.spent + before.inDoubt + before.reserved) / 1e6) + 2
      const more = await work(limited, limit)

      const calls = made()
      const dollars = bill.statement().dollars
      assert.isAtLeast(calls.length, size)
      assert.isAtMost(dollars, limit)

      const account = await readAccount(store, baseUrl)
      const micros = Math.round(dollars * 1e6)
      const ofWrites = spenders.reduce(
        (sum, spender) => sum + writesInDoubt(spender, account.open(spender.token), sandbox),
        0
      )
      // Whatever was counted was charged, and what was charged and not counted is in doubt or was in flight.
      assert.isAtMost(account.spent, micros)
      assert.isAtMost(micros, account.spent + account.inDoubt + account.reserved)
      // The limit was reached, and nothing has passed it, requests in flight of killed processes included.
      assert.isAtMost(account.spent + account.inDoubt + account.reserved, limit * 1e6)
      assert.include(calls.map(({ ended }) => ended), "SpendLimitReached")

      // The reads whose answer nobody has counted are made once more. Then nothing is missing but writes.
      sandbox.faults.clear()
      await readAgain(calls.filter(isLostRead), { baseUrl, store, secrets: owner, owner: scene.owner })
      const after = await readAccount(store, baseUrl)
      // Some of them had never come to the service, and are charged now.
      assert.strictEqual(after.spent + ofWrites, Math.round(bill.statement().dollars * 1e6))
      console.log(
        `${calls.length} calls by ${spenders.length} processes, ${kills + more} killed: $${
          dollars.toFixed(3)
        } billed, ` +
          `$${(account.spent / 1e6).toFixed(3)} counted before the reads in doubt were repeated, then ` +
          `$${(after.spent / 1e6).toFixed(3)}, and $${(ofWrites / 1e6).toFixed(3)} of writes that nobody lived to count`
      )
    } finally {
      clearInterval(refill)
      for (const spender of spenders) spender.process.kill("SIGKILL")
      await Promise.all(spenders.map(({ ended }) => ended))
      rmSync(folder, { recursive: true })
    }
  }, 1_800_000)
})
