/** The types of methods that block. */
import type { OperationKind } from "@postwire/core/promise/OperationMethods"
import type { Id } from "@postwire/core/schema/Codecs"
import type { RawResponse } from "../RawResponse.ts"

/** A file: its path or its `file:` URL, bytes, or a Blob in memory. */
export type Input = string | URL | Uint8Array | ArrayBuffer | Blob

/** Methods that block. */
export interface Blocking extends OperationKind {
  readonly one: this["value"]
  readonly answer: this["value"]
  readonly raw: RawResponse
  readonly many: Iterable<this["value"]>
  /** Nothing runs on this thread that could abort a call. */
  readonly options: { readonly signal?: never }
  readonly ids: Iterable<Id>
}
