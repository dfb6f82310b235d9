/** The types of methods that block. */
import type { Kind } from "@postwire/core/promise/Methods"
import type { Id } from "@postwire/core/schema/Codecs"

/** A file: its path or its `file:` URL, bytes, or a Blob in memory. */
export type Input = string | URL | Uint8Array | ArrayBuffer | Blob

/** Methods that block. */
export interface Blocking extends Kind {
  readonly one: this["value"]
  readonly many: Iterable<this["value"]>
  /** Nothing runs on this thread that could abort a call. */
  readonly options: { readonly signal?: never }
  readonly ids: Iterable<Id>
}
