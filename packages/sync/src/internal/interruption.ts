/**
 * Ctrl-C while a thread is blocked. Without a listener, Node ends the program immediately. A listener would have to wait for the
 * event loop, which is blocked. So the wait runs in a script that SIGINT interrupts, and the listener runs right after.
 *
 * Node removes the listeners of SIGINT before such a script and restores them after it. A SIGINT in the microseconds between ends
 * the program immediately.
 */
import * as Predicate from "effect/Predicate"
import { Script } from "node:vm"
import { isMainThread } from "node:worker_threads"

/** True if the program listens to SIGINT, which only the main thread receives. */
export const isListenedTo = (): boolean => isMainThread && process.listenerCount("SIGINT") > 0

/** The script can access nothing but globals. */
const handover = Symbol.for("@postwire/sync/wait")
const script = /*#__PURE__*/ new Script(`globalThis[Symbol.for("@postwire/sync/wait")]()`)

/** Runs a function; returns `undefined` if SIGINT interrupts it. */
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
