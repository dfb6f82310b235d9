/**
 * Whether a create has left, for those who give a call up on their own: a client that is closed, a blocking one whose time
 * is up. Until then nothing has happened, whatever the call waits for.
 */
import * as Context from "effect/Context"

/** Hears of the requests of a create. */
export interface Departure {
  /** A request is about to leave. It is kept back by `false`: nobody waits for its answer any more. */
  readonly leaving: () => boolean
  /** It had no effect: it was refused, or nothing of it left. */
  readonly withoutEffect: () => void
}

/** Who hears of the requests of a create; nobody unless something is provided. */
export const Departure = /*#__PURE__*/ Context.Reference<Departure | undefined>("@postwire/core/client/SendGate", {
  defaultValue: () => undefined
})

/** Remembers it, of one create or of several. */
export class Watched implements Departure {
  #out = 0

  /** Whether any may have taken effect. */
  get isOut(): boolean {
    return this.#out > 0
  }

  leaving(): boolean {
    this.#out++
    return true
  }

  withoutEffect(): void {
    this.#out--
  }
}
