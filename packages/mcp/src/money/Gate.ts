/**
 * The gate in front of every request of a tool: it counts costs, stops a dry run at the first request, and gets the user's
 * consent where the sum of a call may pass the threshold.
 */
import { Client } from "@postwire/core/client/Client"
import type { Definition } from "@postwire/core/schema/Definition"
import * as Prices from "@postwire/core/spend/Prices"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import type { InputRequired, McpRequestContext } from "effect/ai/McpSchema"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Fence from "../text/Fence.ts"
import { dollars } from "./Dollars.ts"
import { type Cost, Ledger } from "./Ledger.ts"
import type { Refused } from "./Refused.ts"

/** A dry run has come to a request, and stopped. Nothing was sent or charged. */
export class DryRun extends Data.TaggedError("DryRun")<{
  readonly definition: Definition
  /** Method, path and query, in the names of the service. */
  readonly request: string
  /** The most that it may cost, in micro-dollars. */
  readonly micros: number
}> {
  override get message(): string {
    const price = this.definition.price === "unknown" && this.micros === 0
      ? "Its price is unknown"
      : `It would cost ${dollars(this.micros)} at most`
    return `Would send ${this.request}\n${price}. Nothing was sent.`
  }
}

/** A question to the user. Texts of strangers in it are fenced. */
export interface Question {
  readonly kind: "cost" | "write"
  /** The operation or the tool. */
  readonly of: string
  /** The most that it may cost, in micro-dollars. Of a question about costs, 0 means that the price is unknown. */
  readonly micros: number
  /** Everything that the call does, for a write. */
  readonly lines: ReadonlyArray<string>
  /** The handle of the prepared write. */
  readonly handle?: string | undefined
}

/** Succeeds if the user agrees. Fails with `InputRequired` where the host asks and calls again. */
export type Ask = (question: Question) => Effect.Effect<void, Refused | InputRequired, McpRequestContext>

/** The gate of one call of a tool. */
export class Gate extends Context.Service<Gate, {
  readonly isDryRun: boolean
  /**
   * Gets consent to requests that cost so much in all, before the first of them; `undefined` is an unknown price. Later requests get
   * consent again where the sum of their prices is larger than `most`.
   */
  readonly plan: (of: string, micros: number | undefined, most: number) => Effect.Effect<void, Refused | InputRequired>
  /** Gets consent to a write and its price. */
  readonly write: (question: Omit<Question, "kind">) => Effect.Effect<void, Refused | InputRequired>
}>()("@postwire/mcp/money/Gate") {}

/** Settings of a gate. */
export interface Settings {
  /** Asks through the host where that is possible. */
  readonly ask: Ask
  readonly isDryRun: boolean
  /** Sums above this need consent, in micro-dollars. */
  readonly askAbove: number
  readonly prices: Prices.Prices
  /** False to use a bearer token where an operation would sign with OAuth 1.0a by default. */
  readonly userAuth: boolean
}

/** The reason why a request was not sent. It is a defect on its way, because a client's own errors have no place for it. */
class Stopped {
  readonly reason: DryRun | Refused | InputRequired
  constructor(reason: DryRun | Refused | InputRequired) {
    this.reason = reason
  }
}

const stop = (reason: DryRun | Refused | InputRequired) => Effect.die(new Stopped(reason))

/** Runs a call behind a gate. Costs are added to `cost`. */
export const pass = <A, E, R>(
  call: Effect.Effect<A, E, R>,
  { ask, askAbove, isDryRun, prices, userAuth }: Settings,
  cost: { -readonly [K in keyof Cost]: Cost[K] }
): Effect.Effect<
  A,
  E | DryRun | Refused | InputRequired,
  Exclude<Exclude<R, Client>, Gate> | Client | Ledger | McpRequestContext
> =>
  Effect.gen(function*() {
    const client = yield* Client
    const context = yield* Effect.context<McpRequestContext>()
    const { accounts } = yield* Ledger
    let planned = 0
    let allowed = askAbove
    let isUnknownAllowed = false
    const allow = (of: string, micros: number) =>
      Effect.gen(function*() {
        if (micros <= allowed) return
        yield* Effect.provideContext(ask({ kind: "cost", of, micros, lines: [] }), context)
        allowed = micros
      })
    const allowUnknown = (of: string) =>
      Effect.gen(function*() {
        // The client refuses an unknown price under a limit.
        if (isUnknownAllowed || (yield* accounts).some(({ limit }) => limit !== undefined)) return
        yield* Effect.provideContext(ask({ kind: "cost", of, micros: 0, lines: [] }), context)
        isUnknownAllowed = true
      })
    const gate = Gate.of({
      isDryRun,
      plan: (of, micros, most) =>
        micros === undefined ? allowUnknown(of) : Effect.map(allow(of, micros), () => {
          allowed = Math.max(allowed, most)
        }),
      write: (question) =>
        Effect.map(Effect.provideContext(ask({ kind: "write", ...question }), context), () => {
          allowed = Math.max(allowed, planned + question.micros)
          isUnknownAllowed ||= question.micros === 0
        })
    })
    const guarded = Client.of({
      ...client,
      request: (definition, given, options) =>
        Effect.gen(function*() {
          const parameters = userAuth || definition.userAuth !== true || !Predicate.isObject(given)
            ? given
            : { user_auth: false, ...given }
          const prepared = RequestEncoder.encode(definition, parameters, client.live.wire)
          if (prepared instanceof Error) return yield* client.request(definition, parameters, options)
          const { price } = prepared.priced
          const micros = Prices.mostOf(price, Prices.askOf(prepared.priced, prepared), prices)
          if (isDryRun) return yield* stop(new DryRun({ definition, request: shown(prepared), micros }))
          planned += micros
          const isUnknown = price === "unknown" && prices.unknown === undefined
          yield* Effect.catch(isUnknown ? allowUnknown(definition.name) : allow(definition.name, planned), stop)
          cost.requests++
          return yield* client.request(definition, parameters, options)
        }),
      read: (definition, response) =>
        Effect.map(client.read(definition, response), (answer) => {
          const { dollars = 0, repeats = 0 } = answer.cost ?? {}
          cost.micros += Prices.microsOf(dollars)
          cost.repeats += repeats
          return answer
        })
    })
    return yield* call.pipe(
      Effect.provideService(Client, guarded),
      Effect.provideService(Gate, gate),
      Effect.catchDefect((defect) => defect instanceof Stopped ? Effect.fail(defect.reason) : Effect.die(defect))
    )
  })

/** A prepared request as text, whose values may be those of strangers; `{me}` is the user's id, which is not known yet. */
const shown = ({ body, identityAt, method, path, query }: RequestEncoder.Prepared): string => {
  const whole = identityAt === undefined ? path : `${path.slice(0, identityAt)}{me}${path.slice(identityAt)}`
  return `${method} ${whole}${query === "" ? "" : `?${Fence.exact(decodeURIComponent(query))}`}${
    typeof body === "string" ? ` ${Fence.exact(body)}` : ""
  }`
}
