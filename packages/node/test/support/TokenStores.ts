/** What holds of every store of tokens. */
import { assert, it } from "@effect/vitest"
import * as TokenStore from "@postwire/core/storage/TokenStore"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { bundled, withRedisClient } from "../../../core/test/support/ProgramFile.ts"

/** Where stores of a kind are. */
interface Layers {
  /** An empty store, by its folder or address. */
  readonly place: () => string
  /** One client of it. */
  readonly layer: (place: string) => Layer.Layer<TokenStore.TokenStore, unknown>
}

/** A kind of store that several processes use. */
export interface Kind extends Layers {
  /** The program that shares it with other processes: see `Incrementing`. */
  readonly program: URL
  /** After so long, a holder that says nothing has lost its lock; left out where it never does. */
  readonly lease?: number
}

/** A client of its own of the store in a place. */
const client = ({ layer }: Layers, place: string) =>
  Effect.map(Layer.build(Layer.fresh(layer(place))), (context) => Context.get(context, TokenStore.TokenStore))

/** Takes a lock; the function gives it back. */
const hold = Effect.fnUntraced(function*(store: TokenStore.Store, name: string) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  yield* Effect.provideService(store.lock(name), Scope.Scope, scope)
  return () => Scope.close(scope, Exit.void)
})

/** Whether something is still waiting after a time in which it would long have ended. */
const waits = <A, E>(fiber: Fiber.Fiber<A, E>) =>
  Effect.map(Effect.timeoutOption(Fiber.await(fiber), 150), ({ _tag }) => _tag === "None")

const texts = ["{}", "quote ' \" \\ \\u0000 emoji 👩🏽‍🚀 line\u2028\n", "x".repeat(100_000)]

/** What holds within a process. */
export const contract = (kind: Layers): void => {
  it.live("keeps texts by their names, as they were", () =>
    Effect.gen(function*() {
      const place = kind.place()
      const store = yield* client(kind, place)
      assert.isUndefined(yield* store.read("ada"))
      assert.deepStrictEqual(yield* store.names, [])
      for (const text of texts) {
        yield* store.write("ada", text)
        assert.strictEqual(yield* store.read("ada"), text)
        assert.strictEqual(yield* (yield* client(kind, place)).read("ada"), text)
      }
      yield* store.write("Zoe_1", "z")
      yield* store.write("0-bob", "b")
      assert.deepStrictEqual(yield* store.names, ["0-bob", "Zoe_1", "ada"])
      yield* store.write("ada", undefined)
      yield* store.write("ada", undefined)
      assert.isUndefined(yield* store.read("ada"))
      assert.deepStrictEqual(yield* store.names, ["0-bob", "Zoe_1"])
      assert.strictEqual(yield* store.read("Zoe_1"), "z")
    }))

  it.live("has a lock for each name, which one has at a time, in this client and in others", () =>
    Effect.gen(function*() {
      const place = kind.place()
      const [one, other] = [yield* client(kind, place), yield* client(kind, place)]
      const release = yield* hold(one, "ada")
      const [same, elsewhere] = [
        yield* Effect.forkScoped(Effect.scoped(one.lock("ada"))),
        yield* Effect.forkScoped(Effect.scoped(other.lock("ada")))
      ]
      yield* Effect.scoped(other.lock("bob"))
      assert.deepStrictEqual([yield* waits(same), yield* waits(elsewhere)], [true, true])
      // Who has it reads and writes; others read.
      yield* one.write("ada", "1")
      assert.strictEqual(yield* one.read("ada"), "1")
      assert.strictEqual(yield* other.read("ada"), "1")
      yield* release()
      yield* Fiber.join(same)
      yield* Fiber.join(elsewhere)
    }))

  it.live("gives a lock back when its holder fails or is interrupted, and leaves a queue at once", () =>
    Effect.gen(function*() {
      const place = kind.place()
      const [one, other] = [yield* client(kind, place), yield* client(kind, place)]
      yield* Effect.flip(Effect.scoped(Effect.andThen(one.lock("ada"), Effect.fail("no"))))
      const isHeld = yield* Deferred.make<void>()
      const holder = yield* Effect.forkScoped(
        Effect.scoped(
          Effect.andThen(one.lock("ada"), Effect.andThen(Deferred.succeed(isHeld, undefined), Effect.never))
        )
      )
      yield* Deferred.await(isHeld)
      const waiting = yield* Effect.forkScoped(Effect.scoped(other.lock("ada")))
      assert.isTrue(yield* waits(waiting))
      yield* Fiber.interrupt(waiting)
      yield* Fiber.interrupt(holder)
      yield* Effect.scoped(other.lock("ada"))
      yield* Effect.scoped(one.lock("ada"))
    }))

  it.live("shows a reader whole texts only", () =>
    Effect.gen(function*() {
      const place = kind.place()
      const [one, other] = [yield* client(kind, place), yield* client(kind, place)]
      yield* one.write("ada", "a".repeat(50_000))
      const writer = yield* Effect.forkScoped(
        Effect.forEach("bcdefghij".repeat(5), (letter) => one.write("ada", letter.repeat(50_000)), { discard: true })
      )
      let reads = 0
      while (!writer.pollUnsafe()) {
        const text = (yield* other.read("ada")) ?? ""
        assert.strictEqual(text, text.charAt(0).repeat(50_000))
        reads++
      }
      yield* Fiber.join(writer)
      assert.isAbove(reads, 5)
    }))
}

/** What holds between clients of one store. */
export const sharing = (kind: Kind): void => {
  it.live("lets a write wait while another has the lock", () =>
    Effect.gen(function*() {
      const place = kind.place()
      const [one, other] = [yield* client(kind, place), yield* client(kind, place)]
      const release = yield* hold(one, "ada")
      const write = yield* Effect.forkScoped(other.write("ada", "signed in"))
      assert.isTrue(yield* waits(write))
      yield* one.write("ada", "renewed")
      yield* release()
      yield* Fiber.join(write)
      assert.strictEqual(yield* one.read("ada"), "signed in")
    }))
}

const isLong = process.env["POSTWIRE_LONG"] === "1"

/** What holds between processes, which are killed at random. */
export const contention = (kind: Kind): void => {
  const [steps, kills, stops] = isLong ? [100, 16, 2] : [8, 2, 1]
  // In the long run it is stopped for long enough to lose its lock.
  const stoppedMillis = kind.lease === undefined || (kind.lease > 1_000 && !isLong) ? 200 : kind.lease * 1.2

  it(
    `loses none of ${8 * steps} steps of eight processes, of which ${kills} are killed and ${stops} stand still`,
    async () => {
      const place = kind.place()
      const folder = mkdtempSync(join(tmpdir(), "postwire-increment-"))
      const program = await bundled(kind.program, join(folder, "program.mjs"))
      const children = new Set<ChildProcess>()
      const written: Array<number> = []
      let left = kills
      let halts = stops
      let errors = ""
      /** One of the eight: whoever is killed is followed by another. */
      const line = async () => {
        let todo = steps
        while (todo > 0) {
          const child = spawn(
            process.execPath,
            ["--disable-warning=ExperimentalWarning", program, place, String(todo)],
            { stdio: ["ignore", "pipe", "pipe"], env: withRedisClient }
          )
          children.add(child)
          child.stderr.on("data", (chunk) => errors += String(chunk))
          const ended = once(child, "close")
          let after = left > 0 ? 1 + Math.floor(Math.random() * Math.max(1, todo * 0.8)) : Infinity
          for await (const value of createInterface(child.stdout)) {
            written.push(Number(value))
            todo--
            if (--after <= 0 && left > 0 && todo > 0) {
              left--
              after = Infinity
              // At any moment of what comes next.
              setTimeout(() => child.kill("SIGKILL"), Math.random() * 10)
            } else if (after !== Infinity && halts > 0) {
              halts--
              setTimeout(() => child.kill("SIGSTOP"), Math.random() * 10)
              setTimeout(() => child.kill("SIGCONT"), 10 + stoppedMillis)
            }
          }
          const [code, signal] = await ended
          children.delete(child)
          if (code !== 0 && signal !== "SIGKILL") throw new Error(`A process has failed: ${errors}`)
        }
      }
      try {
        await Promise.all(Array.from({ length: 8 }, line))
        assert.strictEqual(errors, "")
        assert.strictEqual(left, 0)
        // Each wrote what nobody else did, and nothing that was written was lost.
        assert.strictEqual(new Set(written).size, written.length)
        const last = await Effect.runPromise(
          Effect.scoped(Effect.flatMap(client(kind, place), (store) => store.read("counter")))
        )
        assert.isAtLeast(Number(last), Math.max(...written))
        // Who was killed may have written once more than it could say.
        assert.isAtMost(Number(last), written.length + kills)
      } finally {
        for (const child of children) child.kill("SIGKILL")
        rmSync(folder, { recursive: true })
      }
    },
    isLong ? 600_000 : 60_000
  )
}
