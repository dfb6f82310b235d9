/**
 * Ctrl-C while a thread is blocked. Node ends a program without a listener at once; a listener would have to wait for the
 * event loop, which is blocked. So a script that SIGINT breaks does the waiting, and the listener runs right after.
 *
 * Node takes the listeners of SIGINT away before such a script and adds them again after it. A SIGINT in the microseconds
 * between ends the program at once.
 */
import * as Predicate from "effect/Predicate"
import { Script } from "node:vm"
import { isMainThread } from "node:worker_threads"

/** Whether the program listens to SIGINT, which only the main thread hears of. */
export const isListenedTo = (): boolean => isMainThread && process.listenerCount("SIGINT") > 0

/** A script can be interrupted and reaches nothing but globals. */
const handover = Symbol.for("@postwire/sync/wait")
const script = /*#__PURE__*/ new Script(`globalThis[Symbol.for("@postwire/sync/wait")]()`)

/** Does something to its end, or until SIGINT: then it is `undefined`. */
export const interruptible = <A>(work: () => A): A | undefined => {
  Reflect.set(globalThis, handover, work)
  try {
    return script.runInThisContext({ breakOnSigint: true })
  } catch (error) {
    if (!Predicate.hasProperty(error, "code") || error.code !== "ERR_SCRIPT_EXECUTION_INTERRUPTED") throw error
    process.kill(process.pid, "SIGINT")
    return undefined
  } finally {
    Reflect.deleteProperty(globalThis, handover)
  }
}
