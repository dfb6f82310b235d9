/** The parts of a client, with or without Effect. */
import { type Caller, type Provided, valueOf } from "@postwire/core/promise/Calls"
import { build } from "@postwire/core/promise/PromiseClient"
import { formOf } from "@postwire/core/promise/ReturnType"
import type { Form } from "@postwire/core/schema/Definition"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Dispatcher } from "undici"
import * as NodeClient from "../NodeClient.ts"
import { Session as OwnSession } from "./session.ts"

/** The HTTP session of a client, which sends its requests. */
export type Session = Pick<Dispatcher, "dispatch"> & Partial<Pick<OwnSession, "statistics" | "close">>

/** The services of a client, its session, and its end. */
export interface Connected<F extends Form> {
  readonly services: Context.Context<Provided>
  readonly session: Session
  readonly form: F
  readonly end: () => Promise<void>
}

/** Makes the parts from settings and the environment. Throws `InvalidSettings` immediately; connects at the first call. */
export const connect = <F extends Form>(given: NodeClient.Settings<F>, caller: Caller): Connected<F> => {
  const settings = NodeClient.complete(given)
  valueOf(Effect.runSyncExit(NodeClient.check(settings)), undefined, caller)
  const own = settings.dispatcher === undefined ? new OwnSession(NodeClient.agentOptionsOf(settings)) : undefined
  const session = settings.dispatcher ?? own!
  const built = build(NodeClient.layer({ ...settings, proxy: undefined, ca: undefined, dispatcher: session }), caller)
  const end = async () => {
    await built.end()
    await own?.close()
  }
  return { services: built.services, session, form: formOf(settings), end }
}
