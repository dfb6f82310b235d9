/** Cursors as handles: short names for what follows an answer, in the memory of the session. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { Listing } from "../session/Tool.ts"

/** The most handles; the oldest is forgotten first. */
const most = 200

/** The rest of an answer of a tool. */
export interface Place {
  readonly tool: string
  readonly rest: Listing
}

/** The handles of a session. */
export class Cursors extends Context.Service<Cursors, {
  readonly keep: (place: Place) => string
  readonly find: (handle: string) => Place | undefined
}>()("@postwire/mcp/server/Cursors") {}

/** An empty memory. */
export const layer: Layer.Layer<Cursors> = Layer.sync(Cursors, () => {
  const places = new Map<string, Place>()
  return {
    keep: (place) => {
      const handle = `c${globalThis.crypto.randomUUID().slice(0, 8)}`
      places.set(handle, place)
      const [oldest] = places.keys()
      if (places.size > most && oldest !== undefined) places.delete(oldest)
      return handle
    },
    find: (handle) => places.get(handle)
  }
})
