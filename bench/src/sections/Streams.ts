/** Streams: one line, from bytes to items, beside the loop that anybody would write over bare Undici. */
import { Agent, request } from "undici"
import * as Bodies from "../Bodies.ts"
import * as Checkout from "../Checkout.ts"
import * as Child from "../Child.ts"
import * as Rounds from "../Rounds.ts"

interface Delivered {
  readonly post: { readonly id: string }
}

const { bearerToken } = Bodies
const parameters = { expansions: ["author_id"], post_fields: ["lang"] } as const
const options = { recover: "none" } as const

const reading =
  (read: (count: number, item: (item: Delivered) => void) => Promise<unknown>) =>
  async ({ count: expected }: Rounds.Task): Promise<void> => {
    let [count, digits] = [0, 0]
    await read(expected, ({ post }) => {
      digits += post.id.length
      count++
    })
    if (count !== expected || digits < count) throw new Error(`${count} of ${expected} lines`)
  }

export const contenders: Rounds.Contenders<Rounds.Task> = {
  // The obvious program: bytes to text, text to lines, lines to objects; nothing is checked.
  "bare loop": async ({ url }) => {
    const dispatcher = new Agent({ allowH2: false, bodyTimeout: 0 })
    return reading(async (items, read) => {
      const { body } = await request(`${url}/2/posts/search/stream`, { dispatcher })
      const decoder = new TextDecoder()
      let rest = ""
      let count = 0
      for await (const chunk of body) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split("\r\n")
        rest = lines.pop()!
        for (const line of lines) {
          if (line === "") continue
          read({ post: JSON.parse(line).data })
          if (++count === items) return
        }
      }
    })
  },
  postwire: async ({ folder, url, wire }) => {
    const [{ createClient }] = await Checkout.modules(folder)("@postwire/node")
    const client = createClient({ baseUrl: url, bearerToken, wire })
    return reading(async (items, read) => {
      let count = 0
      for await (const item of client.streamPosts(parameters, options)) {
        read(item)
        if (++count === items) return
      }
    })
  },
  "postwire effect": async ({ folder, url, wire }) => {
    const [effect, layers, scopes, streams, node, { streamPosts }] = await Checkout.modules(folder)(
      "effect/Effect",
      "effect/Layer",
      "effect/Scope",
      "effect/Stream",
      "@postwire/node/NodeClient",
      "@postwire/core/streams/operations/Streams"
    )
    const layer = node.layer({ baseUrl: url, bearerToken, wire })
    const run = effect.runPromiseWith(effect.runSync(layers.buildWithScope(layer, scopes.makeUnsafe())))
    return reading((items, read) =>
      run(
        streamPosts(parameters, options).pipe(
          streams.take(items),
          streams.runForEachArray((delivered) => effect.sync(() => delivered.forEach(read)))
        )
      )
    )
  }
}

const scenarios = [
  ["neutral", "block"],
  ["neutral", "line"],
  ["x", "block"],
  ["x-2026-02", "block"]
] as const

const run = async (bench: Rounds.Bench, seconds: number): Promise<void> => {
  const names = Rounds.select(bench, ["bare loop"], ["postwire", "postwire effect"])
  const share = 1 / scenarios.length
  for (const [i, [wire, pieces]] of scenarios.entries()) {
    using server = await Child.start<object, unknown>("Server.ts", "lines", wire, pieces)
    const start = (name: string) => Rounds.start(bench, "Streams", name, { url: String(server.hello), wire })
    const name = `${wire === "neutral" ? "neutral names" : wire === "x" ? "X's names" : "February's names"}, ${
      pieces === "block" ? "64 KiB of lines" : "a line at a time"
    }`
    await Rounds.withAll(names, start, (contenders) =>
      Rounds.compare(bench, {
        section: "streams",
        title: `streams, ${name}`,
        contenders,
        scenarios: [{ name, task: { count: 2_000 }, batch: 120 }],
        seconds: seconds * share,
        from: i * share,
        share
      }))
    if (bench.full && i === 0) {
      const lines = bench.rounds === undefined ? 1_000_000 : 100_000
      const at = { section: "streams", scenario: `a line of ${lines.toLocaleString("en")}` }
      await Rounds.long(bench, at, names, start, { count: 50_000 }, { count: lines }, 1)
    }
  }
}

export const section: Rounds.Section = { name: "streams", seconds: 18, fullSeconds: 120, run }
