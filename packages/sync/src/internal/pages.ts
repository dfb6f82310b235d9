/** Pages of an operation. Each is fetched when the loop reaches it or, with `prefetch`, while the loop is at the page before. */
import * as Pagination from "@postwire/core/client/Pagination"
import { PaginationStuck } from "@postwire/core/errors/Errors"
import type { Definition } from "@postwire/core/schema/Definition"
import * as RequestEncoder from "@postwire/core/wire/RequestEncoder"
import * as Calls from "./calls.ts"
import type * as Protocol from "./protocol.ts"
import * as Received from "./received.ts"

/** A page, undecoded and decoded. */
export interface Page {
  readonly received: Protocol.Received
  readonly response: Received.AnyResponse
  readonly position: Pagination.Position
}

/** Yields what `of` makes of every page. */
export function* run<A>(
  context: Calls.Context,
  definition: Definition,
  parameters: object,
  given: Pagination.PageOptions | undefined,
  caller: Calls.Caller,
  of: (page: Page) => A
): Generator<A> {
  const options: Pagination.PageOptions = { ...given }
  const own = Calls.orThrow(RequestEncoder.ownProperties(definition, parameters), caller)
  const first = Pagination.start(definition, own, given)
  if (first === undefined) return
  let position: Pagination.Position = Calls.orThrow(first, caller)
  const { prefetch } = options
  const ofPage = Pagination.callOptionsOf(options)
  const at = (position: Pagination.Position, ahead = false) =>
    Calls.begin(context, definition, Pagination.parametersAt(definition, own, position), ofPage, ahead)
  let pending = at(position)
  try {
    while (true) {
      const received = Calls.orThrow(Calls.receive(Calls.orThrow(pending, caller)), caller)
      const response = Calls.orThrow(Received.read(context, definition, received), caller)
      const next = Pagination.advance(definition, options, position, response)
      // Before the next request, which reuses the memory that the body may be in.
      const made = of({ received, response, position })
      if (next === undefined || next instanceof PaginationStuck) {
        yield made
        if (next !== undefined) throw next
        return
      }
      position = next
      if (prefetch === 1) pending = at(position, true)
      yield made
      if (prefetch !== 1) pending = at(position)
    }
  } finally {
    // The loop may end while the next page is being fetched.
    if (!(pending instanceof Error)) pending.bridge.abandon(pending.id)
  }
}
