/** A raw HTTP response whose body has arrived: like a web `Response`, but synchronous. */
export interface RawResponse {
  readonly status: number
  readonly ok: boolean
  readonly headers: globalThis.Headers
  readonly bytes: () => Uint8Array<ArrayBuffer>
  readonly text: () => string
  readonly json: () => unknown
}
