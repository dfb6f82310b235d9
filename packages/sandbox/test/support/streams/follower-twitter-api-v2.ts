/** The same with twitter-api-v2, as its documents show it: reconnecting is asked for, without an end. */
import { Agent } from "node:http"
import { ETwitterStreamEvent, type TweetV2SingleStreamResult, TwitterApi } from "twitter-api-v2"
import { tell, type Told, weigh } from "./Followed.ts"

const { baseUrl, bearerToken, pace }: Told = JSON.parse(process.argv[2] ?? "")

// Its waits are in its own timers.
const wait = globalThis.setTimeout
globalThis.setTimeout = Object.assign(
  (callback: () => void, delay = 0) => wait(callback, delay / pace),
  { __promisify__: wait.__promisify__ }
) as typeof wait

const { v2 } = new TwitterApi(bearerToken, { httpAgent: new Agent() })

weigh()
process.stdin.resume().on("end", () => process.exit(0))
// What it does not catch ends a program; whoever keeps one running starts it again.
process.on("uncaughtException", (error) => tell({ _tag: "Event", consumer: "all", name: `Uncaught ${error.name}` }))

// What `searchStream` does: no plugin sees the requests of streams, so the address is given.
const stream = v2.getStream<TweetV2SingleStreamResult>(
  "tweets/search/stream",
  { "tweet.fields": ["created_at"] },
  { prefix: `${baseUrl}/2/`, autoConnect: false }
)
stream.on(
  ETwitterStreamEvent.Data,
  ({ data: { id } }) => tell({ _tag: "Items", consumer: "all", ids: [id] })
)
for (const event of [ETwitterStreamEvent.TweetParseError, ETwitterStreamEvent.ConnectionError] as const) {
  stream.on(event, () => tell({ _tag: "Event", consumer: "all", name: event }))
}
await stream.connect({ autoReconnect: true, autoReconnectRetries: "unlimited" })
