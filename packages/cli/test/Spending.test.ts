/** What commands may spend: told before the first request, agreed to where it is much, refused above `--max-spend`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { catalogue } from "@postwire/core/Catalogue"
import { Effect, Option, Stdio, Terminal as Input } from "effect"
import { TestConsole } from "effect/testing"
import { isLoopback } from "../src/connection/Loopback.ts"
import * as Spending from "../src/connection/Spending.ts"
import { Environment } from "../src/connection/Variables.ts"
import * as ErrorReport from "../src/terminal/ErrorReport.ts"
import { Terminal } from "../src/terminal/Terminal.ts"
import * as Text from "../src/terminal/Text.ts"

const price: Spending.Price = { items: 12_345, of: "posts", requests: 124, micros: 61_725_000, duration: 900_000 }

const none: Spending.Flags = { maxSpend: Option.none(), yes: false }

interface Told {
  readonly flags?: Partial<Spending.Flags>
  readonly price?: Partial<Spending.Price>
  /** What is typed at the terminal; without it there is none. */
  readonly typed?: string
  readonly variables?: Readonly<Record<string, string>>
  readonly isLocal?: boolean
}

/** What is said, what was asked, and how it ended. */
const agree = ({ flags, price: other, typed, variables = {}, isLocal = false }: Told) =>
  Effect.gen(function*() {
    let asked = ""
    const errors = { isTerminal: typed !== undefined, columns: 80, write: (text: string) => void (asked += text) }
    const ended = yield* Spending.confirmCost({ ...none, ...flags }, { ...price, ...other }).pipe(
      Effect.match({ onFailure: (error) => ErrorReport.explain(error), onSuccess: () => ["agreed"] }),
      Effect.provideService(Terminal, { output: errors, errors }),
      Effect.provideService(Environment, variables),
      Effect.provideService(Spending.IsLocal, isLocal),
      Effect.provideServiceEffect(
        Input.Terminal,
        Effect.map(
          Input.Terminal,
          (terminal) => Input.make({ ...terminal, readLine: Effect.succeed(typed ?? "") })
        )
      ),
      Effect.provide(Stdio.layerTest({ stdinIsTerminal: Effect.succeed(typed !== undefined) }))
    )
    const said = (yield* TestConsole.errorLines).map((line) => String(line).replace("\r\u001b[K", ""))
    return { said, asked, ended }
  }).pipe(Effect.provide([NodeServices.layer, TestConsole.layer], { local: true }))

const line = "postwire: 12,345 posts, 124 requests, up to $61.73, 15 min 00 s or more."

describe("agree", () => {
  it.effect("tells it in one line, and goes on where nobody can be asked", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* agree({}), { said: [line], asked: "", ended: ["agreed"] })
      const { said } = yield* agree({ price: { items: 1, of: "users", requests: 1, micros: 0, duration: 10 } })
      assert.deepStrictEqual(said, ["postwire: 1 user, 1 request, free."])
    }))

  it.effect("does not call a price free that is unknown", () =>
    Effect.gen(function*() {
      const source = { definition: catalogue.getChatConversations.definition, parameters: {} }
      const limits = { requests: 15, pace: undefined, from: "usual" } as const
      const unknown = Spending.priceOf(source, { items: 20, requests: 2, limits })
      const { said } = yield* agree({ price: { ...unknown, duration: 0 } })
      assert.deepStrictEqual(said, ["postwire: 20 chat conversations, 2 requests, price unknown."])
      assert.strictEqual(Spending.amount({ micros: 10_000, isUnknown: true }), "up to $0.01 and more")
      assert.isUndefined(Spending.plain(unknown).dollars)
      yield* Spending.sayEach(source, none, "chat conversations")
      const lines = yield* TestConsole.errorLines
      assert.include(String(lines.at(-1)), "The price of the chat conversations is unknown, and is not counted.")
    }).pipe(Effect.provide(TestConsole.layer)))

  it.effect("refuses an unknown price under --max-spend, unless the user has stated it", () =>
    Effect.gen(function*() {
      const unknown = { items: 20, of: "chat conversations", requests: 2, micros: 0, duration: 0, isUnknown: true }
      const flags = { maxSpend: Option.some(50_000) }
      assert.deepStrictEqual(yield* agree({ flags, price: unknown }), {
        said: [],
        asked: "",
        ended: [
          "postwire: It may cost more than --max-spend, $0.05: it sends requests whose price is unknown",
          "  Nothing was requested. State the most that such a request may cost, in dollars: " +
          "POSTWIRE_UNKNOWN_PRICE, or postwire config set unknownPrice."
        ]
      })
      const stated = (micros: number) =>
        Effect.provideService(agree({ flags, price: unknown }), Spending.UnknownPrice, micros)
      assert.deepStrictEqual((yield* stated(20_000)).said, [
        "postwire: 20 chat conversations, 2 requests, up to $0.04."
      ])
      assert.include(String((yield* stated(30_000)).ended), "It would cost up to $0.06; --max-spend is $0.05")
      const source = { definition: catalogue.getChatConversations.definition, parameters: {} }
      const each = Spending.sayEach(source, { maxSpend: flags.maxSpend }, "chat conversations")
      assert.strictEqual((yield* Effect.flip(each)).message.slice(0, 36), "It may cost more than --max-spend, $")
      yield* Effect.provideService(each, Spending.UnknownPrice, 20_000)
      assert.include(
        String((yield* TestConsole.errorLines).at(-1)),
        "Each request for chat conversations costs up to $0.02; stops at $0.05."
      )
    }).pipe(Effect.provide(TestConsole.layer)))

  it.effect("asks at a terminal before more than the threshold", () =>
    Effect.gen(function*() {
      const question = "Spend up to $61.73? [y/N] "
      assert.deepStrictEqual(yield* agree({ typed: "y" }), { said: [line], asked: question, ended: ["agreed"] })
      const { ended } = yield* agree({ typed: "" })
      assert.deepStrictEqual(ended, [
        "postwire: $61.73 not confirmed: nothing was requested",
        "  Request less, or confirm with --yes or --max-spend."
      ])
      for (
        const agreed of [
          { flags: { yes: true } },
          { flags: { maxSpend: Option.some(61_725_000) } },
          { price: { micros: 5_000_000 } },
          { isLocal: true },
          { variables: { POSTWIRE_ASK_ABOVE: "61.725" } }
        ]
      ) assert.deepInclude(yield* agree({ typed: "n", ...agreed }), { asked: "", ended: ["agreed"] })
      const low = yield* agree({ typed: "n", price: { micros: 5_000 }, variables: { POSTWIRE_ASK_ABOVE: "0" } })
      assert.strictEqual(low.asked, "Spend up to $0.005? [y/N] ")
      const wrong = yield* agree({ typed: "y", variables: { POSTWIRE_ASK_ABOVE: "much" } })
      assert.include(wrong.said, "postwire: POSTWIRE_ASK_ABOVE is not an amount of dollars: using 5.")
      assert.strictEqual(wrong.asked, question)
    }))

  it.effect("refuses what --max-spend does not allow, with what earlier runs have spent", () =>
    Effect.gen(function*() {
      const flags = { maxSpend: Option.some(70_000_000), yes: true }
      assert.deepStrictEqual((yield* agree({ flags })).ended, ["agreed"])
      assert.deepStrictEqual(yield* agree({ flags, price: { spent: 10_000_000 } }), {
        said: [],
        asked: "",
        ended: [
          "postwire: It would cost up to $61.73; --max-spend is $70.00, $10.00 of it already spent",
          "  Nothing was requested. Request less, or raise --max-spend."
        ]
      })
    }))
})

describe("a host", () => {
  it("is this machine by its name or address", () => {
    const hosts = [
      "localhost",
      "127.0.0.1",
      "127.8.0.255",
      "::1",
      "[::1]",
      "localhost.evil.com",
      "128.0.0.1",
      "1127.0.0.1",
      ""
    ]
    assert.deepStrictEqual(hosts.filter(isLoopback), hosts.slice(0, 5))
  })
})

describe("an amount", () => {
  it("is as exact as it has to be", () => {
    const shown = [0, 5_000, 10_000, 15_000, 123_456, 1_000_000, 61_725_000, 5_000_000_000].map(Text.dollars)
    assert.deepStrictEqual(shown, [
      "$0.00",
      "$0.005",
      "$0.01",
      "$0.015",
      "$0.123456",
      "$1.00",
      "$61.73",
      "$5,000.00"
    ])
  })
})
