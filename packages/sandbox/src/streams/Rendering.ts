/** Renders a stream item as one line: the response to a request for it, in the field names of a wire. */
import * as Delivery from "@postwire/core/events/Delivery"
import type { Definition } from "@postwire/core/schema/Definition"
import type { ReadRow } from "@postwire/core/schema/Price"
import type { Wire } from "@postwire/core/wire/Wire"
import * as Envelope from "../projection/Envelope.ts"
import * as Projection from "../projection/Projection.ts"
import type { Store } from "../store/Store.ts"
import type { Viewer } from "../store/Visibility.ts"
import type { Item } from "./Line.ts"

/** Everything that determines the rendering of an item. */
export interface View {
  readonly definition: Definition
  readonly selection: Projection.Selection
  readonly wire: Wire
  readonly viewer: Viewer
  readonly origin: string
}

/** Renders items for one view. */
export interface Rendering {
  /** The line of an item, with its `matching_rules` if rules selected it. */
  readonly line: (
    item: { readonly id: string; readonly data: object; readonly row?: ReadRow | undefined },
    rules?: string
  ) => Item
}

/** Shares one rendering per view for as long as it is in use. */
export const make = (store: Store["Service"], now: () => number): (view: View) => Rendering => {
  const known = new Map<string, WeakRef<Rendering>>()
  return (view) => {
    const { definition, origin, selection, viewer, wire } = view
    const key = JSON.stringify([definition.name, selection, wire.name, viewer.userId, origin])
    const found = known.get(key)?.deref()
    if (found !== undefined) return found
    for (const [other, rendering] of known) if (rendering.deref() === undefined) known.delete(other)
    const rendering = renderingOf(store, now, view)
    known.set(key, new WeakRef(rendering))
    return rendering
  }
}

const renderingOf = (
  store: Store["Service"],
  now: () => number,
  { definition, origin, selection, viewer, wire }: View
): Rendering => {
  let latest: { readonly data: object; readonly item: Item } | undefined
  const isActivity = definition.live?.endpoint === "activity_stream"
  const itemOf = (id: string, data: object, row: ReadRow | undefined): Item => {
    if (latest?.data === data) return latest.item
    const projected = Projection.project(
      { store, now: now(), viewer, origin, wire: wire.name },
      definition.result,
      selection,
      data
    )
    const document = Envelope.documentOf({ reply: { data }, projected, tokens: {} })
    const item = {
      id,
      text: JSON.stringify(
        isActivity && wire.name !== "neutral" ? Delivery.spell(data) : Envelope.spelled(wire, definition, document)
      ),
      resources: row === undefined ? projected.resources : [{ kind: undefined, id, place: "data" as const, row }]
    }
    latest = { data, item }
    return item
  }
  return {
    line: ({ data, id, row }, rules) => {
      const item = itemOf(id, data, row)
      return rules === undefined
        ? item
        : { ...item, text: `${item.text.slice(0, -1)},"matching_rules":${rules}}` }
    }
  }
}
