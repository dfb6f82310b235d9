/**
 * Decides whether a create may still be sent, and records whether one was. A caller that gives a call up (a client that is
 * closed, a sync client whose time is up) needs both: nothing has happened until a request is sent, however long the call waits.
 */
import * as Context from "effect/Context"

/** Sees every request of a create. */
export interface SendGate {
  /** Called when a request is about to be sent; `false` holds it back, since its caller has given up. */
  readonly maySend: () => boolean
  /** Called when a request had no effect: it was refused, or nothing of it was sent. */
  readonly withoutEffect: () => void
}

/** The gate of the creates that an Effect sends; none by default. */
export const SendGate = /*#__PURE__*/ Context.Reference<SendGate | undefined>("@postwire/core/client/SendGate", {
  defaultValue: () => undefined
})

/** Lets every request pass and counts those that may have taken effect. */
export class SendTracker implements SendGate {
  #out = 0

  /** True if any may have taken effect. */
  get isOut(): boolean {
    return this.#out > 0
  }

  maySend(): boolean {
    this.#out++
    return true
  }

  withoutEffect(): void {
    this.#out--
  }
}
