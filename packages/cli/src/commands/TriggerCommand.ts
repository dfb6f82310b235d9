/** `postwire trigger EVENT`: makes an event in a sandbox, or an example of one for a program on this machine. */
import * as Delivery from "@postwire/core/events/Delivery"
import type { EventType } from "@postwire/core/schema/models/Activity"
import * as Sandbox from "@postwire/sandbox/Sandbox"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Connection from "../connection/Connection.ts"
import { isLoopback } from "../connection/Loopback.ts"
import * as Variables from "../connection/Variables.ts"
import * as DeliveryReport from "../events/DeliveryReport.ts"
import * as EventDelivery from "../events/EventDelivery.ts"
import * as EventTypes from "../events/EventTypes.ts"
import * as Forwarder from "../events/Forwarder.ts"
import * as UndeclaredFlags from "../flags/UndeclaredFlags.ts"
import * as Args from "../terminal/Args.ts"
import * as ErrorReport from "../terminal/ErrorReport.ts"
import { lines } from "./Lines.ts"
import { adminVariable } from "./SandboxCommand.ts"

const flags = {
  event: Argument.String("event").pipe(Argument.withDescription("The type of the event, such as post.mention.create")),
  user: Flag.String("user").pipe(
    Flag.filter((id) => /^\d{1,19}$/.test(id), () => "the id of a user"),
    Flag.withMetavar("ID"),
    Args.optional("The user whom it is about (default: @ada of the sandbox)")
  ),
  set: Args.many(
    "set",
    "NAME=VALUE",
    "The text of a post or message, the value of a profile after the change, or any member by its path; repeatable"
  ),
  forwardTo: Flag.optional(Forwarder.flag),
  ...DeliveryReport.flags,
  ...Connection.flags
}

type Flags = Command.Command.Config.Infer<typeof flags>

export const command = Command.make("trigger", flags, (given) => run(given)).pipe(
  Args.help(
    "Make an event of any type: in the sandbox of POSTWIRE_BASE_URL, by doing what it is about. With --forward-to, post a signed " +
      "example to a program on this machine instead, without any service.",
    lines.trigger,
    {
      "postwire trigger post.mention.create --set text='Are you open?'": "A mention of @ada in the sandbox",
      "postwire trigger dm.received --forward-to http://localhost:3000/hook": "An example for a program",
      "postwire trigger profile.update.bio --set after=New --print": "A change, with the JSON of its event"
    }
  )
)

/** The event to make. */
interface Request {
  readonly event_type: EventType
  readonly user_id?: string
  readonly set: Readonly<Record<string, unknown>>
}

const run = Effect.fnUntraced(
  function*(flags: Flags) {
    const { forwardTo, set, user } = flags
    const request: Request = {
      event_type: yield* EventTypes.known(flags.event),
      ...Option.isSome(user) && { user_id: user.value },
      set: Record.map(yield* UndeclaredFlags.queryOf("set", set), valueOf)
    }
    const { consumerSecret, variables } = yield* Connection.speaker(flags)
    if (Option.isNone(forwardTo)) {
      const { events, subscriptions } = yield* inSandbox(request, variables)
      for (const event of events) {
        const delivery = deliveryOf(event)
        if (delivery !== undefined) yield* DeliveryReport.made(delivery, subscriptions, flags)
      }
      return
    }
    const { post } = yield* Forwarder.make(forwardTo.value, consumerSecret)
    const delivery = yield* example(request)
    if (delivery === undefined) return
    const attempt = yield* post(delivery)
    yield* DeliveryReport.attempted(attempt, flags, 1)
    if (attempt.problem !== undefined) return yield* new DeliveryReport.Undelivered({ events: 1, failed: 1 })
  },
  Effect.provide(Forwarder.layer),
  Effect.scoped
)

/** Texts and ids stay texts; other values may be JSON. */
const valueOf = (value: unknown, name: string): unknown => {
  if (typeof value !== "string" || /^(text|after)$|id$/.test(name)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

const deliveryOf = (event: object) => EventDelivery.read(Delivery.spell(event))

/** Has the sandbox make an event. */
const inSandbox = Effect.fnUntraced(function*(request: Request, variables: Variables.Variables) {
  const baseUrl = Variables.valueOf(variables, "POSTWIRE_BASE_URL") ?? ""
  if (!isLoopback(URL.parse(baseUrl)?.hostname ?? "")) {
    return yield* ErrorReport.refuse(
      "There is no sandbox at POSTWIRE_BASE_URL: only a sandbox makes events.",
      "Start one with postwire sandbox, or post an example to a program with --forward-to URL."
    )
  }
  const token = Variables.valueOf(variables, adminVariable)
  if (token === undefined) {
    return yield* ErrorReport.refuse(
      `No admin token of the sandbox: ${adminVariable} is not set.`,
      "postwire sandbox prints it with its other variables."
    )
  }
  const http = yield* HttpClient.HttpClient
  const answer = yield* http.execute(
    HttpClientRequest.post(new URL("/_sandbox/trigger", baseUrl).href).pipe(
      HttpClientRequest.bearerToken(token),
      HttpClientRequest.bodyJsonUnsafe(request)
    )
  ).pipe(
    Effect.flatMap(({ json }) => json),
    Effect.mapError(() =>
      new ErrorReport.Failure({ message: `No sandbox answers at ${baseUrl}`, advice: "Start one: postwire sandbox." })
    )
  )
  if (!Predicate.hasProperty(answer, "events") || !Array.isArray(answer.events)) {
    return yield* ErrorReport.refuse(
      `The sandbox has made no event: ${refusalIn(answer)}`,
      `Check ${adminVariable} and the flags.`
    )
  }
  const subscriptions = Predicate.hasProperty(answer, "subscriptions") ? Number(answer.subscriptions) : 0
  return { events: answer.events.filter(Predicate.isObject), subscriptions }
})

const refusalIn = (answer: unknown): string => {
  const errors = Predicate.hasProperty(answer, "errors") && Array.isArray(answer.errors) ? answer.errors : [answer]
  return errors.map((error: unknown) => {
    const { detail, message }: Readonly<Record<string, unknown>> = Predicate.isObject(error) ? { ...error } : {}
    return String(message ?? detail ?? "its answer has no events")
  }).join(" ")
}

/** An example from a sandbox in memory, in which @ada has the id of the wanted user. */
const example = Effect.fnUntraced(function*({ user_id: user, ...request }: Request) {
  const { ada, trigger } = yield* Sandbox.Sandbox
  const [event] = trigger(request).events
  const text = JSON.stringify(event)
  return deliveryOf(JSON.parse(user === undefined ? text : text.replaceAll(`"${ada.id}"`, `"${user}"`)))
}, Effect.provide(Sandbox.layer({ posts: 0 })))
