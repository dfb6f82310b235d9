/**
 * Processes that share an account, while its tokens expire, requests for others go wrong, and processes are killed. All of it is
 * drawn from a seed.
 */
import * as Account from "@postwire/core/accounts/Account"
import { scopes } from "@postwire/core/schema/Scopes"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { bundled, withRedisClient } from "../../../core/test/support/ProgramFile.ts"
import type { Behaviour } from "../../../sandbox/src/faults/Faults.ts"
import { make as random, type Random } from "../../../sandbox/src/text/random.ts"
import { type StoreName, stores } from "./AccountStores.ts"

/** What a process is to do, until it is told something else. */
export interface Order {
  /** Counts up. */
  readonly number: number
  /** How far the clock of its machine is ahead, and how much longer than it knows it has been running. */
  readonly aheadMillis: number
  readonly passedMillis: number
  /** Rounds of so many calls at once; a pause without them. */
  readonly calls?: { readonly reads: number; readonly creates: number; readonly isOnce?: boolean }
  /** Whether it is to close its client and end. */
  readonly isLast?: boolean
}

/** What a process tells. */
export type Told =
  | { readonly _tag: "Renewing" }
  | { readonly _tag: "Paused"; readonly order: number }
  | { readonly _tag: "Round"; readonly order: number; readonly ok: number; readonly failed: ReadonlyArray<string> }

/** What a run is made of. */
export interface Settings {
  readonly store: StoreName
  /** The folder or the address of the store. */
  readonly place: string
  readonly seed: number
}

/** What came of one expiry. */
export interface Expiry {
  /** Whose clock passed the end of the tokens: that of every machine, or the service's alone. */
  readonly clock: "all" | "service"
  /** What went wrong with requests for tokens. */
  readonly fault: string
  /** Whether that was as often as a client tries. */
  readonly mayFail: boolean
  /** Processes that were killed. */
  readonly kills: number
  /** Refresh tokens that were spent, and those that were taken once more because the answer had been lost. */
  readonly refreshes: number
  readonly replays: number
  /** Requests for tokens, and those that were answered with tokens. */
  readonly requests: number
  readonly answered: number
  /** Requests of calls that were answered with 401. */
  readonly refused: number
  /** Calls that ended, and how those failed that did. */
  readonly calls: number
  readonly failed: ReadonlyArray<string>
  readonly seconds: number
}

/** What the server tells of the login. */
export type Grant = ReturnType<Sandbox.Sandbox["Service"]["grants"]["list"]>[number]

/** What came of a run. */
export interface Outcome {
  readonly expiries: ReadonlyArray<Expiry>
  readonly grant: Grant | undefined
  /** What processes have said on standard error. */
  readonly errors: string
}

/** What happens to the requests for tokens of an expiry: to the first, to the second. Each of these happens in ten expiries. */
const faults: ReadonlyArray<readonly [name: string, ...behaviours: ReadonlyArray<Behaviour>]> = [
  ["none"],
  ["slow", { delay: 400 }],
  ["answer cut", { reset: "after" }],
  ["answer cut after a while", { delay: 300, reset: "after" }],
  ["half an answer", { truncate: true }],
  ["500", { status: 500 }],
  ["503 after the work", { status: 503, after: true }],
  ["no connection", { reset: "before" }],
  ["answer cut, twice", { reset: "after" }, { reset: "after" }],
  ["502, then 503 after the work", { status: 502 }, { status: 503, after: true }]
]

/** What is to happen at an expiry. */
interface Plan {
  readonly clock: Expiry["clock"]
  readonly advanceMillis: number
  readonly fault: typeof faults[number]
  readonly kills: ReadonlyArray<{ readonly whom: "anyone" | "who renews"; readonly afterMillis: number }>
}

const shuffle = <A>(draw: Random, items: ReadonlyArray<A>): ReadonlyArray<A> =>
  items.map((item) => [draw.next(), item] as const).toSorted(([a], [b]) => a - b).map(([, item]) => item)

const plansOf = (draw: Random, store: StoreName): ReadonlyArray<Plan> => {
  const clocks = shuffle(draw, faults.map((_, i) => i % 2 === 0 ? "all" as const : "service" as const))
  // A lock in Redis outlives by ten seconds who is killed with it; the others end at once.
  const deathsOfHolders = store === "redis" ? 2 : 6
  const deaths = shuffle(draw, faults.map((_, i) => i < deathsOfHolders ? "who renews" as const : "anyone" as const))
  return shuffle(draw, faults).map((fault, i) => ({
    clock: clocks[i]!,
    fault,
    // Past the end by every clock, however wrong that is.
    advanceMillis: 7_200_000 + draw.below(3_600_000),
    kills: [{ whom: deaths[i]!, afterMillis: draw.below(deaths[i] === "anyone" ? 600 : 120) }]
  }))
}

/** So wrong the clock of a process is at most. */
const longestSkewMillis = 180_000

const processes = 8

/** Runs eight processes through ten expiries, and one through another after these have ended. */
export const run = async (settings: Settings, onExpiry = (_: Expiry) => {}): Promise<Outcome> => {
  await using rig = await start(settings)
  const draw = random(settings.seed, "renewals")
  for (let i = 0; i < processes; i++) rig.add(draw.below(2 * longestSkewMillis) - longestSkewMillis)
  const expiries: Array<Expiry> = []
  const pass = async (plan: Plan) => {
    const expiry = await rig.expire(plan, draw)
    expiries.push(expiry)
    onExpiry(expiry)
  }
  for (const plan of plansOf(draw, settings.store)) await pass(plan)
  await rig.end()
  // The refresh token that the store has is the living one.
  rig.add(0)
  await pass({ clock: "all", advanceMillis: 7_200_000, fault: ["none"], kills: [] })
  await rig.end()
  return { expiries, grant: rig.grant(), errors: rig.errors() }
}

/** So many calls at once of one process: at an expiry that it sees coming, and at one that it does not. */
export const burst = async (settings: Settings, calls: number): Promise<Outcome> => {
  await using rig = await start(settings)
  const draw = random(settings.seed, "burst")
  rig.add(0)
  const atOnce = { reads: calls, creates: 0, isOnce: true }
  const expiries = [
    await rig.expire({ clock: "all", advanceMillis: 7_200_000, fault: ["none"], kills: [] }, draw, atOnce),
    await rig.expire({ clock: "service", advanceMillis: 7_200_000, fault: ["none"], kills: [] }, draw, atOnce)
  ]
  await rig.end()
  return { expiries, grant: rig.grant(), errors: rig.errors() }
}

/** A process, and what it has told since its last order. */
interface Peer {
  readonly child: ChildProcess
  /** How wrong its clock is. */
  readonly skewMillis: number
  readonly exit: Promise<unknown>
  isPaused: boolean
  /** Rounds of calls since the last one of which a call failed. */
  fineRounds: number
}

const account = "ada"

/** A sandbox, and processes that are signed in to it with one account. */
const start = async ({ place, seed, store }: Settings) => {
  const folder = mkdtempSync(join(tmpdir(), "postwire-renewals-"))
  const program = await bundled(new URL("renewer.ts", import.meta.url), join(folder, "program.mjs"))
  const sandbox = await Sandbox.start({ posts: 0, seed })
  const { baseUrl, clock, grants, journal, seeded } = sandbox

  let [aheadMillis, passedMillis, orders, names, calls] = [0, 0, 0, 0, 0]
  let order: Order = { number: 0, aheadMillis, passedMillis }
  let errors = ""
  let failed: Array<string> = []
  let onRenewing = (_: Peer) => {}
  const living = new Set<Peer>()

  const listen = (peer: Peer) => (told: Told) => {
    if (told._tag === "Renewing") return onRenewing(peer)
    if (told._tag === "Paused") {
      peer.isPaused = told.order === order.number
      return
    }
    calls += told.ok + told.failed.length
    failed.push(...told.failed)
    peer.fineRounds = told.order === order.number && told.failed.length === 0 ? peer.fineRounds + 1 : 0
  }

  const tell = ({ child, skewMillis }: Peer) =>
    void child.send({ ...order, aheadMillis: order.aheadMillis + skewMillis } satisfies Order)

  const command = (next: Pick<Order, "calls" | "isLast">) => {
    order = { ...next, number: ++orders, aheadMillis, passedMillis }
    for (const peer of living) {
      peer.isPaused = false
      peer.fineRounds = 0
      tell(peer)
    }
  }

  /** Starts a process, which does what it is told at once. */
  const add = (skewMillis: number) => {
    const child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", program, baseUrl, account, made.user.id, store, place, String(++names)],
      { stdio: ["ignore", "ignore", "pipe", "ipc"], env: withRedisClient }
    )
    const added: Peer = { child, skewMillis, exit: once(child, "exit"), isPaused: false, fineRounds: 0 }
    child.stderr?.setEncoding("utf8").on("data", (text) => errors += text)
    child.on("message", listen(added)).on("error", () => {})
    living.add(added)
    tell(added)
  }

  /** Kills a process at once, and puts another in its place. */
  const kill = (killed: Peer) => {
    if (!living.delete(killed)) return
    killed.child.kill("SIGKILL")
    add(killed.skewMillis)
  }

  const until = async (isReached: (peer: Peer) => boolean) => {
    for (const end = performance.now() + 120_000; ![...living].every(isReached); await delay(5)) {
      const gone = [...living].find(({ child }) => child.exitCode !== null || child.signalCode !== null)
      if (gone !== undefined) throw new Error(`A process has ended: ${errors}`)
      if (performance.now() > end) throw new Error(`The processes do not settle: ${failed.join("\n")}\n${errors}`)
    }
  }

  const grant = (): Grant | undefined => grants.list().find(({ id }) => id === made.id)

  // What is looked at is not how much one may ask for; and the journal keeps so many requests only.
  let seen = 0
  let requests: Array<ReturnType<typeof journal.entries>[number]> = []
  let refused = 0
  const look = () => {
    sandbox.budget.clear()
    const entries = journal.entries(seen)
    seen = entries.at(-1)?.id ?? seen
    requests.push(...entries.filter(({ operation }) => operation === "refreshToken"))
    refused += entries.filter(({ operation, status }) => operation !== "refreshToken" && status === 401).length
  }
  const looking = setInterval(look, 20)

  /** Lets the tokens expire, and waits until every process has called again without a failure. */
  const expire = async (
    { advanceMillis, clock: whose, fault, kills }: Plan,
    draw: Random,
    kind: NonNullable<Order["calls"]> = { reads: 5, creates: 1 }
  ): Promise<Expiry> => {
    const [name, ...behaviours] = fault
    const isSteady = kind.isOnce !== true && whose === "service"
    // However often the tokens expire here, hours lie between.
    passedMillis += advanceMillis
    // When every clock goes on, nobody may be between two of them. When the service's does, calls are under way.
    command(isSteady ? { calls: kind } : {})
    await until(({ fineRounds, isPaused }) => isSteady ? fineRounds > 0 : isPaused)
    const before = grant()
    const begun = performance.now()
    look()
    ;[calls, failed, requests, refused] = [0, [], [], 0]
    for (const [i, behaviour] of behaviours.entries()) {
      sandbox.faults.add({ ...behaviour, operation: "refreshToken", nth: i + 1 })
    }
    const dead: Array<Promise<void>> = []
    let killed = 0
    const killAfter = (millis: number, whom: () => Peer) =>
      dead.push(
        delay(millis).then(() => {
          killed++
          kill(whom())
        })
      )
    const ofRenewing = kills.filter(({ whom }) => whom === "who renews")
    onRenewing = (peer) => {
      const next = ofRenewing.shift()
      if (next !== undefined) killAfter(next.afterMillis, () => peer)
    }
    clock.advance(advanceMillis)
    if (whose === "all") aheadMillis += advanceMillis
    command({ calls: kind })
    for (const { afterMillis, whom } of kills) {
      if (whom === "anyone") killAfter(afterMillis, () => draw.pick([...living]))
    }
    do {
      await Promise.all(dead)
      await until(({ fineRounds }) => fineRounds >= (kind.isOnce === true ? 1 : 3))
    } while (dead.length < kills.length - ofRenewing.length)
    onRenewing = () => {}
    sandbox.faults.clear()
    look()
    const after = grant()
    return {
      clock: whose,
      fault: name,
      mayFail: behaviours.length > 1,
      kills: killed,
      refreshes: (after?.refreshes ?? 0) - (before?.refreshes ?? 0),
      replays: (after?.replays ?? 0) - (before?.replays ?? 0),
      requests: requests.length,
      answered: requests.filter(({ fault, status }) => status === 200 && fault?.truncate !== true).length,
      refused,
      calls,
      failed,
      seconds: (performance.now() - begun) / 1000
    }
  }

  /** Lets all processes close their clients and end. */
  const end = async () => {
    const exits = [...living].map(({ exit }) => exit)
    const ending = new Set(living)
    command({ isLast: true })
    living.clear()
    await Promise.all(exits)
    for (const { child } of ending) if (child.exitCode !== 0) throw new Error(`A process has failed: ${errors}`)
  }

  const made = grants.make({ app: seeded.confidentialClient.id })
  const now = Date.now()
  await TokenStore.TokenStore.use((store) =>
    Account.write(store, account, {
      version: 1,
      baseUrl,
      user: { id: made.user.id, username: made.user.username },
      app: { clientId: seeded.confidentialClient.id, clientSecret: seeded.confidentialClient.secret },
      oauth2: {
        accessToken: made.accessToken,
        ...(made.refreshToken && { refreshToken: made.refreshToken }),
        scopes,
        expiresAt: now + 7_200_000,
        renewedAt: now
      }
    })
  ).pipe(Effect.provide(stores[store](place)), Effect.runPromise)

  return {
    add,
    expire,
    end,
    grant,
    errors: () => errors,
    [Symbol.asyncDispose]: async () => {
      clearInterval(looking)
      for (const { child } of living) child.kill("SIGKILL")
      await sandbox.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
