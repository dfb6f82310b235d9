/** A program that follows the stream of activity and records it in a database, in which it also keeps how far it has come. */
import type { ActivityEvent } from "@postwire/core/schema/models/Activity"
import { streamActivity } from "@postwire/core/streams/operations/ActivityStreams"
import type { StreamEvent } from "@postwire/core/streams/StreamEvents"
import type { ResumeFrom } from "@postwire/core/streams/StreamOptions"
import * as NodeClient from "@postwire/node/NodeClient"
import { Clock, Effect, Stream } from "effect"
import { DatabaseSync } from "node:sqlite"
import * as Pace from "./Pace.ts"

/** The settings of the program. `resume`: it fetches what it missed; otherwise each connection begins five minutes earlier. */
export interface Settings extends Pace.Pace {
  readonly baseUrl: string
  readonly bearerToken: string
  readonly path: string
  readonly resume: boolean
}

const settings: Settings = JSON.parse(process.argv[2] ?? "")
const { baseUrl, bearerToken, path, resume } = settings

const database = new DatabaseSync(path, { timeout: 5_000 })
database.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = OFF;
  CREATE TABLE IF NOT EXISTS events (event_uuid TEXT PRIMARY KEY, text TEXT NOT NULL, times INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS gaps (start INTEGER NOT NULL, stop INTEGER NOT NULL, why TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS marks (only INTEGER PRIMARY KEY CHECK (only = 1), until INTEGER NOT NULL);
`)
const add = database.prepare("INSERT INTO events VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET times = times + 1")
const miss = database.prepare("INSERT INTO gaps VALUES (?, ?, ?)")
const mark = database.prepare("INSERT INTO marks VALUES (1, ?) ON CONFLICT DO UPDATE SET until = excluded.until")

const record = (events: ReadonlyArray<StreamEvent<{ readonly event: ActivityEvent }>>) => {
  database.exec("BEGIN IMMEDIATE")
  for (const event of events) {
    if (event._tag === "Delivered") {
      const { event: activity } = event.item
      add.run(activity.event_uuid, activity.event_type === "post.create" ? activity.payload.text ?? "" : "")
    } else if (event._tag === "Watermark") mark.run(event.until.getTime())
    else if (event._tag === "Gap" && event.filledBy === undefined) {
      miss.run(event.from.getTime(), event.to.getTime(), event.why ?? "")
    }
  }
  database.exec("COMMIT")
}

const until = database.prepare("SELECT until FROM marks").get()?.["until"]
const resumeFrom: ResumeFrom | undefined = !resume || until === undefined ? undefined : {
  at: new Date(Number(until)),
  ids: database.prepare("SELECT event_uuid FROM events").all().map(({ event_uuid }) => String(event_uuid))
}

await (
  resume
    ? streamActivity.events({}, { recover: "recovery", resumeFrom })
    : streamActivity.events({ backfill_minutes: 5 }, { recover: "none" })
).pipe(
  Stream.runForEachArray((events) => Effect.sync(() => record(events))),
  Effect.provide(NodeClient.layer({ baseUrl, bearerToken })),
  Effect.provideService(Clock.Clock, Pace.clock(settings)),
  Effect.runPromise
)
