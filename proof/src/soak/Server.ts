/** The sandbox of a soak, in a process of its own. New posts arrive all the time, and requests meet random faults unless it spares them. */
import * as Sandbox from "@postwire/sandbox/Sandbox"

/** The settings of its clients, sent when the server is ready. */
export interface Ready {
  readonly settings: Sandbox.RunningSandbox["settings"]
  readonly userId: string
}

/** Begins or ends the faults. */
export type Request = "disturb" | "spare"

const [seed = 1] = process.argv.slice(2).map(Number)

const sandbox = await Sandbox.start({ posts: 5_000, seed, postCap: 1e9, streamConnections: 10 })

const disturb = (): void => {
  sandbox.faults.add({
    operation: "streamPosts",
    times: "always",
    oneOf: [
      { stream: { kind: "cut", at: "20 seconds" } },
      { stream: { kind: "cut-in-character", after: 500, within: 2_000 } },
      { stream: { kind: "stall", after: 500, within: 3_000, for: "10 seconds" } },
      { stream: { kind: "duplicate", every: 20 } },
      { stream: { kind: "out-of-order", every: 20 } },
      { stream: { kind: "garbage", after: 10, every: 300 } },
      { status: 503 },
      { reset: "before" }
    ]
  })
  sandbox.faults.add({
    probability: 0.01,
    oneOf: [
      { reset: "before" },
      { reset: "after" },
      { status: 503, headers: { "retry-after": "1" } },
      { status: 500 },
      { truncate: true },
      { body: "broken-json" },
      { body: "html", status: 502 },
      { page: "short" },
      { page: "empty" },
      { rateLimitHeaders: "absurd" },
      { rateLimitHeaders: "missing" },
      { delay: 200 },
      { pause: 20 }
    ]
  })
}

process.on("message", (request: Request) => {
  sandbox.faults.clear()
  if (request === "disturb") disturb()
})
process.on("disconnect", () => process.exit())
sandbox.load({ perSecond: 4, posts: 10_000_000, seed })
// The windows of the service last a quarter of an hour: a soak would wait most of the time.
setInterval(() => sandbox.budget.clear(), 50)
process.send!({ settings: sandbox.settings, userId: sandbox.ada.id } satisfies Ready)
