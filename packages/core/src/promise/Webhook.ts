/** Webhooks for programs without Effect. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Telemetry from "../client/Telemetry.ts"
import type { InvalidSettings } from "../errors/Errors.ts"
import * as Core from "../events/Webhook.ts"
import type { WebhookEvent } from "../events/WebhookEvent.ts"
import type { Storage } from "../storage/Storage.ts"
import * as Calls from "./Calls.ts"
import * as Settings from "./Settings.ts"

/** Options of a webhook. */
export interface Options extends Core.Settings, Pick<Settings.Settings, "logger"> {
  /** The consumer secret of the app. During a rotation a list, the current one first. */
  readonly secrets: string | ReadonlyArray<string>
  /** Handles an event. Its promise is awaited; an exception or a rejection is a failure. */
  readonly onEvent: (event: WebhookEvent, delivery: Core.Delivery) => unknown
}

/** Events that were given up, of all processes that share the store. */
export interface DeadLetters {
  /** Returns all of them, the oldest first. */
  readonly list: () => Promise<ReadonlyArray<Core.DeadLetter>>
  /** Handles one again, after the other events of its user; false if it is not there. */
  readonly replay: (id: string) => Promise<boolean>
  /** Deletes one; false if it is not there. */
  readonly remove: (id: string) => Promise<boolean>
}

/** A webhook: a function that answers a web request. */
export interface Webhook extends AsyncDisposable {
  (request: Request): Promise<Response>
  readonly deadLetters: DeadLetters
  /** Stops handling events, and resolves when the handlers that run have ended. Events that are stored remain so. */
  readonly close: () => Promise<void>
}

/** The parts of a webhook for a platform. */
export interface Opened {
  readonly answer: Core.Webhook["answer"]
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  readonly webhook: Webhook
}

/** The functions of a platform. */
export interface Host {
  readonly store: Effect.Effect<Storage | undefined, InvalidSettings, Scope.Scope>
  /** Receives warnings if there is no logger. */
  readonly warn: (warning: string) => void
}

/** Opens a webhook. Throws `InvalidSettings` from the line of the caller. */
export const open = (options: Options, { store, warn }: Host, caller: Calls.Caller): Opened => {
  const scope = Scope.makeUnsafe()
  const opened = Effect.gen(function*() {
    const { onEvent, secrets } = options
    const webhook = yield* Core.make({
      ...options,
      secrets: (typeof secrets === "string" ? [secrets] : secrets ?? []).map((secret) => Redacted.make(secret)),
      onEvent: typeof onEvent !== "function"
        ? onEvent
        : (event, delivery) => Effect.promise(async () => onEvent(event, delivery)),
      store: yield* store
    })
    return { webhook, context: yield* Effect.context<never>() }
  }).pipe(
    Effect.provide(Layer.provideMerge(Telemetry.layer, Settings.layerLogger(options, { warn }))),
    Scope.provide(scope)
  )
  const { context, webhook }: { readonly webhook: Core.Webhook; readonly context: Context.Context<never> } = Calls
    .valueOf(Effect.runSyncExit(opened), undefined, caller)
  const run = Effect.runPromiseWith(context)
  const close = () => run(Scope.close(scope, Exit.void))
  const { list, remove, replay } = webhook.deadLetters
  return {
    answer: webhook.answer,
    run,
    webhook: Object.assign((request: Request) => run(webhook.handle(request)), {
      deadLetters: {
        list: () => run(list),
        replay: (id: string) => run(replay(id)),
        remove: (id: string) => run(remove(id))
      },
      close,
      [Symbol.asyncDispose]: close
    })
  }
}
