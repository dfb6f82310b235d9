/** Shared streams with Promises. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Definition, Form } from "../schema/Definition.ts"
import type { AnyItem } from "../schema/StreamItem.ts"
import type * as Shared from "../streams/shared/SharedStream.ts"
import * as Calls from "./Calls.ts"
import { Loop } from "./internal/loop.ts"
import * as Workflows from "./Workflows.ts"

/** The options of a consumer. */
export interface ConsumeOptions extends Shared.ConsumeOptions {
  /** Aborts the loop immediately; it is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** An item and its position in the log. */
export interface SharedItem<out Item> extends Omit<Shared.SharedItem<Item>, "commit"> {
  /** Commits this item and all before it. Rejects with `LeaseLost` if another process has taken over as this consumer. */
  readonly commit: () => Promise<void>
}

/** A stream that processes share. Closing it, or the client, releases the connection to other processes. */
export interface SharedStream<out Item> extends AsyncDisposable {
  /**
   * Reads the log from the position of this consumer. An item is committed when the loop requests the next one; an item at which
   * the loop was left is delivered again.
   */
  readonly consume: (options: ConsumeOptions) => AsyncIterable<SharedItem<Item>>
  /** Removes a consumer that does not return, so that the log need not keep items for it. */
  readonly forget: (consumer: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** The `shared` method of a streaming operation. */
export const method = (context: Calls.Context, definition: Definition, form: Form) =>
async (
  name: string,
  parameters: object = {},
  options?: Shared.SharedOptions
): Promise<SharedStream<unknown>> => {
  const scope = Scope.makeUnsafe()
  const close = () => {
    context.closing.removeEventListener("abort", close)
    return Effect.runPromise(Scope.close(scope, Exit.void))
  }
  const opened = Scope.provide(Workflows.openShared(name, definition, parameters, options), scope)
  const exit = await Calls.run(context, definition, opened, undefined)
  if (Exit.isFailure(exit)) await close()
  const shared = Calls.valueOf(exit, undefined, method)
  if (context.closing.aborted) await close()
  else context.closing.addEventListener("abort", close)
  const itemOf = ({ commit, item, position }: Shared.SharedItem<AnyItem>): SharedItem<unknown> => ({
    item: form === "response" ? item : item.body,
    position,
    commit: async () => Calls.valueOf(await Calls.run(context, definition, commit, undefined), undefined, method)
  })
  return {
    consume: (options) => ({
      [Symbol.asyncIterator]: () =>
        new Loop(context, definition, { ...options }, () => Workflows.openConsumer(shared, options), itemOf)
    }),
    forget: async (consumer) =>
      Calls.valueOf(await Calls.run(context, definition, shared.forget(consumer), undefined), undefined, method),
    close,
    [Symbol.asyncDispose]: close
  }
}
