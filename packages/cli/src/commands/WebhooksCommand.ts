/** `postwire webhooks`: keeps a webhook and its subscriptions to events as a file has them, and replays missed events. */
import type { SubscriptionsRefused } from "@postwire/core/errors/Errors"
import {
  keepWebhook,
  type KeptWebhook,
  listWebhooks,
  planWebhook,
  type Progress,
  type WantedSubscription,
  type WebhookPlan
} from "@postwire/core/events/KeptWebhook"
import { eventPrices, isEventType, scopeOf } from "@postwire/core/schema/models/Activity"
import * as Prices from "@postwire/core/spend/Prices"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Connection from "../connection/Connection.ts"
import * as Replay from "../events/Replay.ts"
import * as WebhookFile from "../events/WebhookFile.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import * as Prompt from "../terminal/Prompt.ts"
import * as Report from "../terminal/Report.ts"
import * as Text from "../terminal/Text.ts"
import { lines } from "./Lines.ts"

const common = {
  file: Argument.String("file").pipe(
    Argument.withDescription("The webhook as JSON: its url and its subscriptions; - is standard input")
  ),
  keep: Args.toggle("keep", "Only add and change; keep subscriptions that are not in the file"),
  cap: Args.int("cap", 1).pipe(Args.withDefault("How many subscriptions the app may have", 1_500)),
  json: Report.json,
  wire: Connection.wire,
  ...Connection.flags
}

const plan = Command.make("plan", common, (flags) => {
  const { cap, file, json, keep, wire } = flags
  return Effect.gen(function*() {
    const desired = yield* WebhookFile.read(file)
    const found = yield* Connection.use(
      flags,
      wire,
      () => planWebhook(desired, { cap, keep }).pipe(WebhookFile.inFile(file))
    )
    const dollarsPerEvent = Object.fromEntries(
      pricesOf(found).map(([type, micros]) => [type, Prices.dollarsOf(micros)])
    )
    yield* Report.print(json, { ...found, dollarsPerEvent }, () => planLines(found))
  })
}).pipe(
  Args.help(
    "Show what webhooks apply would do: compare the app's webhook and subscriptions with those of the file. Nothing is changed.",
    "Show what webhooks apply would do",
    { "postwire webhooks plan webhook.json": "Show the changes, and what an event of each type costs" }
  )
)

const applyFlags = {
  ...common,
  allowEmpty: Args.toggle("allow-empty", "Delete all subscriptions of the webhook if the file has none"),
  yes: Args.toggle("yes", "Do not ask before subscriptions are deleted")
}

const apply = Command.make("apply", applyFlags, (flags) => {
  const { allowEmpty, cap, file, json, keep, wire, yes } = flags
  return Effect.gen(function*() {
    const desired = yield* WebhookFile.read(file)
    const kept = yield* Connection.use(flags, wire, () =>
      Effect.gen(function*() {
        const options = { cap, keep }
        const found = yield* planWebhook(desired, options)
        yield* Effect.forEach(planLines(found), (line) => Console.error(Text.plain(line)), { discard: true })
        const isMeant = desired.subscriptions.length > 0 || allowEmpty
        yield* Prompt.agreeToDeletions(found.remove.length, found.subscriptions, "subscriptions", isMeant, yes)
        const speak = yield* Report.speaker
        return yield* keepWebhook(desired, { ...options, allowEmpty, onProgress: stepsOf(found, speak) })
      }).pipe(
        Effect.tapError((error) => error._tag === "SubscriptionsRefused" ? sayRefusals(error) : Effect.void),
        WebhookFile.inFile(file),
        ErrorReport.within({ resumable: "itself" })
      ))
    yield* Report.print(json, kept, () => [outcomeOf(kept)])
  })
}).pipe(
  Args.help(
    "Register the webhook of a file, validate it if the service has marked it invalid, and make its subscriptions those of the " +
      "file. The program at the address must be running. Shows the plan first. The same command can be run again, and in " +
      "several places at the same time.",
    "Make a webhook and its subscriptions those of a file",
    {
      "postwire webhooks apply webhook.json": "Register, add, change and delete",
      "postwire webhooks apply webhook.json --yes": "In a script"
    }
  )
)

const list = Command.make(
  "list",
  { json: Report.json, wire: Connection.wire, ...Connection.flags },
  (flags) =>
    Effect.gen(function*() {
      const listed = yield* Connection.use(flags, flags.wire, () => listWebhooks())
      const { subscriptions, webhooks } = listed
      if (!flags.json && webhooks.length + subscriptions.length === 0) {
        return yield* Report.say("There are no webhooks.")
      }
      yield* Report.print(flags.json, listed, () => [
        ...webhooks.flatMap(({ id, subscriptions, url, valid }) => [
          `${url}  ${valid ? "valid" : "invalid: nothing is delivered"}  ${id}`,
          ...subscriptions.map((one) => shown(" ", one))
        ]),
        ...subscriptions.length === 0 ? [] : ["Without a webhook, for the stream alone"],
        ...subscriptions.map((one) => shown(" ", one))
      ])
    })
).pipe(
  Args.help(
    "Print the webhooks of the app, whether they are valid, and their subscriptions. With --json each is a file for plan and apply.",
    "Print the webhooks and their subscriptions",
    { "postwire webhooks list --json | jq '.webhooks[0]' > webhook.json": "Create a file of the current webhook" }
  )
)

const time = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar("TIME"), Flag.withDescription(description))

const replay = Command.make(
  "replay",
  {
    from: time("from", "The beginning, such as 2026-11-02T08:00Z"),
    to: time("to", "The end, at least 10 minutes ago"),
    webhook: Args.text("webhook", "The id of the webhook, if there are several", "ID"),
    json: Report.json,
    wire: Connection.wire,
    ...Connection.flags
  },
  (flags) =>
    Effect.gen(function*() {
      const span = { from: yield* Replay.parse("from", flags.from), to: yield* Replay.parse("to", flags.to) }
      if (span.from >= span.to) {
        return yield* ErrorReport.refuse("--from must be before --to", "Correct it; nothing was sent.")
      }
      const { later, lost, spans } = Replay.jobsOf(span, yield* Clock.currentTimeMillis)
      if (lost !== undefined) {
        yield* Report.say(`Events of ${Replay.shown(lost)} are lost: the service has those of the last 24 hours.`)
      }
      if (later !== undefined) {
        yield* Report.say(
          `Events of ${Replay.shown(later)} cannot be replayed yet: a replay ends at least 10 minutes ago.`
        )
      }
      if (spans.length === 0) {
        return yield* ErrorReport.refuse(
          "Nothing of this span can be replayed now",
          "A replay begins 31 minutes to 24 hours ago, and ends at least 10 minutes ago. Nothing was sent."
        )
      }
      const replayed = yield* Connection.use(flags, flags.wire, () => submitAll(flags.webhook, spans))
      yield* Report.print(flags.json, { ...replayed, ...lost && { lost: timesOf(lost) } }, () => [
        `${
          Text.quantity(replayed.jobs.length, "jobs")
        } submitted. The end of each is delivered to the webhook alone, as ` +
        "replay_job_status: after Incomplete, run the same command again."
      ])
    })
).pipe(
  Args.help(
    "Deliver past events to a webhook again: those of the last 24 hours that were delivered, or should have been. Longer spans " +
      "are divided into jobs of at most two hours, one at a time. The service delivers the end of a job to the webhook alone, so " +
      "that this command ends when the last job is submitted.",
    "Deliver past events to a webhook again",
    {
      "postwire webhooks replay --from 2026-11-02T08:00Z --to 2026-11-02T13:30Z": "After an outage"
    }
  )
)

export const command = Command.make("webhooks").pipe(
  Command.withSubcommands([plan, apply, list, replay]),
  Args.help(
    "Keep a webhook and its subscriptions to events in a file. Needs the app's bearer token; it is free. The file is JSON: " +
      `{"url": "https://example.com/hook", "subscriptions": [{"event_type": "post.mention.create", "filter": {"user_id": ` +
      `"2244994945"}, "tag": "mentions"}]}`,
    lines.webhooks
  )
)

const timesOf = ({ from, to }: Replay.Span) => ({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })

const submitAll = Effect.fnUntraced(function*(chosen: Option.Option<string>, spans: ReadonlyArray<Replay.Span>) {
  const { webhooks } = yield* listWebhooks()
  const webhook = Option.match(chosen, {
    onNone: () => webhooks.length === 1 ? webhooks[0] : undefined,
    onSome: (id) => webhooks.find((webhook) => webhook.id === id)
  })
  if (webhook === undefined) {
    return yield* ErrorReport.refuse(
      webhooks.length === 0
        ? "The app has no webhook"
        : Option.isSome(chosen)
        ? "The app has no such webhook"
        : "The app has several webhooks",
      `${
        webhooks.length === 0
          ? "Register one: postwire webhooks apply FILE"
          : "Name one with --webhook: postwire webhooks list"
      }. Nothing was sent.`
    )
  }
  const jobs: Array<{ readonly job_id?: string; readonly from: string; readonly to: string }> = []
  for (const span of spans) {
    const job_id = yield* Replay.submit(webhook.id, span).pipe(
      Effect.tapError(() =>
        jobs.length === 0
          ? Effect.void
          : Report.insist(`Submitted until ${Replay.timeOf(span.from)} UTC; continue from there with --from.`)
      )
    )
    yield* Report.say(`Replaying ${Replay.shown(span)}.`)
    jobs.push({ ...job_id !== undefined && { job_id }, ...timesOf(span) })
  }
  return { webhook_id: webhook.id, jobs }
})

const actions: Readonly<Record<WebhookPlan["action"], string>> = {
  create: "to be registered: its program must be running",
  validate: "invalid, to be validated: its program must be running",
  present: "valid"
}

/** The price of an event of each desired type, in micro-dollars. */
const pricesOf = ({ add, change, present }: WebhookPlan) => {
  const desired = [...add, ...change.map(({ subscription }) => subscription), ...present]
  return [...new Set(desired.map(typeOf))].filter(isEventType).map((type) => {
    const row = eventPrices[type]
    return [type, row === "free" ? 0 : Prices.current.read[row]] as const
  })
}

const planLines = (found: WebhookPlan): ReadonlyArray<string> => {
  const { action, add, cap, change, kept, present, remove, subscriptions, url } = found
  return [
    `${url}  ${actions[action]}`,
    [
      `${Text.quantity(subscriptions, "subscriptions")} of ${Text.count(cap)}`,
      `${Text.count(add.length)} to add`,
      ...change.length === 0 ? [] : [`${Text.count(change.length)} to change`],
      `${Text.count(remove.length)} to delete`,
      `${Text.count(present.length)} there already`,
      ...kept.length === 0 ? [] : [`${Text.count(kept.length)} kept`]
    ].join(", "),
    ...remove.map((one) => shown("-", one)),
    ...add.map((one) => shown("+", one)),
    ...change.map(({ isMoved, subscription, tag }) => {
      const { tag: before, webhook_id } = subscription
      const was = [
        ...tag === undefined ? [] : [before === undefined ? "without a tag" : `[${Text.oneLine(before)}]`],
        ...isMoved ? [webhook_id === undefined ? "without a webhook" : `of webhook ${webhook_id}`] : []
      ]
      return `${shown("~", { ...subscription, tag: tag ?? before })} (was ${was.join(", ")})`
    }),
    ...pricesOf(found).map(([type, micros]) => {
      const scope = scopeOf(type)
      const cost = micros === 0 ? "free" : `${Text.dollars(micros)} each`
      return `Events of ${type}: ${cost}${scope === undefined ? "" : `, with their user's scope ${scope}`}`
    })
  ]
}

/** The type of event of a subscription. */
const typeOf = (
  { event_type: type }: { readonly event_type: WantedSubscription["event_type"] | (string & {}) }
): string => typeof type === "string" ? type : type.unlisted

const shown = (
  sign: string,
  { event_type, filter, tag }: {
    readonly event_type: WantedSubscription["event_type"] | (string & {})
    readonly filter: WantedSubscription["filter"] | {
      readonly direction?: string
      readonly user_id?: string
      readonly keyword?: string
    }
    readonly tag?: string | undefined
  }
): string => {
  const { direction, keyword, user_id } = filter
  const about = [
    ...user_id === undefined ? [] : [`of ${user_id}`],
    ...keyword === undefined ? [] : [`about ${JSON.stringify(keyword)}`],
    ...direction === undefined ? [] : [direction],
    ...tag === undefined ? [] : [`[${tag}]`]
  ]
  return `  ${sign} ${Text.oneLine([typeOf({ event_type }), ...about].join(" "))}`
}

/** Steps of one subscription each are shown by the hundred. */
const noteworthy = 100

const stepsOf = ({ add, change }: WebhookPlan, speak: (text: string) => void) => {
  const done = { added: 0, changed: 0 }
  const of = { added: add.length, changed: change.length }
  return (progress: Progress): void => {
    if ("webhook" in progress) {
      return speak(`${progress.step === "registered" ? "Registered" : "Validated"} ${progress.webhook.url}.`)
    }
    const { step, subscriptions: { length } } = progress
    if (step === "deleted") return speak(`Deleted ${Text.quantity(length, "subscriptions")}.`)
    done[step] += length
    if (done[step] % noteworthy !== 0 && done[step] !== of[step]) return
    speak(
      `${step === "added" ? "Added" : "Changed"} ${Text.count(done[step])} of ${
        Text.quantity(of[step], "subscriptions")
      }.`
    )
  }
}

/** The error names the first one. */
const sayRefusals = ({ subscriptions }: SubscriptionsRefused) =>
  Effect.forEach(
    subscriptions.slice(1),
    ({ detail, event_type, index, user_id }) =>
      Report.insist(
        `Subscription ${index + 1}, ${event_type}${user_id === undefined ? "" : ` of ${user_id}`}: ${detail}`
      ),
    { discard: true }
  )

const outcomeOf = ({ added, changed, kept, removed, subscriptions, webhook }: KeptWebhook): string =>
  `${webhook.url} is valid, with ${Text.quantity(subscriptions.length + kept.length, "subscriptions")}: ${
    Text.count(added.length)
  } added, ${Text.count(changed.length)} changed, ${Text.count(removed.length)} deleted`
