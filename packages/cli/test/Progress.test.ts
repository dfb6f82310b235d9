import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import * as Progress from "../src/terminal/Progress.ts"
import { type Screen, Terminal } from "../src/terminal/Terminal.ts"

const state: Progress.State = { done: 0.5, posts: 20_107, pages: 202, requests: 203, remaining: 247 }

describe("line", () => {
  it("shows how far it got", () => {
    assert.strictEqual(
      Progress.line(state, 10, 120),
      `${"█".repeat(15)}${"░".repeat(15)}   50%  20,107 posts  202 pages  203 requests  2,011 posts/s  247 left`
    )
    assert.strictEqual(
      Progress.line({ ...state, done: 1, remaining: undefined }, 10, 80),
      `${"█".repeat(8)}  100%  20,107 posts  202 pages  203 requests  2,011 posts/s`
    )
    assert.strictEqual(Progress.line(state, 10, 20), " 50%  20,107 posts ")
  })

  it("has no plural of one", () =>
    assert.match(
      Progress.line({ ...state, posts: 1, pages: 1, requests: 1 }, 10, 80),
      / 1 post {2}1 page {2}1 request {2}0 posts\/s/
    ))

  it("is finished no sooner than the work", () => {
    assert.match(Progress.line({ ...state, done: 0.9999 }, 1, 80), / 99%/)
    assert.match(Progress.line({ ...state, done: 1 }, 1, 80), /100%/)
  })

  const odd = [0, -0, 1, 0.5, 1.5, -1, 999_999.5, 1e9, 1e21, Number.MAX_VALUE, Infinity, -Infinity, NaN]
  const number = Arbitrary.flatMap(
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 * odd.length }))),
    (index) => index < odd.length ? Arbitrary.Constant(odd[index]!) : Arbitrary.schema(Schema.Number)
  )

  it.prop(
    "never gets wider than the terminal, whatever the numbers",
    {
      state: Arbitrary.all({
        done: number,
        posts: number,
        pages: number,
        requests: number,
        remaining: Arbitrary.flatMap(
          Arbitrary.schema(Schema.Boolean),
          (known) => known ? number : Arbitrary.Constant(undefined)
        )
      }),
      seconds: number,
      columns: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 300 })))
    },
    ({ columns, seconds, state }) => {
      for (const width of [columns, 80]) {
        const line = Progress.line(state, seconds, width)
        assert.isAtMost(line.length, Math.max(width - 1, 0))
        assert.notMatch(line, /[\n\r]/)
        const bar = /^[█░]*/.exec(line)![0]
        if (bar !== "") assert.isTrue(bar.length >= 4 && bar.length <= 30)
      }
    },
    { arbitrary: { runs: 500 } }
  )
})

describe("make", () => {
  const make = (written: Array<string>, screen: Partial<Screen> = {}, elsewhere: "often" | "seldom" = "often") => {
    const errors = { isTerminal: false, columns: 80, write: (text: string) => void written.push(text), ...screen }
    return Effect.provideService(Progress.make({ elsewhere }), Terminal, { output: errors, errors })
  }

  const run = (screen: Partial<Screen>) =>
    Effect.gen(function*() {
      const written: Array<string> = []
      const progress = yield* make(written, screen)
      for (let pages = 1; pages <= 50; pages++) {
        yield* TestClock.adjust("100 millis")
        yield* progress.update({ ...state, done: pages / 50, pages, posts: pages * 100 })
      }
      yield* progress.end
      return written
    })

  it.effect("draws in place on a terminal", () =>
    Effect.gen(function*() {
      const written = yield* run({ isTerminal: true })
      assert.strictEqual(written.pop(), "\n")
      assert.strictEqual(written.length, 51)
      for (const text of written) {
        assert.match(text, /^\r[^\r\n]{1,79}\u001b\[K$/)
      }
      assert.match(written.at(-1)!, /100% {2}5,000 posts {2}50 pages/)
    }))

  it.effect("draws a line now and then elsewhere, without control characters", () =>
    Effect.gen(function*() {
      const written = yield* run({})
      assert.deepStrictEqual(written.map((text) => /(\d+) pages/.exec(text)?.[1]), ["20", "40", "50"])
      for (const text of written) assert.match(text, /^[^\u0000-\u001f]{1,79}\n$/)
    }))

  it.effect("says ever more seldom how far it is where messages are kept, and only when a page has come", () =>
    Effect.gen(function*() {
      const written: Array<string> = []
      const progress = yield* make(written, {}, "seldom")
      for (let pages = 1; pages <= 90; pages++) {
        yield* TestClock.adjust("1 minute")
        yield* progress.update({ ...state, done: pages / 180, pages, posts: pages * 100 })
      }
      for (let minutes = 1; minutes <= 60; minutes++) {
        yield* TestClock.adjust("1 minute")
        yield* progress.update({ ...state, pages: 90 })
      }
      yield* progress.end
      const lines = yield* TestConsole.errorLines
      assert.deepStrictEqual(
        lines.map((text) => /(\d+) pages?/.exec(String(text))?.[1]),
        "1 3 7 15 25 35 45 55 65 75 85 90".split(" ")
      )
      for (const text of lines) assert.match(String(text), /^postwire: +\d+%, [\d,]+ posts, \d+ pages?, [^\n]+$/)
      assert.deepStrictEqual(written, [])
    }))

  it.effect("says nothing of what is short", () =>
    Effect.gen(function*() {
      const progress = yield* make([], {}, "seldom")
      yield* TestClock.adjust("59 seconds")
      yield* progress.update(state)
      yield* progress.end
      assert.deepStrictEqual(yield* TestConsole.errorLines, [])
    }))

  it.effect("draws nothing where nothing happened", () =>
    Effect.gen(function*() {
      const written: Array<string> = []
      const progress = yield* make(written)
      yield* progress.end
      assert.deepStrictEqual(written, [])
    }))
})
