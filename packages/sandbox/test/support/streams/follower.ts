/** A program that follows the stream of its rules: one consumer of everything, and one for each of some tags. */
import { streamPosts } from "@postwire/core/streams/operations/Streams"
import type { StreamEvent } from "@postwire/core/streams/StreamEvents"
import type { ResumeFrom } from "@postwire/core/streams/StreamOptions"
import * as NodeClient from "@postwire/node/NodeClient"
import { Clock, Effect, Stream } from "effect"
import { tell, type Told, weigh } from "./Followed.ts"
import * as Pace from "./Pace.ts"

const told: Told = JSON.parse(process.argv[2] ?? "")
const { baseUrl, bearerToken, recover, tags } = told

type Delivered = StreamEvent<{ readonly post: { readonly id: string; readonly created_at: Date | string } }>

/** As long as a service may look back, and a minute more. */
const remembered = 7 * 60_000

/** Follows for one consumer. What is final ends a stream: this one asks again in a while, from where it was. */
const follow = (consumer: string, tags: ReadonlyArray<string> | undefined) =>
  Effect.gen(function*() {
    const seen: Array<readonly [at: number, id: string]> = []
    let from: number | undefined
    const take = (events: ReadonlyArray<Delivered>) => {
      const ids: Array<string> = []
      for (const event of events) {
        if (event._tag === "Delivered") {
          ids.push(event.item.post.id)
          seen.push([event.at.getTime(), event.item.post.id])
        } else if (event._tag === "Watermark") {
          from = event.until.getTime()
          tell({ _tag: "Watermark", consumer, until: from })
          const old = seen.findIndex(([at]) => at > from! - remembered)
          if (old > 20_000) seen.splice(0, old)
        } else if (event._tag === "Gap") {
          const { filledBy, why } = event
          tell({ _tag: "Gap", consumer, from: event.from.getTime(), to: event.to.getTime(), filledBy, why })
        } else if (event._tag !== "KeepAlive" && event._tag !== "Lag") {
          tell({ _tag: "Event", consumer, name: event._tag === "Dropped" ? `Dropped ${event.count}` : event._tag })
        }
      }
      if (ids.length > 0) tell({ _tag: "Items", consumer, ids })
    }
    const run = Effect.suspend(() => {
      const resumeFrom: ResumeFrom | undefined = from === undefined
        ? undefined
        : { at: new Date(from), ids: seen.map(([, id]) => id) }
      return Stream.runForEachArray(
        streamPosts.events({ post_fields: ["created_at"] }, { recover, tags, resumeFrom }),
        (events) => Effect.sync(() => take(events))
      )
    })
    return yield* run.pipe(
      Effect.tapError(({ _tag }) => Effect.sync(() => tell({ _tag: "Event", consumer, name: _tag }))),
      Effect.catchTag(["NoRules", "TooManyConnections"], () => Effect.sleep("20 seconds")),
      Effect.forever
    )
  })

weigh()
process.stdin.resume().on("end", () => process.exit(0))

await Effect.all([follow("all", undefined), ...tags.map((tag) => follow(tag, [tag]))], { concurrency: "unbounded" })
  .pipe(
    Effect.provide(NodeClient.layer({ baseUrl, bearerToken })),
    Effect.provideService(Clock.Clock, Pace.clock(told)),
    Effect.runPromise
  )
