/** Iterates over streams in the worker, batch by batch. */
import type { Connection } from "./connection.ts"

/** Numbers are not reused, so that no stream is mistaken for one of a worker that was lost. */
let lastStream = 0

/** Opens a stream in the worker and yields its batches until `next` returns `undefined` or the loop ends. */
export function* batches<A>(
  connection: Connection,
  open: (stream: number) => void,
  next: (stream: number) => A | undefined
): Generator<A> {
  const stream = ++lastStream
  try {
    open(stream)
    for (let some = next(stream); some !== undefined; some = next(stream)) yield some
  } finally {
    connection.leave(stream)
  }
}
